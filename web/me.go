package web

import (
	"context"

	"github.com/chatd/chatd/web/api"
)

type meHandlers struct{}

// GetMe serves GET /v1/me.
func (meHandlers) GetMe(ctx context.Context, _ api.GetMeRequestObject) (api.GetMeResponseObject, error) {
	by := callerOf(ctx)
	me := api.GetMe200JSONResponse{User: by.User}
	if by.Admin {
		role := api.Admin
		me.Role = &role
	}
	return me, nil
}
