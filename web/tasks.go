package web

import (
	"context"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/web/api"
)

func (s *Server) ListTasks(_ context.Context, _ api.ListTasksRequestObject) (api.ListTasksResponseObject, error) {
	return nil, chat.ErrUnavailable
}

func (s *Server) ListQueues(_ context.Context, _ api.ListQueuesRequestObject) (api.ListQueuesResponseObject, error) {
	return nil, chat.ErrUnavailable
}

func (s *Server) PauseQueue(_ context.Context, _ api.PauseQueueRequestObject) (api.PauseQueueResponseObject, error) {
	return nil, chat.ErrUnavailable
}

func (s *Server) ResumeQueue(_ context.Context, _ api.ResumeQueueRequestObject) (api.ResumeQueueResponseObject, error) {
	return nil, chat.ErrUnavailable
}

func (s *Server) DeleteTask(_ context.Context, _ api.DeleteTaskRequestObject) (api.DeleteTaskResponseObject, error) {
	return nil, chat.ErrUnavailable
}

func (s *Server) GetTask(_ context.Context, _ api.GetTaskRequestObject) (api.GetTaskResponseObject, error) {
	return nil, chat.ErrUnavailable
}

func (s *Server) RetryTask(_ context.Context, _ api.RetryTaskRequestObject) (api.RetryTaskResponseObject, error) {
	return nil, chat.ErrUnavailable
}
