package ws

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/gorilla/websocket"

	"github.com/chatd/chatd/chat/live"
	"github.com/chatd/chatd/internal/backoff"
)

// How long a session waits before it retries a store that could not be reached: the first and the longest pause.
const (
	retryFirst = 100 * time.Millisecond
	retryMax   = 2 * time.Second
)

// How long the server reads from a closing socket so that its client gets the close frame. If there are too many
// sockets already, it has to be quick.
const (
	closeLinger      = time.Second
	closeLingerBrisk = 100 * time.Millisecond
)

// fullPause is how long a session waits if too much is pending for other clients, which are about to read it.
const fullPause = 20 * time.Millisecond

// writer is the state of the writing goroutine.
type writer struct {
	*session
	follower *live.Follower
	signals  <-chan struct{} // from the follower; nil before the hello
	timer    *time.Timer
	pingAt   time.Time
	retryAt  time.Time       // when to retry a store that could not be reached; zero otherwise
	again    backoff.Backoff // pauses after failed reads
}

// write writes until the session ends, then closes the connection.
func (s *session) write() {
	w := &writer{session: s, again: backoff.Backoff{Min: retryFirst, Max: retryMax}, timer: time.NewTimer(0)}
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
	return time.Now().Add(every - rand.N(every/5+1))
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
			if !w.answered(a) {
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

// urgent writes what goes before events: answers, pongs, and what is due by the clock. over: the session ends.
func (w *writer) urgent() (over bool) {
	for {
		select {
		case <-w.quit:
			return true
		case a := <-w.answers:
			if !w.answered(a) {
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
		// The session waits: pending events are still there when the store is back.
		if errors.Is(err, live.ErrFull) {
			w.retryAt = time.Now().Add(fullPause)
			w.all.relieve(time.Now())
			return false, true
		}
		w.retryAt = time.Now().Add(w.again.Next())
		w.all.opt.Log.Debug("a session could not read from the store", "error", err)
		return false, true
	}
	w.again.Reset()
	if !some {
		return false, true
	}
	if e.Messages != nil && e.Messages.Shared != nil {
		if pm := preparedFrame(e.Messages); pm != nil {
			return true, w.wrote(w.conn.WritePreparedMessage(pm))
		}
	}
	return true, w.written(e)
}

// written writes the frame of an event. If the client reads slowly, only the frame stays in memory, nothing else of the
// event.
func (w *writer) written(e live.Event) bool {
	size := frameBytes(e)
	if size > pooledBytesMax {
		var buf bytes.Buffer
		buf.Grow(size)
		writeEvent(&buf, e)
		return w.text(buf.Bytes())
	}
	buf, _ := frames.Get().(*bytes.Buffer)
	defer frames.Put(buf)
	buf.Reset()
	writeEvent(buf, e)
	return w.text(buf.Bytes())
}

// answered writes an answer and makes room for more.
func (w *writer) answered(frame []byte) bool {
	ok := w.text(frame)
	w.waiting.Add(-int64(len(frame)))
	select {
	case w.room <- struct{}{}:
	default:
	}
	return ok
}

// welcome sends the answer to the hello and starts the events.
func (w *writer) welcome(f *live.Follower) bool {
	w.follower, w.signals = f, f.C()
	w.events.Store(f)
	seconds := max(int64(w.all.opt.PingEvery/time.Second), 1)
	var buf bytes.Buffer
	writeWelcome(&buf, w.userName(), w.id, f.Welcome(), seconds)
	return w.text(buf.Bytes())
}

func (w *writer) text(frame []byte) bool {
	return w.wrote(w.conn.WriteMessage(websocket.TextMessage, frame))
}

func (w *writer) controlFrame(kind int, data []byte) bool {
	return w.wrote(w.conn.WriteControl(kind, data, time.Now().Add(w.all.opt.StallAfter)))
}

// wrote handles the result of a write.
func (w *writer) wrote(err error) bool {
	if w.raw.isStalled() {
		w.end(ending{code: closeStalled, reason: "nothing was taken for too long"})
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

// tick does what is due by the clock.
func (w *writer) tick() bool {
	now := time.Now()
	if w.expired(now) {
		w.end(ending{code: closeUnauthenticated, reason: "token expired"})
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

// arm sets the timer to whatever is due first.
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
	w.timer.Reset(max(time.Until(at), 0))
}

// goodbye writes the remaining answers and the close frame.
func (w *writer) goodbye() {
	timer := time.NewTimer(w.all.opt.CloseWithin)
	defer timer.Stop()
	select {
	case <-w.readDone: // the current command is answered
	case <-timer.C:
	}
	w.depart() // before the close frame: a client that has received it may reconnect at once
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
		linger := closeLinger
		if why.brisk {
			linger = closeLingerBrisk
		}
		w.raw.finish(linger)
	}
}
