package web

import (
	"context"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/web/api"
)

func (s *Server) ListAnnouncements(_ context.Context, _ api.ListAnnouncementsRequestObject) (api.ListAnnouncementsResponseObject, error) {
	return nil, chat.ErrUnavailable
}

func (s *Server) CreateAnnouncement(_ context.Context, _ api.CreateAnnouncementRequestObject) (api.CreateAnnouncementResponseObject, error) {
	return nil, chat.ErrUnavailable
}

func (s *Server) CancelAnnouncement(_ context.Context, _ api.CancelAnnouncementRequestObject) (api.CancelAnnouncementResponseObject, error) {
	return nil, chat.ErrUnavailable
}

func (s *Server) GetAnnouncement(_ context.Context, _ api.GetAnnouncementRequestObject) (api.GetAnnouncementResponseObject, error) {
	return nil, chat.ErrUnavailable
}
