package client

import (
	"context"
	"errors"
	"iter"
	"sync"
	"time"

	"github.com/chatd/chatd/client/internal/clock"
)

// StreamOptions configure a Stream. The zero value is usable.
type StreamOptions struct {
	Cursors Cursors  // where positions are kept; nil: in memory
	Start   string   // StartNewest: groups without a saved position begin at their newest page; empty: at `seen`
	Only    []string // nil: all groups; an empty list: the inbox alone
	Backoff Backoff  // between sessions; zero: 0.5 s to 20 s
	// Ack also confirms to the server what the caller has handled, so that it can be trimmed.
	Ack bool
	// Fallback reads by long polls too where no session begins within 5 s, until one does.
	Fallback bool
	// Changed is called with each change of how the stream is connected. It must not wait for the stream.
	Changed func(Status)
	// Buffer is how many events may wait for Next before the stream stops reading. The server then waits too, and after
	// 30 s ends the session, which later continues where it stopped. 0: 256.
	Buffer int
}

// ErrClosed is returned by a Stream after Close, and by a call over its socket that Close interrupted.
var ErrClosed = errors.New("the stream is closed")

// Stream reads all groups and the inbox over the websocket, and sends and acks over it. It reconnects whenever the
// connection is lost, until it is closed or the server refuses the user.
type Stream struct {
	client   *Client
	opts     StreamOptions
	cancel   context.CancelFunc
	done     chan struct{} // closed when run has ended
	track    *tracker      // used by run, or by fallback while that runs
	fallback *fallback
	acks     acks
	count    counters
	refused  string // the token that the server has refused; used by run only
	taken    Event  // returned, not yet committed; used by Next only

	mu      sync.Mutex
	queue   []Event
	busy    bool          // an event was returned, and is not handled yet
	again   bool          // what is queued is void: see Restart
	err     error         // why run ended
	live    *socket       // nil between sessions
	focused *string       // what Focus said last; nil: nothing
	status  status        // all of it
	turned  chan struct{} // closed and replaced when live or status changes

	wake chan struct{} // an event was queued, or run has ended
	room chan struct{} // an event was taken, or a call waits for its reply
	idle chan struct{} // all events were handled

	hurried chan struct{}
}

// Stream opens a stream that lives until ctx ends or Close is called. It returns before the first session has begun;
// the first event says how that went.
func (c *Client) Stream(ctx context.Context, opts StreamOptions) (*Stream, error) {
	if opts.Cursors == nil {
		opts.Cursors = &MemoryCursors{}
	}
	if opts.Backoff == (Backoff{}) {
		opts.Backoff = Backoff{Min: 500 * time.Millisecond, Base: time.Second, Max: 20 * time.Second}
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
		idle:   make(chan struct{}, 1),

		hurried: make(chan struct{}),
	}
	s.fallback = &fallback{stream: s}
	s.acks = newAcks(at)
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
	if e, ok := s.taken.(Messages); ok && s.opts.Ack {
		s.acks.add(e.Group, e.Cursor)
	}
	s.taken = nil
	s.mu.Lock()
	defer s.mu.Unlock()
	s.busy = false
	if len(s.queue) == 0 {
		signal(s.idle)
	}
	return nil
}

// Events ranges over Next until it fails. The last pair carries the error.
func (s *Stream) Events(ctx context.Context) iter.Seq2[Event, error] { return events(ctx, s.Next) }

// Hurry tries at once if the stream waits to connect: the network is back, or a person wants it.
func (s *Stream) Hurry() {
	select {
	case s.hurried <- struct{}{}:
	default:
	}
}

// Restart drops what Next has not returned yet, ends the session, and goes on in another one from the positions of Cursors.
// For a caller that keeps messages and finds that some are missing.
func (s *Stream) Restart() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.again = true
	s.queue = nil
	signal(s.room)
	s.fallback.interrupt()
	if s.live != nil {
		_ = s.live.conn.Close()
	}
}

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
	s.busy = true
	signal(s.room)
	return e, nil
}

func (s *Stream) push(events ...Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.again {
		return
	}
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

// current waits for a way to the server: the socket of a live session, or nil while polls are answered.
func (s *Stream) current(ctx context.Context) (*socket, error) {
	for {
		s.mu.Lock()
		sock, polled, turned, err := s.live, s.status.polled, s.turned, s.err
		s.mu.Unlock()
		if err != nil {
			return nil, err
		}
		if sock != nil || polled {
			return sock, nil
		}
		if err := clock.Wait(ctx, turned); err != nil {
			return nil, err
		}
	}
}

// run opens one session after another until ctx ends or the server refuses the user.
func (s *Stream) run(ctx context.Context) {
	defer close(s.done)
	err := s.sessions(ctx)
	if ctx.Err() != nil {
		err = ErrClosed
	}
	s.cancel()
	s.fallback.stop()
	s.turn(func() { s.err, s.live, s.status = err, nil, status{over: true} })
	signal(s.wake)
}

// slowly is the least wait after an answer that another attempt soon does not change.
const slowly = 10 * time.Second

// sessions opens one session after another, and returns why there will be no other.
func (s *Stream) sessions(ctx context.Context) error {
	failures, misses, refusals, reported := 0, 0, 0, false
	for {
		s.fallback.soon(ctx)
		s.turn(func() { s.status.retry = time.Time{} })
		welcome, err := s.session(ctx)
		if ctx.Err() != nil {
			return err
		}
		now := clock.From(ctx).Now()
		misses++
		if !welcome.IsZero() {
			misses, refusals, reported = 0, 0, false
			if now.Sub(welcome) > s.opts.Backoff.Max {
				failures = 0 // reset only after a session that lasted: a server that accepts and then drops clients must not be hammered
			}
		}
		again, wait := verdict(err)
		if again == never && s.opts.Fallback && CodeOf(err) != CodeForbidden && !errors.Is(err, ErrSignedOut) {
			again, wait = surely, max(wait, slowly) // something between here and the server may have said it
		}
		if again == never {
			return err
		}
		if !reported {
			s.push(Disconnected{Err: err})
			reported = true
		}
		if again == asks && s.sameToken(ctx) {
			return err
		}
		s.fallback.resume(ctx, misses)
		failures++
		delay := s.opts.Backoff.delay(clock.From(ctx).Random(), failures-1, wait)
		if again == asks {
			refusals++
		}
		if again == asks && refusals == 1 || failures == 1 && (s.restarting() || errors.Is(err, errAgain)) {
			continue
		}
		due, stop := clock.Timer(ctx, delay)
		s.turn(func() { s.status.retry = now.Add(delay) })
		select {
		case <-ctx.Done():
		case <-due:
		case <-s.hurried:
		}
		stop()
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

// sameToken reports whether the source has no other token than the one that was refused.
func (s *Stream) sameToken(ctx context.Context) bool {
	token, err := s.client.tokens(withRefused(ctx, s.refused))
	return errors.Is(err, ErrSignedOut) || err == nil && token == s.refused
}

// restarting reports whether Restart was called.
func (s *Stream) restarting() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.again
}

// anew begins at the saved positions, after Restart. It is called by whoever has the tracker.
func (s *Stream) anew(ctx context.Context) error {
	if !s.restarting() {
		return nil
	}
	at, err := s.opts.Cursors.Load(ctx)
	if err != nil {
		return err
	}
	inbox := s.track.inbox
	s.track = newTracker(at, s.opts.Start, s.opts.Only, &s.count)
	s.track.inbox = inbox
	s.mu.Lock()
	defer s.mu.Unlock()
	s.again = false
	return nil
}
