package web

import (
	"context"

	"github.com/chatd/chatd/web/api"
)

type doctorHandlers struct {
	examine func(ctx context.Context) (api.DoctorReport, error)
}

// Examine serves GET /v1/doctor.
func (h doctorHandlers) Examine(ctx context.Context, _ api.ExamineRequestObject) (api.ExamineResponseObject, error) {
	report, err := h.examine(ctx)
	return api.Examine200JSONResponse(report), err
}
