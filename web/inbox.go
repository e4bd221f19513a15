package web

import (
	"cmp"
	"context"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/web/api"
	"github.com/chatd/chatd/web/wire"
)

// SendDirect serves POST /v1/users/{user}/messages.
func (s *Server) SendDirect(ctx context.Context, r api.SendDirectRequestObject) (api.SendDirectResponseObject, error) {
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
		schedule, duplicate, err := s.schedules.SendDirectLater(ctx, callerOf(ctx), r.User, b.Direct, *at)
		return laterAnswer{schedule, duplicate}, err
	}
	item, duplicate, err := s.service.SendDirect(ctx, callerOf(ctx), r.User, b.Direct)
	if err != nil {
		return nil, err
	}
	s.metrics.sent.Inc()
	return directAnswer{item, duplicate}, nil
}

// PullInbox serves GET /v1/inbox.
func (s *Server) PullInbox(ctx context.Context, r api.PullInboxRequestObject) (api.PullInboxResponseObject, error) {
	after := chat.Position{}
	if r.Params.After != nil {
		var err error
		if after, err = chat.ParsePosition(*r.Params.After); err != nil {
			return nil, err
		}
	}
	batch, err := s.service.Inbox(ctx, callerOf(ctx), after, limitOf(r.Params.Limit))
	return &inboxAnswer{batch}, err
}

// AckInbox serves POST /v1/inbox/ack.
func (s *Server) AckInbox(ctx context.Context, r api.AckInboxRequestObject) (api.AckInboxResponseObject, error) {
	if r.Body == nil {
		return nil, errNoBody
	}
	at, err := wire.Mark("seq", r.Body.Seq, r.Body.Cursor)
	if err != nil {
		return nil, err
	}
	acked, err := s.service.AckInbox(ctx, callerOf(ctx), at)
	return api.AckInbox200JSONResponse{Acked: acked}, err
}
