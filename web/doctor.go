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

type doctorHandlers struct {
	examine func(ctx context.Context) (DoctorReport, error)
}

// Examine serves GET /v1/doctor.
func (h doctorHandlers) Examine(ctx context.Context, _ api.ExamineRequestObject) (api.ExamineResponseObject, error) {
	report, err := h.examine(ctx)
	return api.Examine200JSONResponse(report), err
}
