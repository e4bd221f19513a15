package web

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/profiles"
	"github.com/chatd/chatd/chat/users"
	"github.com/chatd/chatd/web/api"
	"github.com/chatd/chatd/web/limit"
)

type userHandlers struct {
	users    *users.Service
	profiles *profiles.Service
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
	if err := callOf(ctx).charge(limit.Users(min(len(r.Body.Users), profiles.PutMax))); err != nil {
		return nil, err
	}
	match, err := versionMatch(r.Params.IfMatch)
	if err != nil {
		return nil, err
	}
	if match != nil && len(r.Body.Users) != 1 {
		return nil, chat.Invalid("If-Match: only for a single user")
	}
	changes := make([]profiles.UserChange, len(r.Body.Users))
	for i, u := range r.Body.Users {
		if changes[i], err = changeOf(u); err != nil {
			return nil, chat.Invalid("users[%d].%s", i, err.Error())
		}
	}
	done, refused, err := h.profiles.Put(ctx, callerOf(ctx), changes, match)
	return api.PutUsers200JSONResponse{Users: orEmpty(done), Errors: orEmpty(refused)}, err
}

// putUser changes one user.
func (h userHandlers) putUser(ctx context.Context, u api.UserChange) (profiles.Version, error) {
	if err := callOf(ctx).charge(limit.Users(1)); err != nil {
		return profiles.Version{}, err
	}
	change, err := changeOf(u)
	if err != nil {
		return profiles.Version{}, chat.Invalid("%s", err.Error())
	}
	done, refused, err := h.profiles.Put(ctx, callerOf(ctx), []profiles.UserChange{change}, nil)
	switch {
	case err != nil:
		return profiles.Version{}, err
	case len(refused) > 0:
		return profiles.Version{}, refused[0].Cause
	}
	return done[0], nil
}

func changeOf(u api.UserChange) (c profiles.UserChange, err error) {
	c = profiles.UserChange{User: u.User, Profile: profiles.Change{Name: u.Name, Picture: u.Picture, Data: u.Data}}
	c.Disabled, c.Operator, err = decisionOf(u)
	return c, err
}

// decisionOf is what a change decides about a user; null is nothing.
func decisionOf(u api.UserChange) (disabled, operator *bool, err error) {
	if u.Disabled != nil {
		disabled = new(bool)
		if json.Unmarshal(u.Disabled, disabled) != nil { // null leaves false
			return nil, nil, errors.New("disabled: want true, false or null")
		}
	}
	if u.Role != nil {
		var role string
		if json.Unmarshal(u.Role, &role) != nil || role != "" && role != profiles.RoleAdmin || string(u.Role) == `""` {
			return nil, nil, errors.New("role: want admin or null")
		}
		is := role == profiles.RoleAdmin
		operator = &is
	}
	return disabled, operator, nil
}

// ListUsers serves GET /v1/users.
func (h userHandlers) ListUsers(ctx context.Context, r api.ListUsersRequestObject) (api.ListUsersResponseObject, error) {
	if (r.Params.Ids == nil) == (r.Params.Q == nil) {
		return nil, chat.Invalid("ids, q: want one of them")
	}
	if r.Params.Q != nil {
		found, cursor, err := h.profiles.Find(ctx, callerOf(ctx), *r.Params.Q, limitOf(r.Params.Limit), deref(r.Params.Cursor))
		return api.ListUsers200JSONResponse{Users: orEmpty(found), Next: next(cursor)}, err
	}
	ids := strings.Split(*r.Params.Ids, ",")
	if err := callOf(ctx).charge(limit.Users(min(len(ids), profiles.IDsMax) / 10)); err != nil {
		return nil, err
	}
	found, err := h.profiles.Users(ctx, callerOf(ctx), ids)
	return api.ListUsers200JSONResponse{Users: orEmpty(found)}, err
}

// GetUser serves GET /v1/users/{user}.
func (h userHandlers) GetUser(ctx context.Context, r api.GetUserRequestObject) (api.GetUserResponseObject, error) {
	found, err := h.profiles.User(ctx, callerOf(ctx), r.User)
	if err != nil {
		return nil, err
	}
	answerTag(ctx, versionTag(found.Version))
	return api.GetUser200JSONResponse(found), nil
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
	return api.RevokeTokens204Response{}, h.users.Revoke(ctx, callerOf(ctx), user, before)
}

// DisconnectUser serves POST /v1/users/{user}/disconnect.
func (h userHandlers) DisconnectUser(ctx context.Context, r api.DisconnectUserRequestObject) (api.DisconnectUserResponseObject, error) {
	user, err := subject(ctx, r.User)
	if err != nil {
		return nil, err
	}
	return api.DisconnectUser204Response{}, h.users.Disconnect(ctx, callerOf(ctx), user)
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
