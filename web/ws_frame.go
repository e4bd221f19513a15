package web

import (
	"bytes"

	"github.com/gorilla/websocket"

	"github.com/chatd/chatd/chat"
)

// writeEvent writes the frame of an event.
func writeEvent(buf *bytes.Buffer, e chat.Event) {
	switch {
	case e.Messages != nil:
		writeMessages(buf, e.Messages)
	case e.Inbox != nil:
		writeItems(buf, e.Inbox)
	case e.Cursor != nil:
		writeName(buf, `{"op":"cursor","group":`, e.Cursor.Group)
		writeName(buf, `,"user":`, e.Cursor.User)
		writeInt(buf, `,"seen":`, e.Cursor.Seen)
		writeInt(buf, `,"read":`, e.Cursor.Read)
		buf.WriteByte('}')
	case e.Typing != nil:
		writeName(buf, `{"op":"typing","group":`, e.Typing.Group)
		writeName(buf, `,"user":`, e.Typing.User)
		buf.WriteByte('}')
	case e.Joined != "":
		writeName(buf, `{"op":"joined","group":`, e.Joined)
		buf.WriteByte('}')
	default:
		writeName(buf, `{"op":"left","group":`, e.Left)
		buf.WriteByte('}')
	}
}

func writeMessages(buf *bytes.Buffer, b *chat.Batch) {
	writeName(buf, `{"op":"messages","group":`, b.Group)
	writeName(buf, `,"epoch":`, b.Epoch)
	writeInt(buf, `,"from":`, b.From)
	writeInt(buf, `,"to":`, b.To)
	writeName(buf, `,"cursor":`, b.Cursor)
	writeBool(buf, `,"complete":`, b.Complete)
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
	writeName(buf, `{"op":"inbox","epoch":`, b.Epoch)
	writeInt(buf, `,"from":`, b.From)
	writeInt(buf, `,"to":`, b.To)
	writeBool(buf, `,"complete":`, b.Complete)
	buf.WriteString(`,"items":[`)
	buf.Write(bytes.Join(b.Items, []byte{','}))
	buf.WriteString(`]}`)
}

func writeWelcome(buf *bytes.Buffer, user, session string, w chat.Welcome, pingSeconds int64) {
	writeName(buf, `{"op":"welcome","user":`, user)
	writeName(buf, `,"session":`, session)
	writeJSON(buf, `,"groups":`, w.Groups)
	writeInt(buf, `,"ping_s":`, pingSeconds)
	buf.WriteByte('}')
}

// preparedFrame is the frame of a batch that many sessions get: encoded by whoever comes first. It is nil where the
// library refuses, and then each encodes for itself.
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
	writeJSON(&buf, `{"op":"ok","ref":`, ref)
	if more != nil {
		more(&buf)
	}
	buf.WriteByte('}')
	return buf.Bytes()
}

// errorFrame answers a command that failed. Nothing of the inside is told.
func errorFrame(ref string, code chat.Code, detail string) []byte {
	var buf bytes.Buffer
	buf.WriteString(`{"op":"error"`)
	if ref != "" {
		writeJSON(&buf, `,"ref":`, ref)
	}
	writeName(&buf, `,"code":`, string(code))
	writeJSON(&buf, `,"detail":`, detail)
	buf.WriteByte('}')
	return buf.Bytes()
}
