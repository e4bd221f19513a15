package web

import (
	"context"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/web/api"
)

func (s *Server) ListDevices(_ context.Context, _ api.ListDevicesRequestObject) (api.ListDevicesResponseObject, error) {
	return nil, chat.ErrUnavailable
}

func (s *Server) DeleteDevice(_ context.Context, _ api.DeleteDeviceRequestObject) (api.DeleteDeviceResponseObject, error) {
	return nil, chat.ErrUnavailable
}

func (s *Server) GetDevice(_ context.Context, _ api.GetDeviceRequestObject) (api.GetDeviceResponseObject, error) {
	return nil, chat.ErrUnavailable
}

func (s *Server) PutDevice(_ context.Context, _ api.PutDeviceRequestObject) (api.PutDeviceResponseObject, error) {
	return nil, chat.ErrUnavailable
}

func (s *Server) GetNotify(_ context.Context, _ api.GetNotifyRequestObject) (api.GetNotifyResponseObject, error) {
	return nil, chat.ErrUnavailable
}

func (s *Server) PutNotify(_ context.Context, _ api.PutNotifyRequestObject) (api.PutNotifyResponseObject, error) {
	return nil, chat.ErrUnavailable
}

func (s *Server) GetPushKey(_ context.Context, _ api.GetPushKeyRequestObject) (api.GetPushKeyResponseObject, error) {
	return nil, chat.ErrUnavailable
}
