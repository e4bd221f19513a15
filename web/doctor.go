package web

import (
	"context"

	"github.com/chatd/chatd/chat/health"
	"github.com/chatd/chatd/web/api"
)

type doctorHandlers struct {
	doctor   Doctor
	health   *health.Service
	settings api.Settings
}

// Examine serves GET /v1/doctor.
func (h doctorHandlers) Examine(ctx context.Context, _ api.ExamineRequestObject) (api.ExamineResponseObject, error) {
	report, err := h.doctor.Check(ctx)
	return api.Examine200JSONResponse(report), err
}

// BeginExamination serves POST /v1/doctor.
func (h doctorHandlers) BeginExamination(ctx context.Context, r api.BeginExaminationRequestObject) (api.BeginExaminationResponseObject, error) {
	run, err := h.doctor.Begin(ctx, r.Body.Repair)
	return api.BeginExamination202JSONResponse(run), err
}

// GetExamination serves GET /v1/doctor/run.
func (h doctorHandlers) GetExamination(ctx context.Context, _ api.GetExaminationRequestObject) (api.GetExaminationResponseObject, error) {
	run, err := h.doctor.Latest(ctx)
	return api.GetExamination200JSONResponse(run), err
}

// StopExamination serves DELETE /v1/doctor/run.
func (h doctorHandlers) StopExamination(ctx context.Context, _ api.StopExaminationRequestObject) (api.StopExaminationResponseObject, error) {
	return api.StopExamination204Response{}, h.doctor.Stop(ctx)
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
	return api.ListSettings200JSONResponse(h.settings), nil
}
