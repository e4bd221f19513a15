package ws

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"
	"golang.org/x/time/rate"

	"github.com/chatd/chatd/chat/live"
	"github.com/chatd/chatd/web/auth"
)

// Bounds of the answers that wait for a client; beyond them, its commands are not read.
const (
	answersMax     = 32
	answerBytesMax = 16 << 10 // plus one long answer
)

// session is one live websocket. Its reader handles commands one after the other, so that sends keep their order; its
// writer is the only one that writes frames. Whichever ends first stops the other through end.
type session struct {
	all   *Sessions
	conn  *websocket.Conn
	raw   *stallConn
	id    string
	begun time.Time
	handshake
	heldBy  string // the user whose sessions include it; guarded by the lock of all, as is leaving
	leaving bool   // it gave way to a newer one

	answers  chan []byte         // written by the reader
	waiting  atomic.Int64        // bytes in answers
	room     chan struct{}       // capacity 1: an answer was written
	pongs    chan []byte         // capacity 1
	started  chan *live.Follower // capacity 1: after an accepted hello
	renewed  chan struct{}       // capacity 1: the token's expiry has changed
	readDone chan struct{}
	quit     chan struct{} // closed by end
	ctx      context.Context
	cancel   context.CancelFunc
	expires  atomic.Int64                  // Unix ms; 0: no token yet
	busy     atomic.Bool                   // a frame is being handled
	acted    atomic.Int64                  // when the last command ended, Unix ns; 0: none since the hello
	events   atomic.Pointer[live.Follower] // the writer's follower, for others to ask what is pending

	mu    sync.Mutex
	ended bool
	why   ending
	who   *auth.Identity // nil until there is a token
	hello bool           // counted among the user's sessions

	// Used by the reader only.
	follower *live.Follower
	frames   *rate.Limiter
	control  *rate.Limiter
	refusals *rate.Limiter // how often a rate limit may refuse a command before the session ends
}

func newSession(all *Sessions, conn *websocket.Conn, raw *stallConn, h handshake) *session {
	s := &session{
		all: all, conn: conn, raw: raw, id: rand.Text()[:16], begun: time.Now(), handshake: h, who: h.who,
		answers: make(chan []byte, answersMax), pongs: make(chan []byte, 1), started: make(chan *live.Follower, 1),
		renewed: make(chan struct{}, 1), readDone: make(chan struct{}), quit: make(chan struct{}),
		frames: all.opt.frameLimiter(), control: rate.NewLimiter(controlPerSecond, controlBurst),
		refusals: rate.NewLimiter(refusalsPerSecond, refusalsBurst),
		room:     make(chan struct{}, 1),
	}
	if h.who != nil {
		s.expires.Store(h.who.Expires.UnixMilli())
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	return s
}

// run is the session from its first to its last frame.
func (s *session) run() {
	defer s.all.remove(s)
	go s.read()
	s.write()
	<-s.readDone
	select {
	case f := <-s.started: // the writer ended before it received it
		f.Close()
	default:
	}
	s.depart()
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
		s.all.ungreet(who.User)
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
	if s.ended {
		return
	}
	s.ended, s.why = true, why
	close(s.quit)
	s.cancel()
	_ = s.raw.SetReadDeadline(time.Unix(1, 0)) // wakes a reader that waits
	s.raw.hurry()
}

// idleAt reports whether the session may give way to a newer one of its user.
func (s *session) idleAt(now time.Time) bool {
	acted := s.acted.Load()
	return !s.busy.Load() && (acted == 0 || now.Sub(time.Unix(0, acted)) > idleAfter)
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
	if s.ended {
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
	defer s.guard()
	s.conn.SetReadLimit(int64(s.all.opt.FrameBytesMax))
	s.conn.SetPingHandler(func(data string) error { return s.controlled([]byte(data)) })
	s.conn.SetPongHandler(func(string) error { return s.controlled(nil) })
	s.conn.SetCloseHandler(func(int, string) error { return nil }) // the writer answers
	var buf bytes.Buffer
	for s.armRead() {
		kind, r, err := s.conn.NextReader()
		if err == nil {
			buf.Reset()
			_, err = buf.ReadFrom(r)
		}
		if err != nil {
			s.readFailed(err)
			return
		}
		switch {
		case !s.frames.Allow():
			s.end(ending{code: closeTooFast, reason: "too many frames"})
		case kind != websocket.TextMessage:
			s.end(ending{code: closeBadFrame, reason: "text frames only"})
		default:
			s.busy.Store(true)
			answer := s.frame(buf.Bytes())
			if buf.Cap() > 4096 { // a session holds little memory while it waits
				buf = bytes.Buffer{}
			}
			if answer != nil {
				s.answer(answer)
			}
			s.busy.Store(false)
		}
	}
}

// controlled counts a control frame and answers a ping; if there are several, answering the newest is enough.
func (s *session) controlled(pong []byte) error {
	if !s.control.Allow() {
		s.end(ending{code: closeTooFast, reason: "too many control frames"})
		return errSessionEnds
	}
	if !s.armRead() {
		return errSessionEnds
	}
	if pong != nil {
		select {
		case s.pongs <- pong:
		default:
		}
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

// answer hands a frame to the writer. While the client does not read its answers, its commands wait.
func (s *session) answer(frame []byte) {
	for s.waiting.Load() > answerBytesMax {
		select {
		case <-s.room:
			continue
		case <-s.quit:
		}
		break
	}
	s.waiting.Add(int64(len(frame)))
	select {
	case s.answers <- frame:
	case <-s.quit:
		select { // the writer drains answers before it closes
		case s.answers <- frame:
		default:
		}
	}
}
