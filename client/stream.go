package client

import (
	"context"
	"errors"
	"iter"
	"sync"
	"time"
)

// StreamOptions say how to stream. The zero value is usable.
type StreamOptions struct {
	Cursors Cursors // where positions are kept; nil: in memory
	Backoff Backoff // between sessions; zero: 0.5 s to 30 s
	// Buffer is how many events may wait for Next before the stream stops reading; the server then waits too, and
	// after 30 s ends the session, which goes on later where it stopped. 0: 256.
	Buffer int
}

// ErrClosed is what a Stream gives after Close, and a call over its socket that Close cut short.
var ErrClosed = errors.New("the stream is closed")

// Stream reads all groups and the inbox over the websocket, and sends and acks over it. It connects again whenever the
// connection is lost, until it is closed or the server refuses the user.
type Stream struct {
	client *Client
	opts   StreamOptions
	cancel context.CancelFunc
	done   chan struct{} // closed when run has ended
	track  *tracker      // of run
	count  counters
	taken  Event // handed out, not yet committed; of Next

	mu     sync.Mutex
	queue  []Event
	err    error         // why run ended
	live   *socket       // nil between sessions
	turned chan struct{} // closed and replaced when live changes

	wake chan struct{} // something was queued, or run ended
	room chan struct{} // something was taken, or a call waits for its reply
}

// Stream opens a stream that lives until ctx ends or Close is called. It returns before the first session has begun;
// the first event tells how that went.
func (c *Client) Stream(ctx context.Context, opts StreamOptions) (*Stream, error) {
	if opts.Cursors == nil {
		opts.Cursors = &MemoryCursors{}
	}
	if opts.Backoff == (Backoff{}) {
		opts.Backoff = Backoff{Base: 500 * time.Millisecond, Max: 30 * time.Second}
	}
	if opts.Buffer <= 0 {
		opts.Buffer = 256
	}
	at, err := opts.Cursors.Load(ctx)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	s := &Stream{
		client: c, opts: opts, cancel: cancel,
		done:   make(chan struct{}),
		turned: make(chan struct{}),
		wake:   make(chan struct{}, 1),
		room:   make(chan struct{}, 1),
	}
	s.track = newTracker(at, &s.count)
	go s.run(ctx)
	return s, nil
}

// Next returns the next event. Coming for the next event says that the one before was dealt with: its position is
// saved then. After an error of Cursors or of ctx Next may be called again; any other error is final.
func (s *Stream) Next(ctx context.Context) (Event, error) {
	if err := s.Commit(ctx); err != nil {
		return nil, err
	}
	for {
		e, err := s.pop()
		if e != nil {
			s.taken = e
			if p, ok := e.(pinned); ok {
				return p.Connected, nil
			}
			return e, nil
		}
		if err != nil {
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-s.wake:
		}
	}
}

// Commit says that the last event was dealt with, without coming for the next one: before Close, from the goroutine of
// Next.
func (s *Stream) Commit(ctx context.Context) error {
	if s.taken == nil {
		return nil
	}
	if changed := commit(s.taken); len(changed) > 0 {
		if err := s.opts.Cursors.Save(ctx, changed); err != nil {
			return err
		}
	}
	s.taken = nil
	return nil
}

// Events ranges over Next until it fails. The last pair carries the error.
func (s *Stream) Events(ctx context.Context) iter.Seq2[Event, error] { return events(ctx, s.Next) }

// Stats tells what was met so far. It may be called at any time.
func (s *Stream) Stats() Stats { return s.count.stats() }

// Close ends the session and waits until everything that the stream started has ended. The position of the event that
// Next handed out last is not saved by it; see Commit.
func (s *Stream) Close() {
	s.cancel()
	<-s.done
}

// pop takes an event off the queue. Once run has ended and the queue is empty it returns the reason.
func (s *Stream) pop() (Event, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.queue) == 0 {
		return nil, s.err
	}
	e := s.queue[0]
	s.queue[0] = nil
	s.queue = s.queue[1:]
	signal(s.room)
	return e, nil
}

func (s *Stream) push(events ...Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue = append(s.queue, events...)
	signal(s.wake)
}

// signal leaves a token in a channel of capacity 1; one that lies there already says the same.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// waitRoom returns when the queue has room, or when a call over the socket waits for a reply: that comes behind
// whatever the server sent before, so the reading must go on or a caller who calls between two Nexts would wait for
// itself. The time of one call bounds what is queued beyond Buffer.
func (s *Stream) waitRoom(ctx context.Context, sock *socket) error {
	for {
		s.mu.Lock()
		full := len(s.queue) >= s.opts.Buffer
		s.mu.Unlock()
		if !full || sock.waiting() {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-s.room:
		}
	}
}

// setLive publishes the socket of the current session, nil for none.
func (s *Stream) setLive(sock *socket) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.live = sock
	close(s.turned)
	s.turned = make(chan struct{})
}

// current waits for a live session.
func (s *Stream) current(ctx context.Context) (*socket, error) {
	for {
		s.mu.Lock()
		sock, turned, err := s.live, s.turned, s.err
		s.mu.Unlock()
		if err != nil {
			return nil, err
		}
		if sock != nil {
			return sock, nil
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-turned:
		}
	}
}

// run holds one session after another until ctx ends or the server refuses for good.
func (s *Stream) run(ctx context.Context) {
	defer close(s.done)
	failures, refused, reported := 0, 0, false
	var err error
	for {
		started := time.Now()
		var welcomed bool
		welcomed, err = s.session(ctx)
		if ctx.Err() != nil {
			err = ErrClosed
			break
		}
		if welcomed {
			refused, reported = 0, false
			if time.Since(started) > s.opts.Backoff.Max {
				failures = 0 // only a session that lasted: a server that welcomes and drops must not be hammered
			}
		}
		again, wait := verdict(err)
		if again == asks {
			refused++
		}
		if again == never || refused > 1 {
			break
		}
		if !reported {
			s.push(Disconnected{Err: err})
			reported = true
		}
		if sleep(ctx, s.opts.Backoff.delay(failures, wait)) != nil {
			err = ErrClosed
			break
		}
		failures++
	}
	s.mu.Lock()
	s.err = err
	s.mu.Unlock()
	s.setLive(nil)
	signal(s.wake)
}
