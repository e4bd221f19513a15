package web

import (
	"context"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/live"
	"github.com/chatd/chatd/web/api"
	"github.com/chatd/chatd/web/wire"
)

type cursorHandlers struct {
	core  *chat.Service
	live  *live.Service
	polls *polls
}

// AckGroup serves POST /v1/groups/{group}/ack.
func (h cursorHandlers) AckGroup(ctx context.Context, r api.AckGroupRequestObject) (api.AckGroupResponseObject, error) {
	at, err := wire.Mark("id", r.Body.Id, r.Body.Cursor)
	if err != nil {
		return nil, err
	}
	cursors, err := h.core.Ack(ctx, callerOf(ctx), r.Group, at)
	return api.AckGroup200JSONResponse(cursors), err
}

// ReadGroup serves POST /v1/groups/{group}/read.
func (h cursorHandlers) ReadGroup(ctx context.Context, r api.ReadGroupRequestObject) (api.ReadGroupResponseObject, error) {
	at, err := wire.Mark("id", r.Body.Id, r.Body.Cursor)
	if err != nil {
		return nil, err
	}
	cursors, err := h.core.Read(ctx, callerOf(ctx), r.Group, at)
	return api.ReadGroup200JSONResponse(cursors), err
}

// UnreadGroup serves POST /v1/groups/{group}/unread.
func (h cursorHandlers) UnreadGroup(ctx context.Context, r api.UnreadGroupRequestObject) (api.UnreadGroupResponseObject, error) {
	if r.Body.Id < 0 {
		return nil, chat.Errorf(chat.CodeInvalid, "id: want an integer from 0")
	}
	cursors, err := h.core.Unread(ctx, callerOf(ctx), r.Group, r.Body.Id)
	return api.UnreadGroup200JSONResponse(cursors), err
}

// ListReceipts serves GET /v1/groups/{group}/messages/{id}/receipts.
func (h cursorHandlers) ListReceipts(ctx context.Context, r api.ListReceiptsRequestObject) (api.ListReceiptsResponseObject, error) {
	if deref(r.Params.WaitS) < 0 {
		return nil, wire.ErrNegative("wait_s")
	}
	return poll(ctx, h.polls, deref(r.Params.WaitS) > 0, func(ctx context.Context, wait bool) (api.ListReceiptsResponseObject, error) {
		q := chat.ReceiptsQuery{ID: r.Id, Limit: limitOf(r.Params.Limit), Cursor: deref(r.Params.Cursor)}
		var most time.Duration
		if wait {
			most = h.polls.waitOf(r.Params.WaitS)
			callOf(ctx).leaveTurn()
		}
		receipts, after, err := h.live.Receipts(ctx, callerOf(ctx), r.Group, q, most)
		if err != nil {
			return nil, err
		}
		return api.ListReceipts200JSONResponse{
			Id: receipts.ID, Members: receipts.Members, Seen: receipts.Seen, Read: receipts.Read,
			SeenBy: orEmpty(receipts.SeenBy), Pending: orEmpty(receipts.Pending), Next: next(after),
		}, nil
	})
}

// GetUnread serves GET /v1/unread.
func (h cursorHandlers) GetUnread(ctx context.Context, _ api.GetUnreadRequestObject) (api.GetUnreadResponseObject, error) {
	counts, err := h.core.UnreadCounts(ctx, callerOf(ctx))
	if counts.Groups == nil {
		counts.Groups = map[string]int64{}
	}
	return api.GetUnread200JSONResponse(counts), err
}
