package web

import (
	"context"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/stream"
	"github.com/chatd/chatd/web/api"
)

type streamHandlers struct {
	core    *chat.Service
	streams *stream.Service
}

// WriteStream serves PATCH /v1/groups/{group}/messages/{id}/stream.
func (h streamHandlers) WriteStream(ctx context.Context, r api.WriteStreamRequestObject) (api.WriteStreamResponseObject, error) {
	if r.Body.Done {
		ctx = asking(ctx, h.core, r.Group)
	}
	state, err := h.streams.Write(ctx, callerOf(ctx), r.Group, r.Id, *r.Body)
	return api.WriteStream200JSONResponse(state), err
}

// CancelStream serves POST /v1/groups/{group}/messages/{id}/stream/cancel.
func (h streamHandlers) CancelStream(ctx context.Context, r api.CancelStreamRequestObject) (api.CancelStreamResponseObject, error) {
	return api.CancelStream204Response{}, h.streams.Cancel(ctx, callerOf(ctx), r.Group, r.Id)
}
