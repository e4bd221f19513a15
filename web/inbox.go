package web

import (
	"cmp"
	"context"
	"sync/atomic"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/profiles"
	"github.com/chatd/chatd/chat/schedule"
	"github.com/chatd/chatd/web/api"
	"github.com/chatd/chatd/web/wire"
)

type inboxHandlers struct {
	core      *chat.Service
	profiles  *profiles.Service
	schedules *schedule.Service
	sent      *atomic.Int64
}

// SendDirect serves POST /v1/users/{user}/messages.
func (h inboxHandlers) SendDirect(ctx context.Context, r api.SendDirectRequestObject) (api.SendDirectResponseObject, error) {
	b := r.Body
	b.ClientID = cmp.Or(b.ClientID, deref(r.Params.IdempotencyKey))
	ctx = asking(ctx, h.core, "")
	if b.DeliverAt != nil {
		at, err := wire.Instant("deliver_at", b.DeliverAt)
		if err != nil {
			return nil, err
		}
		schedule, duplicate, err := h.schedules.SendDirectLater(ctx, callerOf(ctx), r.User, b.Direct, *at)
		return laterAnswer{schedule, duplicate}, err
	}
	item, duplicate, err := h.core.SendDirect(ctx, callerOf(ctx), r.User, b.Direct)
	if err != nil {
		return nil, err
	}
	h.sent.Add(1)
	return directAnswer{item, duplicate}, nil
}

// PullInbox serves GET /v1/inbox.
func (h inboxHandlers) PullInbox(ctx context.Context, r api.PullInboxRequestObject) (api.PullInboxResponseObject, error) {
	after := chat.Position{}
	if r.Params.After != nil {
		var err error
		if after, err = chat.ParsePosition(*r.Params.After); err != nil {
			return nil, err
		}
	}
	batch, err := h.core.Inbox(ctx, callerOf(ctx), after, limitOf(r.Params.Limit))
	if err != nil {
		return nil, err
	}
	return &inboxAnswer{batch, h.profiles.InboxField(ctx, batch.Items)}, nil
}

// AckInbox serves POST /v1/inbox/ack.
func (h inboxHandlers) AckInbox(ctx context.Context, r api.AckInboxRequestObject) (api.AckInboxResponseObject, error) {
	at, err := wire.Mark("seq", r.Body.Seq, r.Body.Cursor)
	if err != nil {
		return nil, err
	}
	acked, err := h.core.AckInbox(ctx, callerOf(ctx), at)
	return api.AckInbox200JSONResponse{Acked: acked}, err
}
