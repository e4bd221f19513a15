package web

import (
	"bytes"
	"context"
	"net/http"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/threads"
	"github.com/chatd/chatd/web/api"
	"github.com/chatd/chatd/web/wire"
)

type threadHandlers struct{ threads *threads.Service }

// ListThreads serves GET /v1/groups/{group}/threads.
func (h threadHandlers) ListThreads(ctx context.Context, r api.ListThreadsRequestObject) (api.ListThreadsResponseObject, error) {
	p := r.Params
	list, err := h.threads.List(ctx, callerOf(ctx), r.Group, threads.Query{Following: p.Following != nil, Unread: p.Unread != nil,
		Limit: limitOf(p.Limit), Cursor: deref(p.Cursor)})
	if err != nil {
		return nil, err
	}
	return &threadsAnswer{list}, nil
}

// ListReplies serves GET /v1/groups/{group}/threads/{id}/messages.
func (h threadHandlers) ListReplies(ctx context.Context, r api.ListRepliesRequestObject) (api.ListRepliesResponseObject, error) {
	page, err := h.threads.Messages(ctx, callerOf(ctx), r.Group, r.Id,
		threads.PageQuery{After: r.Params.After, Before: r.Params.Before, Limit: limitOf(r.Params.Limit)})
	if err != nil {
		return nil, err
	}
	return &repliesAnswer{page}, nil
}

// ReadThread serves POST /v1/groups/{group}/threads/{id}/read.
func (h threadHandlers) ReadThread(ctx context.Context, r api.ReadThreadRequestObject) (api.ReadThreadResponseObject, error) {
	t, err := h.threads.Read(ctx, callerOf(ctx), r.Group, r.Id, r.Body.Id)
	return api.ReadThread200JSONResponse(standingOf(t)), err
}

// FollowThread serves PUT /v1/groups/{group}/threads/{id}.
func (h threadHandlers) FollowThread(ctx context.Context, r api.FollowThreadRequestObject) (api.FollowThreadResponseObject, error) {
	t, err := h.threads.Follow(ctx, callerOf(ctx), r.Group, r.Id, r.Body.Following)
	return api.FollowThread200JSONResponse(standingOf(t)), err
}

func standingOf(t threads.Thread) api.ThreadStanding {
	return api.ThreadStanding{Id: t.ID, Replies: t.Replies, LastId: t.LastID, Unread: t.Unread, Following: t.Following, Read: t.Read}
}

// writeStanding writes how the caller stands to a thread, as the first fields of an object or further ones.
func writeStanding(buf *bytes.Buffer, t threads.Thread) {
	wire.Int(buf, `"id":`, t.ID)
	wire.Int(buf, `,"replies":`, t.Replies)
	wire.Int(buf, `,"last_id":`, t.LastID)
	wire.Int(buf, `,"unread":`, t.Unread)
	wire.Bool(buf, `,"following":`, t.Following)
	wire.Int(buf, `,"read":`, t.Read)
}

// threadsAnswer is the answer to GET threads.
type threadsAnswer struct{ list chat.List[threads.Shown] }

func (a *threadsAnswer) VisitListThreadsResponse(w http.ResponseWriter) error {
	size := answerBytes
	for i := range a.list.Items {
		t := &a.list.Items[i]
		size += threadBytes + len(t.Root.JSON)
		if t.Last != nil {
			size += len(t.Last.JSON)
		}
	}
	return writeBuffered(w, http.StatusOK, size, func(buf *bytes.Buffer) {
		buf.WriteString(`{"threads":[`)
		for i := range a.list.Items {
			t := &a.list.Items[i]
			if i > 0 {
				buf.WriteByte(',')
			}
			buf.WriteByte('{')
			writeStanding(buf, t.Thread)
			buf.WriteString(`,"root":`)
			writeView(buf, &t.Root)
			buf.WriteString(`,"last_message":`)
			if t.Last != nil {
				writeView(buf, t.Last)
			} else {
				buf.WriteString("null")
			}
			buf.WriteByte('}')
		}
		buf.WriteByte(']')
		wire.JSON(buf, `,"next":`, next(a.list.Next))
		buf.WriteByte('}')
		*a = threadsAnswer{}
	})
}

// repliesAnswer is the answer to GET the messages of a thread.
type repliesAnswer struct{ page threads.Page }

func (a *repliesAnswer) VisitListRepliesResponse(w http.ResponseWriter) error {
	size := answerBytes
	for i := range a.page.Messages {
		size += len(a.page.Messages[i].JSON) + 1
	}
	return writeBuffered(w, http.StatusOK, size, func(buf *bytes.Buffer) {
		wire.Plain(buf, `{"group":`, a.page.Group)
		buf.WriteByte(',')
		writeStanding(buf, a.page.Thread)
		wire.Bool(buf, `,"has_more":`, a.page.HasMore)
		buf.WriteString(`,"messages":[`)
		for i := range a.page.Messages {
			if i > 0 {
				buf.WriteByte(',')
			}
			writeView(buf, &a.page.Messages[i])
		}
		buf.WriteString("]}")
		*a = repliesAnswer{}
	})
}

// threadBytes is about how many bytes a thread has beside its messages.
const threadBytes = 256
