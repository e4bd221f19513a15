package ws

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"
	"golang.org/x/time/rate"

	"github.com/chatd/chatd/chat/live"
	"github.com/chatd/chatd/queue/backoff"
	"github.com/chatd/chatd/web/auth"
	"github.com/chatd/chatd/web/unsent"
)

// session is one live websocket. Its reader handles commands one after the other, so that sends keep their order; its
// writer is the only one that writes frames, whenever wake has the run queue look at it. Whichever ends first stops the
// other through end.
type session struct {
	all   *Sessions
	conn  *websocket.Conn
	raw   *stallConn
	id    string
	begun time.Time
	handshake
	heldBy    string // the user whose sessions include it; guarded by the lock of all, as are the next two
	leaving   bool   // it is about to close because there are too many
	leavingOf string // the user whose closing sockets include it; empty: nobody's

	away     bool // it says that nothing is open; guarded by the lock of all, as is the next
	departed bool // it no longer counts as its user's

	out      writer
	state    atomic.Int32 // see wake
	next     *session     // in the run queue; guarded by its lock
	replies  replies
	started  atomic.Pointer[live.Follower] // set by an accepted hello
	room     *unsent.Answer                // what the welcome takes of the node's budget; set before started
	readDone chan struct{}
	expires  atomic.Int64 // Unix ms; 0: no token yet
	busy     atomic.Int32 // commands that are being run; a hello is none
	aside    aside
	acted    atomic.Int64 // when the last command ended, Unix ns; 0: none since the hello

	mu     sync.Mutex
	ended  atomic.Bool // set under mu
	why    ending
	asking context.CancelFunc // cancels the read of the store under way; nil: none
	who    *auth.Identity     // nil until there is a token
	hello  bool               // counted among the user's sessions

	// Used by the reader only.
	follower *live.Follower
	frames   *rate.Limiter
	control  *rate.Limiter // nil before the first control frame
	refusals *rate.Limiter // nil before the first refusal; how often a rate limit may refuse a command before the session ends
}

func newSession(all *Sessions, conn *websocket.Conn, raw *stallConn, h handshake) *session {
	s := &session{
		all: all, conn: conn, raw: raw, id: rand.Text()[:16], begun: time.Now(), handshake: h, who: h.who,
		readDone: make(chan struct{}),
		frames:   all.opt.frameLimiter(),
	}
	s.replies.room.L = &s.replies.mu
	s.out = writer{session: s, again: backoff.Backoff{Min: retryFirst, Max: retryMax}}
	s.out.pingAt = s.out.nextPing()
	if h.who != nil {
		s.expire(h.who)
	}
	return s
}

// run begins the session. Its writer ends it.
func (s *session) run() {
	go s.read()
	s.wake() // sets the timer
}

// depart stops counting the session as its user's, so that its client can reconnect at once. It may be called more than
// once.
func (s *session) depart() {
	s.mu.Lock()
	who, counted := s.who, s.hello
	s.hello = false
	s.mu.Unlock()
	s.all.release(s)
	if counted {
		if who.Key == nil {
			s.all.profiles.Saw(who.User)
		}
		s.all.ungreet(s, who.User)
	}
}

func (s *session) userName() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.hello {
		return ""
	}
	return s.who.User
}

// end starts to end the session; only the first reason counts. It never waits.
func (s *session) end(why ending) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended.Load() {
		return
	}
	s.why = why
	s.ended.Store(true)
	if s.asking != nil {
		s.asking()
	}
	s.replies.end()
	s.aside.end()
	_ = s.raw.SetReadDeadline(time.Unix(1, 0)) // wakes a reader that waits
	s.raw.hurry()
	s.wake()
}

// beginAsking returns a context that the end of the session cancels. ok is false if it has ended. Call endAsking after use.
func (s *session) beginAsking() (ctx context.Context, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended.Load() {
		return nil, false
	}
	ctx, s.asking = context.WithCancel(context.Background())
	return ctx, true
}

func (s *session) endAsking() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asking()
	s.asking = nil
}

// idleAt reports whether the session may give way to a newer one of its user.
func (s *session) idleAt(now time.Time) bool {
	acted := s.acted.Load()
	return s.busy.Load() == 0 && (acted == 0 || now.Sub(time.Unix(0, acted)) > idleAfter)
}

// lastActed is when the last command ended, or when the session began if there was none.
func (s *session) lastActed() time.Time {
	if acted := s.acted.Load(); acted != 0 {
		return time.Unix(0, acted)
	}
	return s.begun
}

// cut ends the session at once, without a close frame.
func (s *session) cut() {
	s.end(ending{})
	_ = s.raw.Close()
}

// armRead sets the deadline of the next read, unless the session is ending.
func (s *session) armRead() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended.Load() {
		return false
	}
	deadline := time.Now().Add(s.all.opt.PingEvery + s.all.opt.PongWithin)
	if !s.hello {
		deadline = s.begun.Add(s.all.opt.HelloWithin)
	}
	_ = s.raw.SetReadDeadline(deadline)
	return true
}

// guard limits a panic to one session: it ends only that.
func (s *session) guard() {
	if v := recover(); v != nil {
		s.all.opt.Log.Error("session panicked", "value", fmt.Sprint(v), "stack", string(debug.Stack()))
		s.end(ending{code: websocket.CloseInternalServerErr})
	}
}

// read handles frames until the session ends.
func (s *session) read() {
	defer close(s.readDone)
	defer s.aside.wait()
	defer s.guard()
	s.conn.SetPingHandler(func(data string) error { return s.controlled([]byte(data)) })
	s.conn.SetPongHandler(func(string) error { return s.controlled(nil) })
	s.conn.SetCloseHandler(func(int, string) error { return nil }) // the writer answers
	for s.armRead() {
		s.conn.SetReadLimit(int64(s.frameBytesMax()))
		kind, r, err := s.conn.NextReader()
		if err == nil {
			err = s.message(kind, r)
		}
		if err != nil {
			s.readFailed(err)
			return
		}
	}
}

// message reads a message and handles it. Its buffer is not the session's own, which holds little memory while it waits.
func (s *session) message(kind int, r io.Reader) error {
	buf, _ := buffers.Get().(*bytes.Buffer)
	defer release(buf)
	done, err := s.readFrame(buf, r)
	if err != nil {
		return err
	}
	defer done()
	switch {
	case !s.frames.Allow():
		s.end(ending{code: closeTooFast, reason: "too many frames"})
	case kind != websocket.TextMessage:
		s.end(ending{code: closeBadFrame, reason: "text frames only"})
	default:
		if answer := s.handle(buf.Bytes()); answer != nil {
			s.replies.add(answer)
			s.wake()
		}
	}
	return nil
}

// frameBytesMax is how long the next frame may be: a hello has a position for each group.
func (s *session) frameBytesMax() int {
	if s.follower == nil {
		return max(s.all.opt.FrameBytesMax, s.all.opt.HelloBytesMax)
	}
	return s.all.opt.FrameBytesMax
}

// readFrame reads a frame. Only few may be longer than FrameBytesMax at once: those who send one have not shown a token yet.
// done must be called when the frame is not needed any more.
func (s *session) readFrame(buf *bytes.Buffer, r io.Reader) (done func(), err error) {
	done = func() {}
	most := int64(s.all.opt.FrameBytesMax)
	if n, err := buf.ReadFrom(io.LimitReader(r, most)); err != nil || n < most {
		return done, err
	}
	if s.follower == nil {
		if !s.all.beginLong(s.from) {
			s.end(ending{code: closeTooFast, reason: "too many long hellos at once"})
			return nil, errSessionEnds
		}
		done = sync.OnceFunc(func() { s.all.endLong(s.from) })
	}
	if _, err = buf.ReadFrom(r); err != nil {
		done()
	}
	return done, err
}

// handle handles a frame. Until there has been a hello, a goroutine of its own does: the stack that a hello needs would stay
// with a reader that only waits from then on.
func (s *session) handle(frame []byte) (answer []byte) {
	if s.follower != nil {
		return s.frame(frame)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer s.guard()
		answer = s.frame(frame)
	}()
	<-done
	return answer
}

// controlled counts a control frame and answers a ping; if there are several, answering the newest is enough.
func (s *session) controlled(pong []byte) error {
	if s.control == nil {
		s.control = rate.NewLimiter(controlPerSecond, controlBurst)
	}
	if !s.control.Allow() {
		s.end(ending{code: closeTooFast, reason: "too many control frames"})
		return errSessionEnds
	}
	if !s.armRead() {
		return errSessionEnds
	}
	if pong != nil {
		s.replies.pong(pong)
		s.wake()
	}
	return nil
}

var errSessionEnds = errors.New("the session ends")

// readFailed returns the ending for a read error.
func (s *session) readFailed(err error) {
	var closed *websocket.CloseError
	var timeout interface{ Timeout() bool }
	switch {
	case errors.As(err, &closed) && closed.Code == websocket.CloseAbnormalClosure:
		s.end(ending{})
	case errors.As(err, &closed):
		s.end(ending{code: closed.Code})
	case errors.As(err, &timeout) && timeout.Timeout():
		if s.userName() == "" {
			s.end(ending{code: closeNoHello, reason: "no hello"})
			return
		}
		s.end(ending{code: closeStalled, reason: "no answer to pings"})
	default:
		// The library itself answers a message that is too large, and data that is no websocket frame.
		s.end(ending{})
	}
}
