package web

import (
	"context"

	"github.com/chatd/chatd/chat/accounts"
	"github.com/chatd/chatd/chat/erase"
	"github.com/chatd/chatd/chat/users"
	"github.com/chatd/chatd/web/api"
)

type erasureHandlers struct {
	erasures *erase.Service
	users    *users.Service
	accounts *accounts.Service // nil: there are none
}

// EraseMe serves DELETE /v1/me.
func (h erasureHandlers) EraseMe(ctx context.Context, _ api.EraseMeRequestObject) (api.EraseMeResponseObject, error) {
	e, err := h.begin(ctx, callerOf(ctx).User)
	return api.EraseMe202JSONResponse(begun(e)), err
}

// EraseUser serves DELETE /v1/users/{user}.
func (h erasureHandlers) EraseUser(ctx context.Context, r api.EraseUserRequestObject) (api.EraseUserResponseObject, error) {
	e, err := h.begin(ctx, r.User)
	return api.EraseUser202JSONResponse(begun(e)), err
}

// begin begins an erasure, takes the role of an operator from the user, and signs them out.
func (h erasureHandlers) begin(ctx context.Context, user string) (erase.Erasure, error) {
	e, err := h.erasures.Begin(ctx, callerOf(ctx), user)
	if err != nil {
		return e, err
	}
	operator := false
	if _, err = h.users.Decide(ctx, callerOf(ctx), user, nil, &operator); err == nil && h.accounts != nil {
		err = h.accounts.EndOthers(ctx, user, "")
	}
	return e, err
}

func begun(e erase.Erasure) api.ErasureBegun { return api.ErasureBegun{Id: e.ID, State: e.State} }

// GetErasure serves GET /v1/erasures/{erasure}.
func (h erasureHandlers) GetErasure(ctx context.Context, r api.GetErasureRequestObject) (api.GetErasureResponseObject, error) {
	e, err := h.erasures.Get(ctx, callerOf(ctx), r.Erasure)
	e.Held = orEmpty(e.Held)
	return api.GetErasure200JSONResponse(e), err
}
