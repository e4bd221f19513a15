package web

import (
	"context"

	"github.com/chatd/chatd/chat/words"
	"github.com/chatd/chatd/web/api"
)

type wordHandlers struct {
	words *words.Service
}

// GetWords serves GET /v1/words.
func (h wordHandlers) GetWords(ctx context.Context, _ api.GetWordsRequestObject) (api.GetWordsResponseObject, error) {
	lists, err := h.words.Lists(ctx, callerOf(ctx))
	return api.GetWords200JSONResponse(lists), err
}

// PutWords serves PUT /v1/words.
func (h wordHandlers) PutWords(ctx context.Context, r api.PutWordsRequestObject) (api.PutWordsResponseObject, error) {
	lists, err := h.words.Replace(ctx, callerOf(ctx), words.Lists{Refuse: deref(r.Body.Refuse), Mask: deref(r.Body.Mask), Review: deref(r.Body.Review)})
	return api.PutWords200JSONResponse(lists), err
}

// GetGroupWords serves GET /v1/groups/{group}/words.
func (h wordHandlers) GetGroupWords(ctx context.Context, r api.GetGroupWordsRequestObject) (api.GetGroupWordsResponseObject, error) {
	lists, err := h.words.OfGroup(ctx, callerOf(ctx), r.Group)
	return api.GetGroupWords200JSONResponse(lists), err
}

// PutGroupWords serves PUT /v1/groups/{group}/words.
func (h wordHandlers) PutGroupWords(ctx context.Context, r api.PutGroupWordsRequestObject) (api.PutGroupWordsResponseObject, error) {
	lists, err := h.words.ReplaceOfGroup(ctx, callerOf(ctx), r.Group, words.Lists{Refuse: deref(r.Body.Refuse), Mask: deref(r.Body.Mask), Review: deref(r.Body.Review)})
	return api.PutGroupWords200JSONResponse(lists), err
}
