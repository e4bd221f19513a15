package web

import (
	"context"

	"github.com/chatd/chatd/web/api"
)

// What operators see of the server of the store.
type (
	// DoctorReport is the result of checking the server and the queues.
	DoctorReport = api.DoctorReport
	// StoreServer is what is known of the server.
	StoreServer = api.StoreServer
	// Finding is a problem that a check has found.
	Finding = api.Finding
)

// Examine serves GET /v1/doctor.
func (s *Server) Examine(ctx context.Context, _ api.ExamineRequestObject) (api.ExamineResponseObject, error) {
	report, err := s.opt.Doctor(ctx)
	return api.Examine200JSONResponse(report), err
}
