package web

import (
	"bytes"
	"net/http"
	"strconv"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/live"
	"github.com/chatd/chatd/web/wire"
)

// writeBuffered sends what fill writes as one JSON answer, with a line break at the end for readers in a terminal. size is about
// how many bytes that will be; 0: not many. A fill that writes what is long forgets it then: while the client takes the answer,
// nothing else of it has to stay in memory.
func writeBuffered(w http.ResponseWriter, status, size int, fill func(*bytes.Buffer)) error {
	buf := wire.Buffer(size)
	defer wire.Free(buf)
	fill(buf)
	if !bytes.HasSuffix(buf.Bytes(), []byte{'\n'}) {
		buf.WriteByte('\n')
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(buf.Len()))
	w.WriteHeader(status)
	_, err := w.Write(buf.Bytes())
	return err
}

// writeBatch writes a batch. views, if given, are its messages with their reactions, and fields what goes with them.
func writeBatch(buf *bytes.Buffer, b *chat.Batch, views []chat.MessageView, fields fieldsOf, cursors bool) {
	wire.Plain(buf, `{"group":`, b.Group)
	wire.Plain(buf, `,"epoch":`, b.Epoch)
	wire.Int(buf, `,"from":`, b.From)
	wire.Int(buf, `,"to":`, b.To)
	wire.Int(buf, `,"first":`, b.First)
	wire.Int(buf, `,"last":`, b.Last)
	wire.Plain(buf, `,"cursor":`, b.Cursor)
	wire.Bool(buf, `,"complete":`, b.Complete)
	wire.Bool(buf, `,"has_more":`, b.HasMore)
	if cursors {
		wire.Int(buf, `,"seen":`, b.Seen)
		wire.Int(buf, `,"read":`, b.Read)
		wire.Int(buf, `,"unread":`, b.Unread)
	}
	buf.WriteString(`,"messages":[`)
	for i := range b.Messages {
		if i > 0 {
			buf.WriteByte(',')
		}
		if i < len(views) {
			writeView(buf, &views[i])
			continue
		}
		buf.Write(b.Messages[i].JSON)
	}
	buf.WriteByte(']')
	wire.Profiles(buf, fields.profiles)
	wire.Previews(buf, fields.previews)
	buf.WriteByte('}')
}

// writeView writes a message with its reactions and the count of its thread, where there are any.
func writeView(buf *bytes.Buffer, m *chat.MessageView) {
	if len(m.Reactions) == 0 && m.Thread.Replies == 0 {
		buf.Write(m.JSON)
		return
	}
	buf.Write(m.JSON[:len(m.JSON)-1])
	if len(m.Reactions) > 0 {
		wire.JSON(buf, `,"reactions":`, m.Reactions)
	}
	if m.Thread.Replies > 0 {
		wire.Int(buf, `,"replies":`, m.Thread.Replies)
		wire.Int(buf, `,"last_reply_id":`, m.Thread.LastID)
	}
	buf.WriteByte('}')
}

// writeInbox writes a batch of an inbox. profiles is the JSON of the versions of profiles.
func writeInbox(buf *bytes.Buffer, b *chat.InboxBatch, profiles []byte) {
	wire.Plain(buf, `{"epoch":`, b.Epoch)
	wire.Int(buf, `,"from":`, b.From)
	wire.Int(buf, `,"to":`, b.To)
	wire.Int(buf, `,"first":`, b.First)
	wire.Int(buf, `,"last":`, b.Last)
	wire.Int(buf, `,"acked":`, b.Acked)
	wire.Plain(buf, `,"cursor":`, b.Cursor)
	wire.Bool(buf, `,"complete":`, b.Complete)
	wire.Bool(buf, `,"has_more":`, b.HasMore)
	wire.Items(buf, b.Items)
	wire.Profiles(buf, profiles)
	buf.WriteByte('}')
}

// answerBytes is more than what an answer has beside messages, items and groups; batchBytes what a group of a sync has beside
// its messages.
const answerBytes, batchBytes = 1 << 10, 512

// sizeOf is about how many bytes messages take in an answer.
func sizeOf(messages []chat.Message) (size int) {
	for i := range messages {
		size += len(messages[i].JSON) + 1
	}
	return size
}

// sizeOfInbox is about how many bytes an inbox takes in an answer.
func sizeOfInbox(b *chat.InboxBatch) int {
	size := answerBytes
	for i := range b.Items {
		size += len(b.Items[i].JSON) + 1
	}
	return size
}

// pageAnswer is the answer to GET messages.
type pageAnswer struct {
	batch  chat.Batch
	views  []chat.MessageView
	fields fieldsOf
}

// fieldsOf are fields that go with the messages of a batch; nil: there are none.
type fieldsOf struct{ profiles, previews []byte }

func (a *pageAnswer) VisitListMessagesResponse(w http.ResponseWriter) error {
	return writeBuffered(w, http.StatusOK, answerBytes+sizeOf(a.batch.Messages), func(buf *bytes.Buffer) {
		writeBatch(buf, &a.batch, a.views, a.fields, false)
		*a = pageAnswer{}
	})
}

// statusOf is the status of an answer to a send: that of the first one, or 200 for a repeat.
func statusOf(duplicate bool, first int) int {
	if duplicate {
		return http.StatusOK
	}
	return first
}

// sentAnswer is the answer to a send: the message as it is stored, with what only this answer tells.
type sentAnswer struct {
	sent chat.Sent
}

func (a sentAnswer) VisitSendMessageResponse(w http.ResponseWriter) error {
	return writeBuffered(w, statusOf(a.sent.Duplicate, http.StatusCreated), 0, func(buf *bytes.Buffer) {
		buf.Write(a.sent.JSON[:len(a.sent.JSON)-1])
		if a.sent.Duplicate {
			buf.WriteString(`,"duplicate":true`)
		}
		if a.sent.Durability != "" {
			wire.Plain(buf, `,"durability":`, string(a.sent.Durability))
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
	return writeBuffered(w, statusOf(a.Duplicate, http.StatusCreated), 0, func(buf *bytes.Buffer) { wire.JSON(buf, "", a) })
}

type inboxAnswer struct {
	batch    chat.InboxBatch
	profiles []byte
}

func (a *inboxAnswer) VisitPullInboxResponse(w http.ResponseWriter) error {
	return writeBuffered(w, http.StatusOK, sizeOfInbox(&a.batch), func(buf *bytes.Buffer) {
		writeInbox(buf, &a.batch, a.profiles)
		*a = inboxAnswer{}
	})
}

type syncAnswer struct {
	live.SyncAnswer
	profiles [][]byte // of each group
	previews [][]byte
	senders  []byte // of the inbox
}

func (a *syncAnswer) VisitSyncResponse(w http.ResponseWriter) error {
	size := answerBytes
	for i := range a.Groups {
		size += batchBytes + sizeOf(a.Groups[i].Messages)
	}
	if a.Inbox != nil {
		size += sizeOfInbox(a.Inbox)
	}
	return writeBuffered(w, http.StatusOK, size, func(buf *bytes.Buffer) {
		buf.WriteString(`{"groups":[`)
		for i := range a.Groups {
			if i > 0 {
				buf.WriteByte(',')
			}
			writeBatch(buf, &a.Groups[i], nil, fieldsOf{a.profiles[i], a.previews[i]}, true)
		}
		buf.WriteByte(']')
		if a.Inbox != nil {
			buf.WriteString(`,"inbox":`)
			writeInbox(buf, a.Inbox, a.senders)
		}
		wire.JSON(buf, `,"left":`, orEmpty(a.Left))
		if len(a.Errors) > 0 {
			wire.JSON(buf, `,"errors":`, a.Errors)
		}
		if len(a.Typing) > 0 {
			wire.JSON(buf, `,"typing":`, a.Typing)
		}
		wire.Int(buf, `,"next_poll_s":`, int64(a.NextPollS))
		buf.WriteByte('}')
		*a = syncAnswer{}
	})
}
