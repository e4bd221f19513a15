package web

import (
	"context"
	"net/http"

	"github.com/chatd/chatd/chat/webhook"
	"github.com/chatd/chatd/web/api"
)

// CreateWebhook serves POST /v1/webhooks.
func (s *Server) CreateWebhook(ctx context.Context, r api.CreateWebhookRequestObject) (api.CreateWebhookResponseObject, error) {
	if r.Body == nil {
		return nil, errNoBody
	}
	draft := webhook.Draft{URL: r.Body.Url, Events: deref(r.Body.Events)}
	return s.keyed(ctx, "createWebhook", r.Params.IdempotencyKey, r.Body, http.StatusCreated, func(key string) (any, error) {
		draft.Key = key
		return s.webhooks.Create(ctx, callerOf(ctx), draft)
	})
}

// ListWebhooks serves GET /v1/webhooks.
func (s *Server) ListWebhooks(ctx context.Context, r api.ListWebhooksRequestObject) (api.ListWebhooksResponseObject, error) {
	list, err := s.webhooks.List(ctx, callerOf(ctx), limitOf(r.Params.Limit), deref(r.Params.Cursor))
	if err != nil {
		return nil, err
	}
	return api.ListWebhooks200JSONResponse{Webhooks: orEmpty(list.Items), Next: next(list.Next)}, nil
}

// GetWebhook serves GET /v1/webhooks/{webhook}.
func (s *Server) GetWebhook(ctx context.Context, r api.GetWebhookRequestObject) (api.GetWebhookResponseObject, error) {
	w, err := s.webhooks.Get(ctx, callerOf(ctx), r.Webhook)
	return api.GetWebhook200JSONResponse(w), err
}

// DeleteWebhook serves DELETE /v1/webhooks/{webhook}.
func (s *Server) DeleteWebhook(ctx context.Context, r api.DeleteWebhookRequestObject) (api.DeleteWebhookResponseObject, error) {
	return api.DeleteWebhook204Response{}, s.webhooks.Drop(ctx, callerOf(ctx), r.Webhook)
}

// RotateWebhook serves POST /v1/webhooks/{webhook}/rotate.
func (s *Server) RotateWebhook(ctx context.Context, r api.RotateWebhookRequestObject) (api.RotateWebhookResponseObject, error) {
	w, err := s.webhooks.Rotate(ctx, callerOf(ctx), r.Webhook)
	return api.RotateWebhook200JSONResponse(w), err
}
