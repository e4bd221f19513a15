package web

import (
	"cmp"
	"context"
	"sync/atomic"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/previews"
	"github.com/chatd/chatd/chat/profiles"
	"github.com/chatd/chatd/chat/quorum"
	"github.com/chatd/chatd/chat/schedule"
	"github.com/chatd/chatd/web/api"
	"github.com/chatd/chatd/web/wire"
)

type messageHandlers struct {
	core       *chat.Service
	schedules  *schedule.Service
	profiles   *profiles.Service
	previews   *previews.Service
	durability chat.Durability // that every send waits for; empty: none
	sent       *atomic.Int64
	quorums    *quorum.Service
}

// SendMessage serves POST /v1/groups/{group}/messages.
func (h messageHandlers) SendMessage(ctx context.Context, r api.SendMessageRequestObject) (api.SendMessageResponseObject, error) {
	b := r.Body
	b.ClientID = cmp.Or(b.ClientID, deref(r.Params.IdempotencyKey))
	ctx = asking(ctx, h.core, r.Group)
	asked, err := b.Asked()
	if err == nil && asked != nil {
		err = h.quorums.Check(*asked)
	}
	if err != nil {
		return nil, err
	}
	if b.DeliverAt != nil {
		at, err := wire.Instant("deliver_at", b.DeliverAt)
		if err != nil {
			return nil, err
		}
		schedule, duplicate, err := h.schedules.SendLater(ctx, callerOf(ctx), r.Group, b.Message(), *at)
		return laterAnswer{schedule, duplicate}, err
	}
	durability := h.durability
	if r.Params.Durability != nil {
		durability = *r.Params.Durability
	}
	if durability == chat.DurabilityDisk || durability == chat.DurabilityReplica {
		callOf(ctx).leaveTurn()
	}
	sent, err := h.core.Send(ctx, callerOf(ctx), r.Group, b.Message(), durability)
	if err != nil {
		return nil, err
	}
	if durability == "" {
		sent.Durability = ""
	}
	h.sent.Add(1)
	if asked != nil {
		if err := h.quorums.Ask(ctx, callerOf(ctx), r.Group, sent, *asked); err != nil {
			return nil, err
		}
	}
	return sentAnswer{sent}, nil
}

// ListMessages serves GET /v1/groups/{group}/messages.
func (h messageHandlers) ListMessages(ctx context.Context, r api.ListMessagesRequestObject) (api.ListMessagesResponseObject, error) {
	if r.Params.After != nil && r.Params.Before != nil {
		return nil, chat.Errorf(chat.CodeInvalid, "after and before are mutually exclusive")
	}
	batch, views, err := h.core.Pull(ctx, callerOf(ctx), r.Group, chat.PullQuery{
		After: r.Params.After, Before: r.Params.Before, Limit: limitOf(r.Params.Limit),
	})
	if err != nil {
		return nil, err
	}
	return &pageAnswer{batch, views, fieldsOf{h.profiles.Field(ctx, batch.Messages), h.previews.Field(ctx, batch.Messages)}}, nil
}
