package web

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/person"
	"github.com/chatd/chatd/web/api"
)

// exportEnd is the trailer of an export, for clients that read it: many proxies drop trailers.
const exportEnd = "Chatd-Export-End"

// endExport writes the last line of an export and the trailer. An answer without that line was cut off, and
// nothing else says so everywhere: nginx, for one, drops trailers, and asks servers by HTTP/1.0, in which an answer that
// was broken off looks like a whole one.
func endExport(w http.ResponseWriter, line any, trailer string) error {
	end, err := json.Marshal(struct {
		End any `json:"end"`
	}{line})
	if err != nil {
		return err
	}
	renewDeadline(w)
	if _, err := w.Write(append(end, '\n')); err != nil {
		panic(http.ErrAbortHandler) //nolint:forbidigo // the status is sent: only a cut connection says that this is not the end
	}
	w.Header().Set(exportEnd, trailer)
	return nil
}

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
	for page := a.page; len(page) > 0; page, _ = a.export.Next(a.ctx) { // after an error the export is not done
		lines.Reset()
		for _, m := range page {
			lines.Write(m.JSON)
			lines.WriteByte('\n')
		}
		renewDeadline(w)
		_, err := w.Write(lines.Bytes())
		if err == nil {
			err = http.NewResponseController(w).Flush()
		}
		if err != nil || a.server.draining() {
			panic(http.ErrAbortHandler) //nolint:forbidigo // the status is sent: only a cut connection says that this is not the end
		}
	}
	if !a.export.Done() {
		panic(http.ErrAbortHandler) //nolint:forbidigo // as above
	}
	return endExport(w, a.export.End(), a.export.End())
}

// ExportMe serves GET /v1/me/export.
func (s *Server) ExportMe(ctx context.Context, _ api.ExportMeRequestObject) (api.ExportMeResponseObject, error) {
	end, err := s.persons.Begin(callerOf(ctx))
	if err != nil {
		return nil, err
	}
	return personAnswer{s, ctx, end}, nil
}

// personAnswer streams everything about the caller. Nothing more is read before the client has taken what was read before.
type personAnswer struct {
	server *Server
	ctx    context.Context //nolint:containedctx // as above
	end    func()
}

// VisitExportMeResponse implements api.ExportMeResponseObject.
func (a personAnswer) VisitExportMeResponse(w http.ResponseWriter) error {
	defer a.end()
	w.Header().Set("Content-Type", "application/x-ndjson")
	w.Header().Set("Trailer", exportEnd)
	var lines bytes.Buffer
	encoder := json.NewEncoder(&lines)
	encoder.SetEscapeHTML(false)
	wrote := false
	err := a.server.persons.Export(a.ctx, callerOf(a.ctx), func(records []person.Record) error {
		lines.Reset()
		for _, record := range records {
			if err := encoder.Encode(record); err != nil {
				return err
			}
		}
		if a.server.draining() {
			return chat.ErrUnavailable
		}
		if lines.Len() == 0 {
			return nil
		}
		renewDeadline(w)
		wrote = true
		if _, err := w.Write(lines.Bytes()); err != nil {
			return err
		}
		return http.NewResponseController(w).Flush()
	})
	switch {
	case err != nil && !wrote:
		w.Header().Del("Trailer")
		return err
	case err != nil:
		panic(http.ErrAbortHandler) //nolint:forbidigo // as above
	}
	return endExport(w, true, "complete")
}

// renewDeadline lets an answer take its time as long as the client takes every page of it within the deadline of a whole answer.
func renewDeadline(w http.ResponseWriter) {
	if r, ok := w.(*echo.Response); ok {
		if stall, ok := r.Writer.(*stallWriter); ok {
			stall.until = time.Time{}
		}
	}
}
