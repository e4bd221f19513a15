package web

import (
	"context"

	"github.com/chatd/chatd/web/api"
)

// GetMe serves GET /v1/me.
func (s *Server) GetMe(ctx context.Context, _ api.GetMeRequestObject) (api.GetMeResponseObject, error) {
	by := callerOf(ctx)
	me := api.GetMe200JSONResponse{User: by.User}
	if by.Admin {
		role := api.Admin
		me.Role = &role
	}
	return me, nil
}
