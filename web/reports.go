package web

import (
	"context"

	"github.com/chatd/chatd/chat/reports"
	"github.com/chatd/chatd/web/api"
)

type reportHandlers struct{ reports *reports.Service }

// CreateReport serves POST /v1/groups/{group}/messages/{id}/reports.
func (h reportHandlers) CreateReport(ctx context.Context, r api.CreateReportRequestObject) (api.CreateReportResponseObject, error) {
	report, created, err := h.reports.Put(ctx, callerOf(ctx), r.Group, r.Id, reports.Draft{Reason: r.Body.Reason, Note: r.Body.Note})
	if created {
		return api.CreateReport201JSONResponse(report), err
	}
	return api.CreateReport200JSONResponse(report), err
}

// ListGroupReports serves GET /v1/groups/{group}/reports.
func (h reportHandlers) ListGroupReports(ctx context.Context, r api.ListGroupReportsRequestObject) (api.ListGroupReportsResponseObject, error) {
	list, err := h.reports.OfGroup(ctx, callerOf(ctx), r.Group, limitOf(r.Params.Limit), deref(r.Params.Cursor))
	return api.ListGroupReports200JSONResponse{Reports: orEmpty(list.Items), Next: next(list.Next)}, err
}

// ListReports serves GET /v1/reports.
func (h reportHandlers) ListReports(ctx context.Context, r api.ListReportsRequestObject) (api.ListReportsResponseObject, error) {
	list, err := h.reports.All(ctx, callerOf(ctx), limitOf(r.Params.Limit), deref(r.Params.Cursor))
	return api.ListReports200JSONResponse{Reports: orEmpty(list.Items), Next: next(list.Next)}, err
}

// DecideReport serves POST /v1/reports/{report}.
func (h reportHandlers) DecideReport(ctx context.Context, r api.DecideReportRequestObject) (api.DecideReportResponseObject, error) {
	return api.DecideReport204Response{}, h.reports.Decide(ctx, callerOf(ctx), r.Report, reports.Decision{Action: r.Body.Action, Until: r.Body.Until})
}
