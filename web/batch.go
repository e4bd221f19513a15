package web

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"sync"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/web/api"
)

// Batches are the stored bytes of their messages joined, never decoded and encoded again. Buffers are pooled; one that
// grew beyond bufferBytesKept is left to the collector.
const bufferBytesKept = 2 << 20

var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// writeBuffered sends what fill writes as one JSON answer.
func writeBuffered(w http.ResponseWriter, status int, fill func(*bytes.Buffer)) error {
	buf := buffers.Get().(*bytes.Buffer)
	defer func() {
		if buf.Cap() <= bufferBytesKept {
			buf.Reset()
			buffers.Put(buf)
		}
	}()
	fill(buf)
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(buf.Len()))
	w.WriteHeader(status)
	_, err := w.Write(buf.Bytes())
	return err
}

// writeBatch writes the fields of a batch from the opening brace up to and without the closing one. views, where they
// are given, are the batch's messages with their reactions.
func writeBatch(buf *bytes.Buffer, b *chat.Batch, views []chat.MessageView, cursors bool) {
	writeName(buf, `{"group":`, b.Group)
	writeName(buf, `,"epoch":`, b.Epoch)
	writeInt(buf, `,"from":`, b.From)
	writeInt(buf, `,"to":`, b.To)
	writeInt(buf, `,"first":`, b.First)
	writeInt(buf, `,"last":`, b.Last)
	writeName(buf, `,"cursor":`, b.Cursor)
	writeBool(buf, `,"complete":`, b.Complete)
	writeBool(buf, `,"has_more":`, b.HasMore)
	if cursors {
		writeInt(buf, `,"seen":`, b.Seen)
		writeInt(buf, `,"read":`, b.Read)
		writeInt(buf, `,"unread":`, b.Unread)
	}
	buf.WriteString(`,"messages":[`)
	for i := range b.Messages {
		if i > 0 {
			buf.WriteByte(',')
		}
		if i < len(views) && len(views[i].Reactions) > 0 {
			writeWith(buf, b.Messages[i].JSON, `"reactions":`, views[i].Reactions)
			continue
		}
		buf.Write(b.Messages[i].JSON)
	}
	buf.WriteByte(']')
}

func writeInbox(buf *bytes.Buffer, b *chat.InboxBatch) {
	writeName(buf, `{"epoch":`, b.Epoch)
	writeInt(buf, `,"from":`, b.From)
	writeInt(buf, `,"to":`, b.To)
	writeInt(buf, `,"last":`, b.Last)
	writeBool(buf, `,"complete":`, b.Complete)
	writeBool(buf, `,"has_more":`, b.HasMore)
	buf.WriteString(`,"items":[`)
	buf.Write(bytes.Join(b.Items, []byte{','}))
	buf.WriteString(`]}`)
}

// writeWith writes a stored object with one more field at its end.
func writeWith(buf *bytes.Buffer, object []byte, name string, value any) {
	buf.Write(object[:len(object)-1])
	buf.WriteByte(',')
	writeJSON(buf, name, value)
	buf.WriteByte('}')
}

// writeName writes a field of plain text: an id, an epoch or a cursor, which need no escaping.
func writeName(buf *bytes.Buffer, name, value string) {
	buf.WriteString(name)
	buf.WriteByte('"')
	buf.WriteString(value)
	buf.WriteByte('"')
}

func writeInt(buf *bytes.Buffer, name string, n int64) {
	buf.WriteString(name)
	buf.Write(strconv.AppendInt(buf.AvailableBuffer(), n, 10))
}

func writeBool(buf *bytes.Buffer, name string, v bool) {
	buf.WriteString(name)
	buf.Write(strconv.AppendBool(buf.AvailableBuffer(), v))
}

// writeJSON writes a field of a type of ours, whose encoding cannot fail.
func writeJSON(buf *bytes.Buffer, name string, value any) {
	buf.WriteString(name)
	b, err := json.Marshal(value)
	if err != nil {
		panic(err) //nolint:forbidigo // see above
	}
	buf.Write(b)
}

// pageAnswer is the answer to GET messages.
type pageAnswer struct {
	batch chat.Batch
	views []chat.MessageView
}

func (a pageAnswer) VisitListMessagesResponse(w http.ResponseWriter) error {
	return writeBuffered(w, http.StatusOK, func(buf *bytes.Buffer) {
		writeBatch(buf, &a.batch, a.views, false)
		buf.WriteByte('}')
	})
}

// sentAnswer is the answer to a send: the message as it is stored, with what only this answer tells.
type sentAnswer struct {
	sent chat.Sent
}

func (a sentAnswer) VisitSendMessageResponse(w http.ResponseWriter) error {
	status := http.StatusCreated
	if a.sent.Duplicate {
		status = http.StatusOK
	}
	return writeBuffered(w, status, func(buf *bytes.Buffer) {
		buf.Write(a.sent.JSON[:len(a.sent.JSON)-1])
		if a.sent.Duplicate {
			buf.WriteString(`,"duplicate":true`)
		}
		if a.sent.Durability != "" {
			writeName(buf, `,"durability":`, string(a.sent.Durability))
		}
		buf.WriteByte('}')
	})
}

// directAnswer is the answer to a direct message.
type directAnswer struct {
	chat.Item
	Duplicate bool `json:"duplicate,omitempty"`
}

func (a directAnswer) VisitSendDirectResponse(w http.ResponseWriter) error {
	status := http.StatusCreated
	if a.Duplicate {
		status = http.StatusOK
	}
	return writeBuffered(w, status, func(buf *bytes.Buffer) { writeJSON(buf, "", a) })
}

type inboxAnswer struct {
	batch chat.InboxBatch
}

func (a inboxAnswer) VisitPullInboxResponse(w http.ResponseWriter) error {
	return writeBuffered(w, http.StatusOK, func(buf *bytes.Buffer) { writeInbox(buf, &a.batch) })
}

type syncAnswer struct {
	chat.SyncAnswer
}

func (a syncAnswer) VisitSyncResponse(w http.ResponseWriter) error {
	return writeBuffered(w, http.StatusOK, func(buf *bytes.Buffer) {
		buf.WriteString(`{"groups":[`)
		for i := range a.Groups {
			if i > 0 {
				buf.WriteByte(',')
			}
			writeBatch(buf, &a.Groups[i], nil, true)
			buf.WriteByte('}')
		}
		buf.WriteByte(']')
		if a.Inbox != nil {
			buf.WriteString(`,"inbox":`)
			writeInbox(buf, a.Inbox)
		}
		writeJSON(buf, `,"left":`, orEmpty(a.Left))
		if len(a.Errors) > 0 {
			writeJSON(buf, `,"errors":`, a.Errors)
		}
		writeInt(buf, `,"next_poll_s":`, int64(a.NextPollS))
		buf.WriteByte('}')
	})
}

var (
	_ api.ListMessagesResponseObject  = pageAnswer{}
	_ api.SendMessageResponseObject   = sentAnswer{}
	_ api.SendDirectResponseObject    = directAnswer{}
	_ api.PullInboxResponseObject     = inboxAnswer{}
	_ api.SyncResponseObject          = syncAnswer{}
	_ api.CreateGroupResponseObject   = rawAnswer{}
	_ api.CreateWebhookResponseObject = rawAnswer{}
)

// orEmpty makes a list that clients see as [] where there is nothing.
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
