package web

import (
	"context"

	"github.com/chatd/chatd/chat/audit"
	"github.com/chatd/chatd/web/api"
)

type auditHandlers struct{ audit *audit.Service }

// ListAudit serves GET /v1/audit.
func (h auditHandlers) ListAudit(ctx context.Context, r api.ListAuditRequestObject) (api.ListAuditResponseObject, error) {
	p := r.Params
	list, err := h.audit.List(ctx, callerOf(ctx), audit.Query{User: deref(p.User), Group: deref(p.Group), Action: audit.Action(deref(p.Action)),
		Limit: limitOf(p.Limit), Cursor: deref(p.Cursor)})
	return api.ListAudit200JSONResponse{Entries: orEmpty(list.Items), Next: next(list.Next)}, err
}
