package web

import (
	"context"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/web/api"
)

func (s *Server) ListSchedules(_ context.Context, _ api.ListSchedulesRequestObject) (api.ListSchedulesResponseObject, error) {
	return nil, chat.ErrUnavailable
}

func (s *Server) CreateSchedule(_ context.Context, _ api.CreateScheduleRequestObject) (api.CreateScheduleResponseObject, error) {
	return nil, chat.ErrUnavailable
}

func (s *Server) CancelSchedule(_ context.Context, _ api.CancelScheduleRequestObject) (api.CancelScheduleResponseObject, error) {
	return nil, chat.ErrUnavailable
}

func (s *Server) GetSchedule(_ context.Context, _ api.GetScheduleRequestObject) (api.GetScheduleResponseObject, error) {
	return nil, chat.ErrUnavailable
}

func (s *Server) UpdateSchedule(_ context.Context, _ api.UpdateScheduleRequestObject) (api.UpdateScheduleResponseObject, error) {
	return nil, chat.ErrUnavailable
}

func (s *Server) RunSchedule(_ context.Context, _ api.RunScheduleRequestObject) (api.RunScheduleResponseObject, error) {
	return nil, chat.ErrUnavailable
}
