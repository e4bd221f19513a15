package web

import (
	"cmp"
	"context"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/web/api"
	"github.com/chatd/chatd/web/wire"
)

// SendMessage serves POST /v1/groups/{group}/messages.
func (s *Server) SendMessage(ctx context.Context, r api.SendMessageRequestObject) (api.SendMessageResponseObject, error) {
	b := r.Body
	if b == nil {
		return nil, errNoBody
	}
	b.ClientID = cmp.Or(b.ClientID, deref(r.Params.IdempotencyKey))
	if b.DeliverAt != nil {
		at, err := wire.Instant("deliver_at", b.DeliverAt)
		if err != nil {
			return nil, err
		}
		schedule, duplicate, err := s.schedules.SendLater(ctx, callerOf(ctx), r.Group, b.Message(), *at)
		return laterAnswer{schedule, duplicate}, err
	}
	durability := s.opt.Durability
	if r.Params.Durability != nil {
		durability = *r.Params.Durability
	}
	if durability == chat.DurabilityDisk || durability == chat.DurabilityReplica {
		leaveTurn(ctx)
	}
	sent, err := s.service.Send(ctx, callerOf(ctx), r.Group, b.Message(), durability)
	if err != nil {
		return nil, err
	}
	if durability == "" {
		sent.Durability = ""
	}
	s.metrics.sent.Inc()
	return sentAnswer{sent}, nil
}

// ListMessages serves GET /v1/groups/{group}/messages.
func (s *Server) ListMessages(ctx context.Context, r api.ListMessagesRequestObject) (api.ListMessagesResponseObject, error) {
	if r.Params.After != nil && r.Params.Before != nil {
		return nil, chat.Errorf(chat.CodeInvalid, "after and before are mutually exclusive")
	}
	batch, views, err := s.service.Pull(ctx, callerOf(ctx), r.Group, chat.PullQuery{
		After: r.Params.After, Before: r.Params.Before, Limit: limitOf(r.Params.Limit),
	})
	return &pageAnswer{batch, views}, err
}

// AckGroup serves POST /v1/groups/{group}/ack.
func (s *Server) AckGroup(ctx context.Context, r api.AckGroupRequestObject) (api.AckGroupResponseObject, error) {
	at, err := positionOf(r.Body)
	if err != nil {
		return nil, err
	}
	cursors, err := s.service.Ack(ctx, callerOf(ctx), r.Group, at)
	return api.AckGroup200JSONResponse(cursors), err
}

// ReadGroup serves POST /v1/groups/{group}/read.
func (s *Server) ReadGroup(ctx context.Context, r api.ReadGroupRequestObject) (api.ReadGroupResponseObject, error) {
	at, err := positionOf(r.Body)
	if err != nil {
		return nil, err
	}
	cursors, err := s.service.Read(ctx, callerOf(ctx), r.Group, at)
	return api.ReadGroup200JSONResponse(cursors), err
}

// UnreadGroup serves POST /v1/groups/{group}/unread.
func (s *Server) UnreadGroup(ctx context.Context, r api.UnreadGroupRequestObject) (api.UnreadGroupResponseObject, error) {
	id, err := markOf(r.Body)
	if err != nil {
		return nil, err
	}
	cursors, err := s.service.Unread(ctx, callerOf(ctx), r.Group, id)
	return api.UnreadGroup200JSONResponse(cursors), err
}

func positionOf(b *api.PositionMark) (chat.Position, error) {
	if b == nil {
		return chat.Position{}, errNoBody
	}
	return wire.Mark("id", b.Id, b.Cursor)
}

func markOf(b *api.Mark) (int64, error) {
	if b == nil {
		return 0, errNoBody
	}
	if b.Id < 0 {
		return 0, chat.Errorf(chat.CodeInvalid, "id: want an integer from 0")
	}
	return b.Id, nil
}

// ListReceipts serves GET /v1/groups/{group}/messages/{id}/receipts.
func (s *Server) ListReceipts(ctx context.Context, r api.ListReceiptsRequestObject) (api.ListReceiptsResponseObject, error) {
	if deref(r.Params.WaitS) < 0 {
		return nil, wire.ErrNegative("wait_s")
	}
	return waiting(s, ctx, deref(r.Params.WaitS) > 0, func(ctx context.Context, wait bool) (api.ListReceiptsResponseObject, error) {
		q := chat.ReceiptsQuery{ID: r.Id, Limit: limitOf(r.Params.Limit), Cursor: deref(r.Params.Cursor)}
		var most time.Duration
		if wait {
			most = s.waitOf(r.Params.WaitS)
			leaveTurn(ctx)
		}
		receipts, after, err := s.live.Receipts(ctx, callerOf(ctx), r.Group, q, most)
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
func (s *Server) GetUnread(ctx context.Context, _ api.GetUnreadRequestObject) (api.GetUnreadResponseObject, error) {
	counts, err := s.service.UnreadCounts(ctx, callerOf(ctx))
	if counts.Groups == nil {
		counts.Groups = map[string]int64{}
	}
	return api.GetUnread200JSONResponse(counts), err
}
