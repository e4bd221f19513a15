package web

import (
	"context"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/live"
	"github.com/chatd/chatd/chat/previews"
	"github.com/chatd/chatd/chat/profiles"
	"github.com/chatd/chatd/web/api"
	"github.com/chatd/chatd/web/limit"
	"github.com/chatd/chatd/web/wire"
)

type syncHandlers struct {
	live     *live.Service
	profiles *profiles.Service
	previews *previews.Service
	polls    *polls
	limits   *chat.Limits
}

// Sync serves POST /v1/sync.
func (h syncHandlers) Sync(ctx context.Context, r api.SyncRequestObject) (api.SyncResponseObject, error) {
	req, err := h.syncRequest(r.Body)
	if err != nil {
		return nil, err
	}
	if err := callOf(ctx).charge(limit.Sync(len(req.Ack), len(req.After), pageMost(h.limits, req.Limit))); err != nil {
		return nil, err
	}
	if req.Only != nil {
		callOf(ctx).settle() // it does not look at all groups
	}
	answer, err := poll(ctx, h.polls, req.WaitS > 0, func(ctx context.Context, wait bool) (live.SyncAnswer, error) {
		if !wait {
			req.WaitS = 0 // acks may be repeated
		}
		req.OnWait = func() {
			callOf(ctx).leaveTurn()
			callOf(ctx).settle() // it may wait for long, and look again
		}
		return h.live.Sync(ctx, callerOf(ctx), req)
	})
	if err != nil {
		return nil, err
	}
	messages := make([][]chat.Message, len(answer.Groups))
	for i := range answer.Groups {
		messages[i] = answer.Groups[i].Messages
	}
	var senders []byte
	if answer.Inbox != nil {
		senders = h.profiles.InboxField(ctx, answer.Inbox.Items)
	}
	return &syncAnswer{answer, h.profiles.Fields(ctx, messages...), h.previews.Fields(ctx, messages...), senders}, nil
}

// SignalTyping serves POST /v1/groups/{group}/typing.
func (h syncHandlers) SignalTyping(ctx context.Context, r api.SignalTypingRequestObject) (api.SignalTypingResponseObject, error) {
	return api.SignalTyping204Response{}, h.live.Typing(ctx, callerOf(ctx), r.Group)
}

func (h syncHandlers) syncRequest(b *api.SyncRequest) (live.SyncRequest, error) {
	req := live.SyncRequest{Limit: limitOf(b.Limit), Typing: deref(b.Typing)}
	acks, err := wire.Positions("ack", deref(b.Ack))
	if err != nil {
		return req, err
	}
	req.Ack = make(map[string]chat.Position, len(acks))
	for group, raw := range acks {
		req.Ack[group] = chat.ReadPosition(raw)
	}
	if req.InboxAck, err = wire.Position("inbox_ack", b.InboxAck); err != nil {
		return req, err
	}
	if req.InboxAfter, err = wire.Position("inbox_after", b.InboxAfter); err != nil {
		return req, err
	}
	if req.After, err = wire.Positions("after", deref(b.After)); err != nil {
		return req, err
	}
	if req.Newest, err = wire.Newest(b.Start); err != nil {
		return req, err
	}
	if req.Only, err = wire.Groups("only", b.Only); err != nil {
		return req, err
	}
	switch {
	case deref(b.WaitS) < 0:
		return req, wire.ErrNegative("wait_s")
	case b.Limit != nil && *b.Limit < 1:
		return req, chat.Errorf(chat.CodeInvalid, "limit: want an integer from 1")
	}
	req.WaitS = int(h.polls.waitOf(b.WaitS) / time.Second)
	return req, nil
}
