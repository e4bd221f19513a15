package ws

import (
	"bytes"
	"context"
	"encoding/binary"
	"math"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/gorilla/websocket"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/live"
	"github.com/chatd/chatd/chat/previews"
	"github.com/chatd/chatd/chat/profiles"
	"github.com/chatd/chatd/web/wire"
)

// buffers are for short frames that wait for the same client, and for what a client sends. A buffer that is held while a
// client reads slowly is small, or no longer than its frame.
var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

const (
	gatherBytesMax = 8 << 10  // a frame beyond that is not copied, and events beyond it wait for the next turn
	pooledBytesMax = 32 << 10 // a longer buffer is rare, and not kept
)

// release gives a buffer back.
func release(buf *bytes.Buffer) {
	if buf.Cap() <= pooledBytesMax {
		buf.Reset()
		buffers.Put(buf)
	}
}

// headerBytesMax is the longest header of a server's frame.
const headerBytesMax = 10

const finalBit = 0x80

// beginFrame leaves room for the header of a text frame, whose content has to be written next. endFrame, with the result,
// writes the header.
func beginFrame(buf *bytes.Buffer) (begin int) {
	begin = buf.Len()
	var header [headerBytesMax]byte
	buf.Write(header[:])
	return begin
}

// endFrame moves the content of the frame up to its header: RFC 6455 wants the shortest one for the length.
func endFrame(buf *bytes.Buffer, begin int) {
	frame := buf.Bytes()[begin:]
	n := len(frame) - headerBytesMax
	header := appendHeader(frame[:0], websocket.TextMessage, n)
	copy(frame[len(header):], frame[headerBytesMax:])
	buf.Truncate(begin + len(header) + n)
}

// appendHeader appends the header of a frame that is a whole message. Servers do not mask.
func appendHeader(b []byte, kind, n int) []byte {
	b = append(b, finalBit|byte(kind))
	switch {
	case n <= 125:
		return append(b, byte(n))
	case n <= math.MaxUint16:
		return binary.BigEndian.AppendUint16(append(b, 126), uint16(n))
	}
	return binary.BigEndian.AppendUint64(append(b, 127), uint64(n))
}

func appendText(buf *bytes.Buffer, content []byte) {
	var header [headerBytesMax]byte
	buf.Write(appendHeader(header[:0], websocket.TextMessage, len(content)))
	buf.Write(content)
}

// appendControl appends a ping, a pong or a close frame, of at most 125 bytes.
func appendControl(buf *bytes.Buffer, kind int, data []byte) {
	var header [headerBytesMax]byte
	buf.Write(appendHeader(header[:0], kind, len(data)))
	buf.Write(data)
}

// along is the JSON of what goes with messages and items; nil: there is none.
type along struct{ profiles, previews []byte }

// appendEvent appends the frame of an event.
func appendEvent(buf *bytes.Buffer, e live.Event, with along) {
	begin := beginFrame(buf)
	writeEvent(buf, e, with)
	endFrame(buf, begin)
}

// frameBytes estimates the length of e's frame, never too low.
func frameBytes(e live.Event) int {
	n := 512
	switch {
	case e.Messages != nil:
		for i := range e.Messages.Messages {
			n += len(e.Messages.Messages[i].JSON) + 1
		}
	case e.Draft != nil:
		n += len(e.Draft.JSON)
	case e.Stream != nil:
		n += 2 * len(e.Stream.Text)
	case e.Inbox != nil:
		for i := range e.Inbox.Items {
			n += len(e.Inbox.Items[i].JSON) + 1
		}
	}
	return n
}

// writeEvent writes the content of an event's frame.
func writeEvent(buf *bytes.Buffer, e live.Event, with along) {
	switch {
	case e.Messages != nil:
		writeMessages(buf, e.Messages, with)
	case e.Inbox != nil:
		writeItems(buf, e.Inbox, with.profiles)
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
	case e.Here != nil:
		wire.Plain(buf, `{"op":"here","group":`, e.Here.Group)
		wire.Int(buf, `,"count":`, e.Here.Count)
		wire.JSON(buf, `,"users":`, e.Here.Users)
		buf.WriteByte('}')
	case e.Draft != nil:
		wire.Plain(buf, `{"op":"draft","group":`, e.Draft.Group)
		if fields, is := strings.CutPrefix(e.Draft.JSON, "{"); is {
			buf.WriteString("," + fields)
		} else {
			buf.WriteString(`,"deleted":true}`)
		}
	case e.Stream != nil:
		writeStream(buf, e.Stream)
	case e.Cancel != nil:
		wire.Plain(buf, `{"op":"stream_cancel","group":`, e.Cancel.Group)
		wire.Int(buf, `,"id":`, e.Cancel.ID)
		wire.Plain(buf, `,"user":`, e.Cancel.User)
		buf.WriteByte('}')
	case e.Joined != "":
		wire.Plain(buf, `{"op":"joined","group":`, e.Joined)
		buf.WriteByte('}')
	default:
		wire.Plain(buf, `{"op":"left","group":`, e.Left)
		buf.WriteByte('}')
	}
}

func writeStream(buf *bytes.Buffer, e *live.StreamEvent) {
	wire.Plain(buf, `{"op":"stream","group":`, e.Group)
	wire.Int(buf, `,"id":`, e.ID)
	if e.Offset < 0 {
		buf.WriteString(`,"body":`)
	} else {
		wire.Int(buf, `,"offset":`, e.Offset)
		buf.WriteString(`,"append":`)
	}
	buf.Write(chat.Encode(e.Text))
	buf.WriteByte('}')
}

func writeMessages(buf *bytes.Buffer, b *chat.Batch, with along) {
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
	buf.WriteByte(']')
	wire.Profiles(buf, with.profiles)
	wire.Previews(buf, with.previews)
	buf.WriteByte('}')
}

func writeItems(buf *bytes.Buffer, b *chat.InboxBatch, profiles []byte) {
	wire.Plain(buf, `{"op":"inbox","epoch":`, b.Epoch)
	wire.Int(buf, `,"from":`, b.From)
	wire.Int(buf, `,"to":`, b.To)
	wire.Int(buf, `,"first":`, b.First)
	wire.Int(buf, `,"acked":`, b.Acked)
	wire.Plain(buf, `,"cursor":`, b.Cursor)
	wire.Bool(buf, `,"complete":`, b.Complete)
	wire.Items(buf, b.Items)
	wire.Profiles(buf, profiles)
	buf.WriteByte('}')
}

func writeWelcome(buf *bytes.Buffer, user, session string, w live.Welcome, pingSeconds int64) {
	wire.Plain(buf, `{"op":"welcome","user":`, user)
	wire.Plain(buf, `,"session":`, session)
	wire.JSON(buf, `,"groups":`, w.Groups)
	if len(w.Errors) > 0 {
		wire.JSON(buf, `,"errors":`, w.Errors)
	}
	wire.Int(buf, `,"ping_s":`, pingSeconds)
	buf.WriteByte('}')
}

// shared is the frame of a batch that many sessions get.
type shared struct {
	frame    []byte // must not be changed
	profiles []byte
	changes  atomic.Int64 // of profiles, up to which it is as they are
}

// sharedFrame is the frame of a batch that many sessions get, encoded once by the first of them; nil: profiles have changed since.
func sharedFrame(b *chat.Batch, known *profiles.Service, linked *previews.Service) []byte {
	now := known.Changes()
	s, _ := b.Shared.Get(func() any {
		e := live.Event{Messages: b}
		with := along{known.Field(context.Background(), b.Messages), linked.Field(context.Background(), b.Messages)}
		s := &shared{profiles: with.profiles}
		var buf bytes.Buffer
		buf.Grow(frameBytes(e) + len(with.profiles) + len(with.previews))
		appendEvent(&buf, e, with)
		s.frame = buf.Bytes()
		s.changes.Store(now)
		return s
	}).(*shared)
	if s.changes.Load() != now {
		if !bytes.Equal(s.profiles, known.Field(context.Background(), b.Messages)) {
			return nil
		}
		s.changes.Store(now)
	}
	return s.frame
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
	if e.Length != nil {
		wire.Int(&buf, `,"length":`, *e.Length)
	}
	if len(e.Blockers) > 0 {
		wire.JSON(&buf, `,"blockers":`, e.Blockers)
	}
	if e.Ends() {
		wire.JSON(&buf, `,"until":`, e.Until)
	}
	if e.Code == chat.CodeRefused && e.Reason != "" {
		wire.JSON(&buf, `,"reason":`, e.Reason)
	}
	buf.WriteByte('}')
	return buf.Bytes()
}
