package web

import (
	"context"
	"encoding/json"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/presence"
	"github.com/chatd/chatd/chat/profiles"
	"github.com/chatd/chatd/web/api"
	"github.com/chatd/chatd/web/limit"
)

type presenceHandlers struct{ presence *presence.Service }

// GetPresence serves GET /v1/groups/{group}/presence.
func (h presenceHandlers) GetPresence(ctx context.Context, r api.GetPresenceRequestObject) (api.GetPresenceResponseObject, error) {
	p, err := h.presence.Of(ctx, callerOf(ctx), r.Group, limitOf(r.Params.Limit), deref(r.Params.Cursor))
	return api.GetPresence200JSONResponse{Online: p.Online, Users: orEmpty(p.Users), Next: next(p.Next)}, err
}

// ListPresence serves POST /v1/presence.
func (h presenceHandlers) ListPresence(ctx context.Context, r api.ListPresenceRequestObject) (api.ListPresenceResponseObject, error) {
	if err := callOf(ctx).charge(limit.Users(min(len(r.Body.Users), presence.UsersMax) / 20)); err != nil {
		return nil, err
	}
	users, err := h.presence.Among(ctx, callerOf(ctx), r.Body.Users)
	return api.ListPresence200JSONResponse{Users: orEmpty(users)}, err
}

// presenceOf is what a change of a profile says about presence.
func presenceOf(value json.RawMessage) (*profiles.Presence, error) {
	if len(value) == 0 {
		return nil, nil
	}
	var p profiles.Presence
	if json.Unmarshal(value, &p) != nil || p != profiles.PresenceShown && p != profiles.PresenceHidden {
		return nil, chat.Invalid("presence: want shown or hidden")
	}
	return &p, nil
}
