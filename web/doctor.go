package web

import (
	"context"

	"github.com/chatd/chatd/chat/health"
	"github.com/chatd/chatd/web/api"
)

type doctorHandlers struct {
	examine  func(ctx context.Context) (api.DoctorReport, error)
	health   *health.Service
	settings func() api.Settings
}

// Examine serves GET /v1/doctor.
func (h doctorHandlers) Examine(ctx context.Context, _ api.ExamineRequestObject) (api.ExamineResponseObject, error) {
	report, err := h.examine(ctx)
	return api.Examine200JSONResponse(report), err
}

// ListProblems serves GET /v1/problems.
func (h doctorHandlers) ListProblems(ctx context.Context, _ api.ListProblemsRequestObject) (api.ListProblemsResponseObject, error) {
	problems, err := h.health.Problems(ctx, callerOf(ctx))
	return api.ListProblems200JSONResponse{Problems: orEmpty(problems)}, err
}

// GetStats serves GET /v1/stats.
func (h doctorHandlers) GetStats(ctx context.Context, _ api.GetStatsRequestObject) (api.GetStatsResponseObject, error) {
	stats, err := h.health.Stats(ctx, callerOf(ctx))
	return api.GetStats200JSONResponse(stats), err
}

// ListSettings serves GET /v1/settings.
func (h doctorHandlers) ListSettings(context.Context, api.ListSettingsRequestObject) (api.ListSettingsResponseObject, error) {
	return api.ListSettings200JSONResponse(h.settings()), nil
}
