package web

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"
	"golang.org/x/time/rate"

	"github.com/chatd/chatd/chat"
)

const (
	answersMax = 32 // answers that wait for a client; beyond, its commands are not read
	retryFirst = 100 * time.Millisecond
	retryMax   = 2 * time.Second
	expiryMax  = 24 * time.Hour // a timer is not set further ahead
)

// session is one live websocket. Its reader takes commands one after the other, so that sends keep their order; its
// writer is the only one that writes frames. Whichever ends first, end tells the other.
type session struct {
	all   *Sessions
	conn  *websocket.Conn
	raw   *stallConn
	id    string
	begun time.Time

	answers  chan []byte         // from the reader
	pongs    chan []byte         // capacity 1
	started  chan *chat.Follower // capacity 1: after a hello that holds
	renewed  chan struct{}       // capacity 1: the token has another end
	readDone chan struct{}
	quit     chan struct{} // closed by end
	ctx      context.Context
	cancel   context.CancelFunc
	expires  atomic.Int64 // Unix ms; 0: no token yet

	mu    sync.Mutex
	ended bool
	why   ending
	who   *Identity // nil before a token
	hello bool      // counted among the user's sessions

	// Of the reader alone.
	follower *chat.Follower
	frames   *rate.Limiter
	control  *rate.Limiter
	waiting  bool // counted as pending
}

func newSession(all *Sessions, conn *websocket.Conn, raw *stallConn, who *Identity) *session {
	s := &session{
		all: all, conn: conn, raw: raw, id: rand.Text()[:16], begun: time.Now(), who: who,
		answers: make(chan []byte, answersMax), pongs: make(chan []byte, 1), started: make(chan *chat.Follower, 1),
		renewed: make(chan struct{}, 1), readDone: make(chan struct{}), quit: make(chan struct{}),
		frames: all.opt.frameLimiter(), control: rate.NewLimiter(controlPerSecond, controlBurst),
		waiting: who == nil,
	}
	if who != nil {
		s.expires.Store(who.Expires.UnixMilli())
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
	case f := <-s.started: // the writer ended before it was told
		f.Close()
	default:
	}
	s.mu.Lock()
	user, counted := "", s.hello
	if counted {
		user = s.who.User
	}
	s.mu.Unlock()
	if counted {
		s.all.ungreet(user)
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

// end begins the end of the session; the first reason counts. It never waits.
func (s *session) end(why ending) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return
	}
	s.ended, s.why = true, why
	close(s.quit)
	s.cancel()
	_ = s.raw.SetReadDeadline(time.Unix(1, 0)) // the reader stops where it waits
	s.raw.hurry()
}

// cut ends the session without ceremony.
func (s *session) cut() {
	s.end(ending{})
	_ = s.raw.Close()
}

// armRead sets the deadline of the next read, unless the session ends.
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

// guard turns a panic into the end of one session.
func (s *session) guard() {
	if v := recover(); v != nil {
		s.all.opt.Log.Error("panic in a session", "value", fmt.Sprint(v), "stack", string(debug.Stack()))
		s.end(ending{websocket.CloseInternalServerErr, ""})
	}
}

// read takes frames until the session ends.
func (s *session) read() {
	defer close(s.readDone)
	defer func() {
		if s.waiting {
			s.all.leavePending(true)
		}
	}()
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
			s.end(ending{closeTooFast, "too many frames"})
		case kind != websocket.TextMessage:
			s.end(ending{closeBadFrame, "text frames only"})
		default:
			s.frame(buf.Bytes())
		}
		if buf.Cap() > 4096 { // a session holds little while it waits
			buf = bytes.Buffer{}
		}
	}
}

// controlled counts a control frame and answers a ping; the newest of several is enough.
func (s *session) controlled(pong []byte) error {
	if !s.control.Allow() {
		s.end(ending{closeTooFast, "too many control frames"})
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

// readFailed finds the ending for an error of a read.
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
			s.end(ending{closeNoHello, "no hello"})
			return
		}
		s.end(ending{closeStalled, "no answer to pings"})
	default:
		// Too large a message and what is no websocket are answered by the library.
		s.end(ending{})
	}
}

// answer hands a frame to the writer. While the client does not take its answers, its commands wait.
func (s *session) answer(frame []byte) {
	select {
	case s.answers <- frame:
	case <-s.quit:
		select { // the writer takes what is there before it closes
		case s.answers <- frame:
		default:
		}
	}
}

// writer is what the writing goroutine holds.
type writer struct {
	*session
	follower *chat.Follower
	signals  <-chan struct{} // of the follower; nil before the hello
	timer    *time.Timer
	pingAt   time.Time
	retryAt  time.Time // the store could not be reached: when to try again; zero otherwise
	pause    time.Duration
}

// write writes until the session ends, then closes the connection.
func (s *session) write() {
	w := &writer{session: s, timer: time.NewTimer(0)}
	w.pingAt = w.nextPing()
	defer s.cut()
	defer w.timer.Stop()
	func() {
		defer s.guard()
		w.loop()
	}()
	w.goodbye()
	if w.follower != nil {
		w.follower.Close()
	}
}

func (w *writer) nextPing() time.Time {
	every := w.all.opt.PingEvery
	return time.Now().Add(every - mathrand.N(every/5+1))
}

func (w *writer) loop() {
	for {
		if w.urgent() {
			return
		}
		if w.follower != nil && w.retryAt.IsZero() {
			sent, ok := w.event()
			if !ok {
				return
			}
			if sent {
				continue
			}
		}
		w.arm()
		select {
		case <-w.quit:
			return
		case a := <-w.answers:
			if !w.text(a) {
				return
			}
		case data := <-w.pongs:
			if !w.controlFrame(websocket.PongMessage, data) {
				return
			}
		case f := <-w.started:
			if !w.welcome(f) {
				return
			}
		case <-w.signals:
		case <-w.renewed:
		case <-w.timer.C:
			if !w.tick() {
				return
			}
		}
	}
}

// urgent writes what goes before events: answers, pongs, and what the clock asks for. over: the session ends.
func (w *writer) urgent() (over bool) {
	for {
		select {
		case <-w.quit:
			return true
		case a := <-w.answers:
			if !w.text(a) {
				return true
			}
			continue
		case data := <-w.pongs:
			if !w.controlFrame(websocket.PongMessage, data) {
				return true
			}
			continue
		default:
		}
		if now := time.Now(); !now.Before(w.pingAt) || w.expired(now) {
			return !w.tick()
		}
		return false
	}
}

// event writes the next event of the follower.
func (w *writer) event() (sent, ok bool) {
	e, some, err := w.follower.TryNext(w.ctx)
	switch {
	case err != nil && w.ctx.Err() != nil:
		return false, false
	case err != nil:
		// The session waits: what it is owed is still there when the store is back.
		w.pause = min(max(2*w.pause, retryFirst), retryMax)
		w.retryAt = time.Now().Add(w.pause/2 + mathrand.N(w.pause/2+1))
		w.all.opt.Log.Debug("a session could not read", "err", err)
		return false, true
	}
	w.pause = 0
	if !some {
		return false, true
	}
	if e.Messages != nil && e.Messages.Shared != nil {
		if pm := preparedFrame(e.Messages); pm != nil {
			return true, w.wrote(w.conn.WritePreparedMessage(pm))
		}
	}
	return true, w.buffered(func(buf *bytes.Buffer) { writeEvent(buf, e) })
}

// welcome begins the events.
func (w *writer) welcome(f *chat.Follower) bool {
	w.follower, w.signals = f, f.C()
	seconds := max(int64(w.all.opt.PingEvery/time.Second), 1)
	return w.buffered(func(buf *bytes.Buffer) { writeWelcome(buf, w.userName(), w.id, f.Welcome(), seconds) })
}

func (w *writer) buffered(fill func(*bytes.Buffer)) bool {
	buf := buffers.Get().(*bytes.Buffer)
	fill(buf)
	ok := w.text(buf.Bytes())
	if buf.Cap() <= bufferBytesKept {
		buf.Reset()
		buffers.Put(buf)
	}
	return ok
}

func (w *writer) text(frame []byte) bool {
	return w.wrote(w.conn.WriteMessage(websocket.TextMessage, frame))
}

func (w *writer) controlFrame(kind int, data []byte) bool {
	return w.wrote(w.conn.WriteControl(kind, data, time.Now().Add(w.all.opt.StallAfter)))
}

// wrote judges a write.
func (w *writer) wrote(err error) bool {
	if w.raw.isStalled() {
		w.end(ending{closeStalled, "nothing was taken for too long"})
		return false
	}
	if err != nil {
		w.end(ending{})
		return false
	}
	return true
}

func (w *writer) expired(now time.Time) bool {
	ms := w.expires.Load()
	return ms != 0 && now.UnixMilli() >= ms
}

// tick does what the clock asks for.
func (w *writer) tick() bool {
	now := time.Now()
	if w.expired(now) {
		w.end(ending{closeUnauthenticated, "the token has ended"})
		return false
	}
	if !w.retryAt.IsZero() && !now.Before(w.retryAt) {
		w.retryAt = time.Time{}
	}
	if !now.Before(w.pingAt) {
		w.pingAt = w.nextPing()
		return w.controlFrame(websocket.PingMessage, nil)
	}
	return true
}

// arm sets the timer to whatever comes first.
func (w *writer) arm() {
	at := w.pingAt
	if !w.retryAt.IsZero() && w.retryAt.Before(at) {
		at = w.retryAt
	}
	if ms := w.expires.Load(); ms != 0 {
		if e := time.UnixMilli(ms); e.Before(at) {
			at = e
		}
	}
	w.timer.Reset(min(max(time.Until(at), 0), expiryMax))
}

// goodbye writes the answers that are left and the close frame.
func (w *writer) goodbye() {
	timer := time.NewTimer(w.all.opt.CloseWithin)
	defer timer.Stop()
	select {
	case <-w.readDone: // the command under way is answered
	case <-timer.C:
	}
	w.mu.Lock()
	why := w.why
	w.mu.Unlock()
	if why.code == 0 && !w.raw.isStalled() {
		w.raw.finish(closeLinger)
		return
	}
	for len(w.answers) > 0 {
		if w.conn.WriteMessage(websocket.TextMessage, <-w.answers) != nil {
			return
		}
	}
	if w.conn.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(why.code, why.reason), time.Now().Add(w.all.opt.CloseWithin)) == nil {
		w.raw.finish(closeLinger)
	}
}

// closeLinger is how long a closed socket is read away so that its client gets the close frame.
const closeLinger = time.Second
