package web

import (
	"context"
	"encoding/json"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/users"
	"github.com/chatd/chatd/web/api"
	"github.com/chatd/chatd/web/limit"
)

type userHandlers struct {
	users *users.Service
}

// subject is the user whom a path is about. A key that acts for nobody is nobody's me.
func subject(ctx context.Context, user string) (string, error) {
	by := callerOf(ctx)
	if user == "me" && by.Program() {
		return "", chat.Errorf(chat.CodeInvalid, "Chatd-As: missing; what is asked for is a user's, and the key acts for nobody")
	}
	return userOf(user, by.User), nil
}

// PutUsers serves PUT /v1/users.
func (h userHandlers) PutUsers(ctx context.Context, r api.PutUsersRequestObject) (api.PutUsersResponseObject, error) {
	if err := callOf(ctx).charge(limit.Users(min(len(r.Body.Users), users.PutMax))); err != nil {
		return nil, err
	}
	changes := make([]users.Change, len(r.Body.Users))
	for i, u := range r.Body.Users {
		changes[i].User = u.User
		if u.Disabled == nil {
			continue
		}
		changes[i].Disabled = new(bool)
		if json.Unmarshal(u.Disabled, changes[i].Disabled) != nil { // null leaves false
			return nil, chat.Invalid("users[%d].disabled: want true, false or null", i)
		}
	}
	done, refused, err := h.users.Put(ctx, changes)
	return api.PutUsers200JSONResponse{Users: orEmpty(done), Errors: orEmpty(refused)}, err
}

// RevokeTokens serves POST /v1/users/{user}/revoke.
func (h userHandlers) RevokeTokens(ctx context.Context, r api.RevokeTokensRequestObject) (api.RevokeTokensResponseObject, error) {
	user, err := subject(ctx, r.User)
	if err != nil {
		return nil, err
	}
	var before *time.Time
	if r.Body != nil && r.Body.Before != nil {
		at, ok := chat.ParseTime(*r.Body.Before)
		if !ok {
			return nil, chat.Invalid("before: want a time as in RFC 3339")
		}
		before = &at
	}
	return api.RevokeTokens204Response{}, h.users.Revoke(ctx, user, before)
}

// DisconnectUser serves POST /v1/users/{user}/disconnect.
func (h userHandlers) DisconnectUser(ctx context.Context, r api.DisconnectUserRequestObject) (api.DisconnectUserResponseObject, error) {
	user, err := subject(ctx, r.User)
	if err != nil {
		return nil, err
	}
	return api.DisconnectUser204Response{}, h.users.Disconnect(ctx, user)
}

// ListSessions serves GET /v1/users/{user}/sessions.
func (h userHandlers) ListSessions(ctx context.Context, r api.ListSessionsRequestObject) (api.ListSessionsResponseObject, error) {
	user, err := subject(ctx, r.User)
	if err != nil {
		return nil, err
	}
	callOf(ctx).leaveTurn() // it waits for other nodes
	list, err := h.users.Sessions(ctx, user)
	return api.ListSessions200JSONResponse{Sessions: orEmpty(list)}, err
}
