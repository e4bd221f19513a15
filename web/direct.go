package web

import (
	"context"

	"github.com/chatd/chatd/chat/direct"
	"github.com/chatd/chatd/web/api"
)

type directHandlers struct{ direct *direct.Service }

// PutDirect serves PUT /v1/direct/{user}.
func (h directHandlers) PutDirect(ctx context.Context, r api.PutDirectRequestObject) (api.PutDirectResponseObject, error) {
	group, created, err := h.direct.Put(ctx, callerOf(ctx), r.User)
	if created {
		return api.PutDirect201JSONResponse(group), err
	}
	return api.PutDirect200JSONResponse(group), err
}
