package ws

import (
	"bytes"
	"sync"

	"github.com/gorilla/websocket"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/live"
	"github.com/chatd/chatd/web/wire"
)

// frames are buffers for frames. A buffer that is held while a client reads slowly is small, or no longer than its
// frame.
var frames = sync.Pool{New: func() any { return new(bytes.Buffer) }}

const pooledBytesMax = 8 << 10

// frameBytes estimates the length of e's frame, never too low.
func frameBytes(e live.Event) int {
	n := 512
	switch {
	case e.Messages != nil:
		for i := range e.Messages.Messages {
			n += len(e.Messages.Messages[i].JSON) + 1
		}
	case e.Inbox != nil:
		for i := range e.Inbox.Items {
			n += len(e.Inbox.Items[i].JSON) + 1
		}
	}
	return n
}

// writeEvent writes the frame of an event.
func writeEvent(buf *bytes.Buffer, e live.Event) {
	switch {
	case e.Messages != nil:
		writeMessages(buf, e.Messages)
	case e.Inbox != nil:
		writeItems(buf, e.Inbox)
	case e.Cursor != nil:
		wire.Plain(buf, `{"op":"cursor","group":`, e.Cursor.Group)
		wire.Plain(buf, `,"user":`, e.Cursor.User)
		wire.Int(buf, `,"seen":`, e.Cursor.Seen)
		wire.Int(buf, `,"read":`, e.Cursor.Read)
		buf.WriteByte('}')
	case e.Typing != nil:
		wire.Plain(buf, `{"op":"typing","group":`, e.Typing.Group)
		wire.Plain(buf, `,"user":`, e.Typing.User)
		buf.WriteByte('}')
	case e.Joined != "":
		wire.Plain(buf, `{"op":"joined","group":`, e.Joined)
		buf.WriteByte('}')
	default:
		wire.Plain(buf, `{"op":"left","group":`, e.Left)
		buf.WriteByte('}')
	}
}

func writeMessages(buf *bytes.Buffer, b *chat.Batch) {
	wire.Plain(buf, `{"op":"messages","group":`, b.Group)
	wire.Plain(buf, `,"epoch":`, b.Epoch)
	wire.Int(buf, `,"from":`, b.From)
	wire.Int(buf, `,"to":`, b.To)
	wire.Plain(buf, `,"cursor":`, b.Cursor)
	wire.Bool(buf, `,"complete":`, b.Complete)
	buf.WriteString(`,"messages":[`)
	for i := range b.Messages {
		if i > 0 {
			buf.WriteByte(',')
		}
		buf.Write(b.Messages[i].JSON)
	}
	buf.WriteString(`]}`)
}

func writeItems(buf *bytes.Buffer, b *chat.InboxBatch) {
	wire.Plain(buf, `{"op":"inbox","epoch":`, b.Epoch)
	wire.Int(buf, `,"from":`, b.From)
	wire.Int(buf, `,"to":`, b.To)
	wire.Int(buf, `,"first":`, b.First)
	wire.Int(buf, `,"acked":`, b.Acked)
	wire.Plain(buf, `,"cursor":`, b.Cursor)
	wire.Bool(buf, `,"complete":`, b.Complete)
	wire.Items(buf, b.Items)
	buf.WriteByte('}')
}

func writeWelcome(buf *bytes.Buffer, user, session string, w live.Welcome, pingSeconds int64) {
	wire.Plain(buf, `{"op":"welcome","user":`, user)
	wire.Plain(buf, `,"session":`, session)
	wire.JSON(buf, `,"groups":`, w.Groups)
	wire.Int(buf, `,"ping_s":`, pingSeconds)
	buf.WriteByte('}')
}

// preparedFrame is the frame of a batch that many sessions get, encoded once by the first of them. It is nil if the
// library cannot prepare it; then each session encodes its own.
func preparedFrame(b *chat.Batch) *websocket.PreparedMessage {
	pm, _ := b.Shared.Get(func() any {
		var buf bytes.Buffer
		writeMessages(&buf, b)
		pm, err := websocket.NewPreparedMessage(websocket.TextMessage, buf.Bytes())
		if err != nil {
			return (*websocket.PreparedMessage)(nil)
		}
		return pm
	}).(*websocket.PreparedMessage)
	return pm
}

// okFrame answers a command that has a ref; more writes further fields and may be nil.
func okFrame(ref string, more func(*bytes.Buffer)) []byte {
	var buf bytes.Buffer
	wire.JSON(&buf, `{"op":"ok","ref":`, ref)
	if more != nil {
		more(&buf)
	}
	buf.WriteByte('}')
	return buf.Bytes()
}

// errorFrame answers a command that failed. e is public, so it reveals no internals.
func errorFrame(ref string, e *chat.Error) []byte {
	var buf bytes.Buffer
	buf.WriteString(`{"op":"error"`)
	if ref != "" {
		wire.JSON(&buf, `,"ref":`, ref)
	}
	wire.Plain(&buf, `,"code":`, string(e.Code))
	wire.JSON(&buf, `,"detail":`, e.Message)
	if e.RetryAfter > 0 {
		wire.Int(&buf, `,"retry_after_ms":`, max(1, e.RetryAfter.Milliseconds()))
	}
	if len(e.Blockers) > 0 {
		wire.JSON(&buf, `,"blockers":`, e.Blockers)
	}
	buf.WriteByte('}')
	return buf.Bytes()
}
