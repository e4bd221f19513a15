package web

import (
	"context"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/web/api"
)

func (s *Server) ListWebhooks(_ context.Context, _ api.ListWebhooksRequestObject) (api.ListWebhooksResponseObject, error) {
	return nil, chat.ErrUnavailable
}

func (s *Server) CreateWebhook(_ context.Context, _ api.CreateWebhookRequestObject) (api.CreateWebhookResponseObject, error) {
	return nil, chat.ErrUnavailable
}

func (s *Server) GetWebhook(_ context.Context, _ api.GetWebhookRequestObject) (api.GetWebhookResponseObject, error) {
	return nil, chat.ErrUnavailable
}

func (s *Server) DeleteWebhook(_ context.Context, _ api.DeleteWebhookRequestObject) (api.DeleteWebhookResponseObject, error) {
	return nil, chat.ErrUnavailable
}

func (s *Server) RotateWebhook(_ context.Context, _ api.RotateWebhookRequestObject) (api.RotateWebhookResponseObject, error) {
	return nil, chat.ErrUnavailable
}
