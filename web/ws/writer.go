package ws

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/gorilla/websocket"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/live"
	"github.com/chatd/chatd/internal/tracing"
	"github.com/chatd/chatd/queue/backoff"
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

// writer is the writing side of a session. It is used by one goroutine at a time: by one of the run queue's writers,
// or by one of its own while it has to wait (see turn). A turn gathers the frames that wait, writes them at once, and
// goes to the end of the queue if there may be more.
type writer struct {
	*session
	follower *live.Follower // nil before the hello
	timer    *time.Timer    // wakes the session
	armed    time.Time      // when timer fires; zero: it does not
	pingAt   time.Time
	retryAt  time.Time       // when to retry a store that could not be reached; zero otherwise
	again    backoff.Backoff // pauses after failed reads

	// The frames of this turn, in order: head or buf, then tail.
	head []byte        // a frame that is shared with other sessions
	buf  *bytes.Buffer // short frames one after the other; nil: none
	tail []byte        // a frame too long to be copied

	unsent  [][]byte  // what is being written, of head, buf and tail; nil: nothing
	lists   [2][]byte // holds unsent
	answers int       // bytes of the answers among it
	spans   []tracing.Span
	broken  bool // a write failed: nothing may follow
}

func (w *writer) nextPing() time.Time {
	every := w.all.opt.PingEvery
	return time.Now().Add(every - rand.N(every/5+1))
}

// outcome is what to do with a session after a turn.
type outcome int

const (
	turnOver    outcome = iota // the session ends; also after a panic
	turnRest                   // nothing waits
	turnMore                   // there may be more
	turnBlocked                // it has to wait for its client or the store
)

// turn writes what waits, without blocking. If that is not possible, it goes on in a goroutine of its own, which waits
// for the client at most as long as stallConn allows.
func (w *writer) turn() {
	w.state.Store(stateBusy)
	if next := w.step(false); next == turnBlocked {
		go func() { w.turned(w.step(true)) }()
	} else {
		w.turned(next)
	}
}

func (w *writer) turned(next outcome) {
	switch next {
	case turnOver:
		w.state.Store(stateOver)
		go w.finish()
	case turnRest:
		w.rest()
	default:
		w.requeue()
	}
}

// step is one turn. Only if wait is set, it waits for the client and the store.
func (w *writer) step(wait bool) (next outcome) {
	defer w.guard()
	if w.unsent != nil {
		if next := w.flush(wait); next != turnMore {
			return next
		}
	}
	if w.ended.Load() || !w.due(time.Now()) {
		return turnOver
	}
	w.gatherAnswers()
	next = turnRest
	if f := w.started.Load(); f != nil && w.follower == nil {
		w.welcome(f)
	}
	if w.follower != nil && w.retryAt.IsZero() {
		next = w.gatherEvents()
		if next == turnBlocked && wait && !w.gathered() {
			if next = w.ask(); next == turnOver {
				return turnOver
			}
		}
	}
	if w.gathered() {
		if sent := w.flush(wait); sent != turnMore {
			return sent
		}
		if next == turnBlocked { // the client gets what there is before the store is asked
			return turnMore
		}
	}
	if next == turnRest {
		w.arm()
	}
	return next
}

// due does what is due by the clock. It returns false if the session ends.
func (w *writer) due(now time.Time) bool {
	if ms := w.expires.Load(); ms != 0 && now.UnixMilli() >= ms {
		w.end(ending{code: closeUnauthenticated, reason: "token expired"})
		return false
	}
	if !w.retryAt.IsZero() && !now.Before(w.retryAt) {
		w.retryAt = time.Time{}
	}
	if !now.Before(w.pingAt) {
		w.pingAt = w.nextPing()
		appendControl(w.buffer(), websocket.PingMessage, nil)
	}
	return true
}

// arm sets the timer to whatever is due first. One that fires too early is harmless, and setting it costs something.
func (w *writer) arm() {
	now, at := time.Now(), w.pingAt
	if !w.retryAt.IsZero() && w.retryAt.Before(at) {
		at = w.retryAt
	}
	if ms := w.expires.Load(); ms != 0 {
		if e := time.UnixMilli(ms); e.Before(at) {
			at = e
		}
	}
	if w.armed.After(now) && !at.Before(w.armed) {
		return
	}
	w.armed = at
	if w.timer == nil {
		w.timer = time.AfterFunc(max(at.Sub(now), 0), w.wake)
	} else {
		w.timer.Reset(max(at.Sub(now), 0))
	}
}

// gatherAnswers takes the answers to commands, and a pong, which go before events.
func (w *writer) gatherAnswers() {
	answers, pong := w.replies.take()
	for _, a := range answers {
		w.answers += len(a)
		appendText(w.buffer(), a)
	}
	if pong != nil {
		appendControl(w.buffer(), websocket.PongMessage, pong)
	}
}

// welcome writes the answer to the hello and starts the events.
func (w *writer) welcome(f *live.Follower) {
	w.follower = f
	seconds := max(int64(w.all.opt.PingEvery/time.Second), 1)
	begin := beginFrame(w.buffer())
	writeWelcome(w.buf, w.userName(), w.id, f.Welcome(), seconds)
	endFrame(w.buf, begin)
	w.room.Hold(int64(w.buf.Len()))
}

// gatherEvents takes events until the turn has enough. turnBlocked means that the store has to be asked for more.
func (w *writer) gatherEvents() (next outcome) {
	for !w.full() {
		e, ok, behind := w.follower.Ready()
		switch {
		case behind:
			return turnBlocked
		case !ok:
			return turnRest
		}
		w.gather(e)
	}
	return turnMore
}

// ask asks the store, and takes the first event of what it has. It waits.
func (w *writer) ask() (next outcome) {
	ctx, ok := w.beginAsking()
	if !ok {
		return turnOver
	}
	e, some, err := w.follower.TryNext(ctx)
	w.endAsking()
	switch {
	case err != nil && w.ended.Load():
		return turnOver
	case errors.Is(err, live.ErrFull):
		w.retryAt = time.Now().Add(fullPause)
		w.all.relieve(time.Now())
		return turnRest
	case err != nil: // the session waits: pending events are still there when the store is back
		w.retryAt = time.Now().Add(w.again.Next())
		w.all.opt.Log.Debug("a session could not read from the store", "error", err)
		return turnRest
	}
	w.again.Reset()
	if some {
		w.gather(e)
	}
	return turnMore
}

// gather adds the frame of an event to this turn's.
func (w *writer) gather(e live.Event) {
	if w.all.opt.Traces != nil && e.Messages != nil {
		w.trace(e.Messages)
	}
	var frame []byte
	var with along
	if e.Messages != nil && e.Messages.Shared != nil {
		frame = sharedFrame(e.Messages, w.all.profiles, w.all.previews)
	}
	switch {
	case frame == nil && e.Messages != nil:
		with = along{w.all.profiles.Field(context.Background(), e.Messages.Messages), w.all.previews.Field(context.Background(), e.Messages.Messages)}
	case e.Inbox != nil:
		with.profiles = w.all.profiles.InboxField(context.Background(), e.Inbox.Items)
	}
	if size := frameBytes(e) + len(with.profiles) + len(with.previews); frame == nil && size > gatherBytesMax {
		var buf bytes.Buffer // as long as it needs to be: a client may read it slowly
		buf.Grow(size)
		appendEvent(&buf, e, with)
		frame = buf.Bytes()
	}
	switch {
	case frame == nil:
		appendEvent(w.buffer(), e, with)
	case !w.gathered():
		w.head = frame
	case len(frame) > gatherBytesMax:
		w.tail = frame
	default:
		w.buffer().Write(frame)
	}
}

// trace begins the spans of the traced messages among those that are about to be written.
func (w *writer) trace(b *chat.Batch) {
	for _, m := range b.Messages {
		if span := w.all.opt.Traces.Write(b.Group, m.Mark, m.ID); span != nil {
			w.spans = append(w.spans, span)
		}
	}
}

func (w *writer) gathered() bool { return w.head != nil || w.buf != nil || w.tail != nil }

// full reports whether no further event should be taken in this turn.
func (w *writer) full() bool {
	return w.tail != nil || len(w.head) >= gatherBytesMax || w.buf != nil && w.buf.Len() >= gatherBytesMax
}

// buffer returns the buffer for short frames, with the head copied into it so that it is not overtaken.
func (w *writer) buffer() *bytes.Buffer {
	if w.buf == nil {
		w.buf, _ = buffers.Get().(*bytes.Buffer)
	}
	if w.head != nil {
		w.buf.Write(w.head)
		w.head = nil
	}
	return w.buf
}

// flush writes what was gathered, or what is left of it. turnMore means that all of it is written.
func (w *writer) flush(wait bool) (next outcome) {
	if w.unsent == nil {
		w.unsent = w.lists[:0]
		switch {
		case w.buf != nil:
			w.unsent = append(w.unsent, w.buf.Bytes())
		case w.head != nil:
			w.unsent = append(w.unsent, w.head)
		}
		if w.tail != nil {
			w.unsent = append(w.unsent, w.tail)
		}
	}
	for len(w.unsent) > 0 {
		write := w.raw.try
		if wait {
			write = w.raw.send
		}
		n, err := write(w.unsent[0])
		w.unsent[0] = w.unsent[0][n:]
		switch {
		case err == nil && !w.raw.isStalled():
			w.unsent[0] = nil
			w.unsent = w.unsent[1:]
		case errors.Is(err, errWouldBlock):
			return turnBlocked
		case w.raw.isStalled():
			w.broken = err != nil // otherwise the client has whole frames
			w.end(ending{code: closeStalled, reason: "nothing was taken for too long"})
			return turnOver
		default:
			w.broken = true
			w.end(ending{})
			return turnOver
		}
	}
	w.sent()
	return turnMore
}

// sent lets go of what has been written.
func (w *writer) sent() {
	if w.buf != nil {
		release(w.buf)
	}
	w.unsent, w.lists = nil, [2][]byte{}
	w.head, w.buf, w.tail = nil, nil, nil
	for _, span := range w.spans {
		span.End()
	}
	w.spans = nil
	if w.follower != nil {
		w.room.Free()
	}
	if w.answers > 0 {
		w.replies.sent(w.answers)
		w.answers = 0
	}
}

// finish closes the connection after the session's last frame.
func (w *writer) finish() {
	defer w.all.remove(w.session)
	if w.timer != nil {
		w.timer.Stop()
	}
	w.goodbye()
	if w.follower != nil {
		w.follower.Close()
	}
	w.cut()
	<-w.readDone
	if f := w.started.Load(); f != nil && f != w.follower {
		f.Close() // the session ended before it was welcomed
	}
	w.room.Free()
	w.depart()
}

// goodbye writes the remaining answers and the close frame.
func (w *writer) goodbye() {
	defer w.guard()
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
	last := w.raw.farewell()
	if w.broken { // the client may have a part of a frame: nothing can follow it
		last = nil
	} else if why.code != 0 {
		var buf bytes.Buffer
		answers, _ := w.replies.take()
		for _, a := range answers {
			appendText(&buf, a)
		}
		appendControl(&buf, websocket.CloseMessage, websocket.FormatCloseMessage(why.code, why.reason))
		last = buf.Bytes()
	}
	if last != nil {
		if _, err := w.raw.send(last); err != nil {
			return
		}
	} else if why.code != 0 || w.raw.isStalled() {
		return
	}
	linger := closeLinger
	if why.brisk {
		linger = closeLingerBrisk
	}
	w.raw.finish(linger)
}
