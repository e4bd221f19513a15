package client

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/chatd/chatd/client/internal/clock"
)

const (
	patience      = 5 * time.Second // without a session for so long, polling begins
	missesMax     = 2               // or after so many attempts in vain
	fallbackLimit = 500             // messages per answer
)

// fallback polls for a stream whose websocket does not get through. While it runs, the tracker of the stream is its own.
type fallback struct {
	stream *Stream

	mu       sync.Mutex
	ended    bool
	wanted   bool
	patient  func()             // stops waiting for patience to end; nil: it is not waited for
	cancel   context.CancelFunc // of what runs; nil: nothing does
	canceled context.CancelFunc // of the call under way
	done     chan struct{}
}

// soon begins when patience ends.
func (f *fallback) soon(ctx context.Context) {
	if !f.stream.opts.Fallback {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.patient == nil && !f.wanted {
		f.patient = clock.From(ctx).AfterFunc(patience, func() { f.start(ctx) })
	}
}

// resume begins after so many attempts in vain, or goes on after pause.
func (f *fallback) resume(ctx context.Context, misses int) {
	f.mu.Lock()
	goesOn := f.wanted
	f.mu.Unlock()
	if goesOn || misses >= missesMax {
		f.start(ctx)
	}
}

func (f *fallback) start(ctx context.Context) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ended || !f.stream.opts.Fallback {
		return
	}
	f.wanted = true
	if f.cancel != nil {
		return
	}
	ctx, f.cancel = context.WithCancel(ctx)
	f.done = make(chan struct{})
	go f.run(ctx, f.done)
}

// pause waits until nothing more comes of it, because a session is about to ask for the same.
func (f *fallback) pause() {
	f.mu.Lock()
	cancel, done := f.cancel, f.done
	f.cancel = nil
	f.mu.Unlock()
	if cancel != nil {
		cancel()
		<-done
	}
}

// rest ends it until soon: a session has begun.
func (f *fallback) rest() {
	f.mu.Lock()
	f.wanted = false
	if f.patient != nil {
		f.patient()
		f.patient = nil
	}
	f.mu.Unlock()
	f.pause()
}

func (f *fallback) stop() {
	f.mu.Lock()
	f.ended = true
	f.mu.Unlock()
	f.rest()
}

func (f *fallback) runs() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.cancel != nil
}

// interrupt ends the call under way.
func (f *fallback) interrupt() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.canceled != nil {
		f.canceled()
	}
}

func (f *fallback) run(ctx context.Context, done chan struct{}) {
	defer close(done)
	s, failures := f.stream, 0
	opts := PollOptions{Start: s.opts.Start, Only: s.opts.Only, Limit: fallbackLimit, Typing: true}
	poll := &Poll{client: s.client.acting(s.client.as, 1), opts: opts}
	s.turn(func() { s.status.polling, s.status.pollRetry = true, time.Time{} })
	for {
		interrupted, err := f.poll(ctx, poll)
		if ctx.Err() != nil {
			return
		}
		if err == nil {
			failures, poll.opts.Wait = 0, pollWait
			s.turn(func() { s.status.polled = true })
			continue
		}
		if interrupted {
			continue
		}
		if problem := (*Error)(nil); errors.As(err, &problem) && problem.Status == http.StatusBadRequest {
			poll.opts.Typing = false // a server from before that refuses a field that it does not know
		}
		_, asked := verdict(err)
		c := clock.From(ctx)
		wait := s.opts.Backoff.delay(c.Random(), failures, asked)
		failures++
		poll.opts.Wait = 0
		due, stop := clock.Timer(ctx, wait)
		s.turn(func() { s.status.polled, s.status.pollRetry = false, c.Now().Add(wait) })
		err = clock.Wait(ctx, due)
		stop()
		if err != nil {
			return
		}
		s.turn(func() { s.status.pollRetry = time.Time{} })
	}
}

// poll makes one call, once all of the one before is handled. interrupted: it was ended on purpose.
func (f *fallback) poll(ctx context.Context, p *Poll) (interrupted bool, err error) {
	s := f.stream
	if err := s.handled(ctx); err != nil {
		return false, err
	}
	if err := s.anew(ctx); err != nil {
		return false, err
	}
	calling, cancel := context.WithCancel(ctx)
	defer cancel()
	f.mu.Lock()
	f.canceled = cancel
	f.mu.Unlock()
	acks := s.acks.take()
	p.track, p.ack = s.track, acks
	if err := p.poll(calling); err != nil {
		s.acks.restore(acks)
		return calling.Err() != nil, err
	}
	s.push(p.queue...)
	p.queue = nil
	return false, nil
}

// handled waits until the caller of Next has handled all that there is.
func (s *Stream) handled(ctx context.Context) error {
	for {
		s.mu.Lock()
		waits := s.busy || len(s.queue) > 0
		s.mu.Unlock()
		if !waits {
			return nil
		}
		if err := clock.Wait(ctx, s.idle); err != nil {
			return err
		}
	}
}
