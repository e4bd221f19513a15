package client

import (
	"context"
	"errors"
	"iter"
	"sync"
	"time"
)

// StreamOptions configure a Stream. The zero value is usable.
type StreamOptions struct {
	Cursors Cursors  // where positions are kept; nil: in memory
	Start   string   // StartNewest: groups without a saved position begin at their newest page; empty: at `seen`
	Only    []string // nil: all groups; an empty list: the inbox alone
	Backoff Backoff  // between sessions; zero: 0.5 s to 30 s
	// Buffer is how many events may wait for Next before the stream stops reading. The server then waits too, and after
	// 30 s ends the session, which later continues where it stopped. 0: 256.
	Buffer int
}

// ErrClosed is returned by a Stream after Close, and by a call over its socket that Close interrupted.
var ErrClosed = errors.New("the stream is closed")

// Stream reads all groups and the inbox over the websocket, and sends and acks over it. It reconnects whenever the
// connection is lost, until it is closed or the server refuses the user.
type Stream struct {
	client *Client
	opts   StreamOptions
	cancel context.CancelFunc
	done   chan struct{} // closed when run has ended
	track  *tracker      // used by run only
	count  counters
	taken  Event // returned, not yet committed; used by Next only

	mu     sync.Mutex
	queue  []Event
	err    error         // why run ended
	live   *socket       // nil between sessions
	turned chan struct{} // closed and replaced when live changes

	wake chan struct{} // an event was queued, or run has ended
	room chan struct{} // an event was taken, or a call waits for its reply
}

// Stream opens a stream that lives until ctx ends or Close is called. It returns before the first session has begun;
// the first event says how that went.
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
	s.track = newTracker(at, opts.Start, opts.Only, &s.count)
	go s.run(ctx)
	return s, nil
}

// Next returns the next event. Calling it means that the previous event was handled: its position is saved then. After
// an error from Cursors or ctx, Next may be called again; any other error is final.
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

// Commit says that the last event was handled, without asking for the next one. Call it before Close, from the
// goroutine that calls Next.
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

// Stats returns the counts so far. It may be called at any time.
func (s *Stream) Stats() Stats { return s.count.stats() }

// Close ends the session and waits until everything that the stream started has ended. It does not save the position of
// the event that Next returned last; see Commit.
func (s *Stream) Close() {
	s.cancel()
	<-s.done
}

// pop takes an event off the queue. Once run has ended and the queue is empty, it returns the reason.
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

// signal puts a token into a channel of capacity 1; one that is already there does the same.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// waitRoom returns when the queue has room, or when a call over the socket waits for its reply: the reply comes after
// everything that the server sent before, so reading must go on, or a caller that makes a call between two Nexts would
// wait for itself. What is queued beyond Buffer is bounded by the duration of one call.
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

// setLive publishes the socket of the current session, nil if there is none.
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

// run opens one session after another until ctx ends or the server refuses the user.
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
				failures = 0 // reset only after a session that lasted: a server that accepts and then drops clients must not be hammered
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
		if sleep(ctx, s.opts.Backoff.Delay(failures, wait)) != nil {
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
