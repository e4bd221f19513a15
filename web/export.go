package web

import (
	"bytes"
	"context"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/web/api"
)

// exportEnd is the trailer of an export: the cursor of its end. An answer without it was cut off.
const exportEnd = "Chatd-Export-End"

// ExportGroup serves GET /v1/groups/{group}/export.
func (s *Server) ExportGroup(ctx context.Context, r api.ExportGroupRequestObject) (api.ExportGroupResponseObject, error) {
	export, err := s.service.Export(ctx, callerOf(ctx), r.Group, deref(r.Params.After))
	if err != nil {
		return nil, err
	}
	first, err := export.Next(ctx)
	return exportAnswer{s, ctx, export, first}, err
}

// exportAnswer streams an export. Nothing is read before the client has taken what was read before, and only the request's own
// place among the calls of its user is held meanwhile.
type exportAnswer struct {
	server *Server
	ctx    context.Context //nolint:containedctx // the generated code hands the answer nothing else of the request
	export *chat.Export
	page   []chat.Message
}

// VisitExportGroupResponse implements api.ExportGroupResponseObject.
func (a exportAnswer) VisitExportGroupResponse(w http.ResponseWriter) error {
	w.Header().Set("Content-Type", "application/x-ndjson")
	w.Header().Set("Trailer", exportEnd)
	w.WriteHeader(http.StatusOK)
	var lines bytes.Buffer
	for page, err := a.page, error(nil); len(page) > 0; page, err = a.export.Next(a.ctx) {
		lines.Reset()
		for _, m := range page {
			lines.Write(m.JSON)
			lines.WriteByte('\n')
		}
		renewDeadline(w)
		if _, err = w.Write(lines.Bytes()); err == nil {
			err = http.NewResponseController(w).Flush()
		}
		if err != nil || a.server.draining() {
			panic(http.ErrAbortHandler) //nolint:forbidigo // the status is sent: only a cut connection says that this is not the end
		}
	}
	if !a.export.Done() {
		panic(http.ErrAbortHandler) //nolint:forbidigo // as above
	}
	w.Header().Set(exportEnd, a.export.End())
	return nil
}

// renewDeadline lets an answer take its time as long as the client takes every page of it within the deadline of a whole answer.
func renewDeadline(w http.ResponseWriter) {
	if r, ok := w.(*echo.Response); ok {
		if stall, ok := r.Writer.(*stallWriter); ok {
			stall.until = time.Time{}
		}
	}
}
