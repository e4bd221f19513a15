package web

import (
	"context"

	"github.com/chatd/chatd/chat/blocks"
	"github.com/chatd/chatd/web/api"
)

type blockHandlers struct{ blocks *blocks.Service }

// ListBlocks serves GET /v1/blocks.
func (h blockHandlers) ListBlocks(ctx context.Context, r api.ListBlocksRequestObject) (api.ListBlocksResponseObject, error) {
	list, err := h.blocks.List(ctx, callerOf(ctx), limitOf(r.Params.Limit), deref(r.Params.Cursor))
	return api.ListBlocks200JSONResponse{Blocks: orEmpty(list.Items), Next: next(list.Next)}, err
}

// PutBlock serves PUT /v1/blocks/{user}.
func (h blockHandlers) PutBlock(ctx context.Context, r api.PutBlockRequestObject) (api.PutBlockResponseObject, error) {
	block, created, err := h.blocks.Put(ctx, callerOf(ctx), r.User)
	if created {
		return api.PutBlock201JSONResponse(block), err
	}
	return api.PutBlock200JSONResponse(block), err
}

// GetBlock serves GET /v1/blocks/{user}.
func (h blockHandlers) GetBlock(ctx context.Context, r api.GetBlockRequestObject) (api.GetBlockResponseObject, error) {
	block, err := h.blocks.Get(ctx, callerOf(ctx), r.User)
	return api.GetBlock200JSONResponse(block), err
}

// DeleteBlock serves DELETE /v1/blocks/{user}.
func (h blockHandlers) DeleteBlock(ctx context.Context, r api.DeleteBlockRequestObject) (api.DeleteBlockResponseObject, error) {
	return api.DeleteBlock204Response{}, h.blocks.Drop(ctx, callerOf(ctx), r.User)
}
