package web

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/hook"
	"github.com/chatd/chatd/web/api"
)

type hookHandlers struct {
	core  *chat.Service
	hooks *hook.Service
}

// CreateHook serves POST /v1/hooks.
func (h hookHandlers) CreateHook(ctx context.Context, r api.CreateHookRequestObject) (api.CreateHookResponseObject, error) {
	draft, err := json.Marshal(r.Body)
	if err != nil {
		return nil, err
	}
	return keyedSecret(ctx, h.core, "createHook", r.Params.IdempotencyKey, r.Body, http.StatusCreated, func(key string) (any, any, error) {
		made, err := h.hooks.Create(ctx, callerOf(ctx), draft, key)
		once := struct {
			Secret string `json:"secret,omitempty"`
		}{made.Secret}
		made.Secret = ""
		return made, once, err
	})
}

// ListHooks serves GET /v1/hooks.
func (h hookHandlers) ListHooks(ctx context.Context, _ api.ListHooksRequestObject) (api.ListHooksResponseObject, error) {
	list, err := h.hooks.List(callerOf(ctx))
	return api.ListHooks200JSONResponse{Hooks: orEmpty(list)}, err
}

// GetHook serves GET /v1/hooks/{hook}.
func (h hookHandlers) GetHook(ctx context.Context, r api.GetHookRequestObject) (api.GetHookResponseObject, error) {
	v, err := h.hooks.Get(ctx, callerOf(ctx), r.Hook)
	return api.GetHook200JSONResponse(v), err
}

// UpdateHook serves PATCH /v1/hooks/{hook}.
func (h hookHandlers) UpdateHook(ctx context.Context, r api.UpdateHookRequestObject) (api.UpdateHookResponseObject, error) {
	patch, err := json.Marshal(r.Body)
	if err != nil {
		return nil, err
	}
	if string(r.Body.Url) == "null" {
		return nil, chat.Invalid("url: must not be null")
	}
	v, err := h.hooks.Change(ctx, callerOf(ctx), r.Hook, patch)
	return api.UpdateHook200JSONResponse(v), err
}

// DeleteHook serves DELETE /v1/hooks/{hook}.
func (h hookHandlers) DeleteHook(ctx context.Context, r api.DeleteHookRequestObject) (api.DeleteHookResponseObject, error) {
	return api.DeleteHook204Response{}, h.hooks.Delete(ctx, callerOf(ctx), r.Hook)
}
