package web

import (
	"context"

	"github.com/chatd/chatd/chat/drafts"
	"github.com/chatd/chatd/web/api"
)

type draftHandlers struct{ drafts *drafts.Service }

// PutDraft serves PUT /v1/groups/{group}/draft.
func (h draftHandlers) PutDraft(ctx context.Context, r api.PutDraftRequestObject) (api.PutDraftResponseObject, error) {
	d, err := h.drafts.Put(ctx, callerOf(ctx), r.Group, *r.Body)
	return api.PutDraft200JSONResponse(d), err
}

// ListDrafts serves GET /v1/drafts.
func (h draftHandlers) ListDrafts(ctx context.Context, r api.ListDraftsRequestObject) (api.ListDraftsResponseObject, error) {
	list, err := h.drafts.List(ctx, callerOf(ctx), limitOf(r.Params.Limit), deref(r.Params.Cursor))
	return api.ListDrafts200JSONResponse{Drafts: orEmpty(list.Items), Next: next(list.Next)}, err
}

// GetDraft serves GET /v1/groups/{group}/draft.
func (h draftHandlers) GetDraft(ctx context.Context, r api.GetDraftRequestObject) (api.GetDraftResponseObject, error) {
	d, err := h.drafts.Get(ctx, callerOf(ctx), r.Group)
	return api.GetDraft200JSONResponse(d), err
}

// DeleteDraft serves DELETE /v1/groups/{group}/draft.
func (h draftHandlers) DeleteDraft(ctx context.Context, r api.DeleteDraftRequestObject) (api.DeleteDraftResponseObject, error) {
	return api.DeleteDraft204Response{}, h.drafts.Drop(ctx, callerOf(ctx), r.Group)
}
