package web

import (
	"context"
	"net/http"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/webhook"
	"github.com/chatd/chatd/web/api"
)

type webhookHandlers struct {
	core     *chat.Service
	webhooks *webhook.Service
}

// CreateWebhook serves POST /v1/webhooks.
func (h webhookHandlers) CreateWebhook(ctx context.Context, r api.CreateWebhookRequestObject) (api.CreateWebhookResponseObject, error) {
	draft := webhook.Draft{URL: r.Body.Url, Events: deref(r.Body.Events)}
	return keyedSecret(ctx, h.core, "createWebhook", r.Params.IdempotencyKey, r.Body, http.StatusCreated, func(key string) (any, any, error) {
		draft.Key = key
		w, err := h.webhooks.Create(ctx, callerOf(ctx), draft)
		return withoutSecret(w, err)
	})
}

// withoutSecret divides what is kept of an answer from the secret in it.
func withoutSecret(w webhook.View, err error) (made, secret any, _ error) {
	once := struct {
		Secret string `json:"secret,omitempty"`
	}{w.Secret}
	w.Secret = ""
	return w, once, err
}

// ListWebhooks serves GET /v1/webhooks.
func (h webhookHandlers) ListWebhooks(ctx context.Context, r api.ListWebhooksRequestObject) (api.ListWebhooksResponseObject, error) {
	list, err := h.webhooks.List(ctx, callerOf(ctx), limitOf(r.Params.Limit), deref(r.Params.Cursor))
	return api.ListWebhooks200JSONResponse{Webhooks: orEmpty(list.Items), Next: next(list.Next)}, err
}

// GetWebhook serves GET /v1/webhooks/{webhook}.
func (h webhookHandlers) GetWebhook(ctx context.Context, r api.GetWebhookRequestObject) (api.GetWebhookResponseObject, error) {
	w, err := h.webhooks.Get(ctx, callerOf(ctx), r.Webhook)
	return api.GetWebhook200JSONResponse(w), err
}

// DeleteWebhook serves DELETE /v1/webhooks/{webhook}.
func (h webhookHandlers) DeleteWebhook(ctx context.Context, r api.DeleteWebhookRequestObject) (api.DeleteWebhookResponseObject, error) {
	return api.DeleteWebhook204Response{}, h.webhooks.Drop(ctx, callerOf(ctx), r.Webhook)
}

// RotateWebhook serves POST /v1/webhooks/{webhook}/rotate.
func (h webhookHandlers) RotateWebhook(ctx context.Context, r api.RotateWebhookRequestObject) (api.RotateWebhookResponseObject, error) {
	return keyedSecret(ctx, h.core, "rotateWebhook", r.Params.IdempotencyKey, r.Webhook, http.StatusOK, func(string) (any, any, error) {
		w, err := h.webhooks.Rotate(ctx, callerOf(ctx), r.Webhook)
		return withoutSecret(w, err)
	})
}

// TestWebhook serves POST /v1/webhooks/{webhook}/test.
func (h webhookHandlers) TestWebhook(ctx context.Context, r api.TestWebhookRequestObject) (api.TestWebhookResponseObject, error) {
	done, err := h.webhooks.Test(ctx, callerOf(ctx), r.Webhook)
	shown := api.TestWebhook200JSONResponse{Delivered: done.Delivered, Error: given(done.Error), TookMs: done.Took.Milliseconds()}
	if done.Status != 0 {
		shown.Status = new(int64(done.Status))
	}
	return shown, err
}
