package web

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/exports"
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

type exportHandlers struct {
	groups  *exports.Service
	persons *person.Service
	polls   *polls
}

// ExportGroup serves GET /v1/groups/{group}/export.
func (h exportHandlers) ExportGroup(ctx context.Context, r api.ExportGroupRequestObject) (api.ExportGroupResponseObject, error) {
	log, err := h.groups.Group(ctx, callerOf(ctx), r.Group, deref(r.Params.After))
	if err != nil {
		return nil, err
	}
	first, err := log.Next(ctx)
	return &exportAnswer{h.polls, ctx, log, linesOf(first)}, err
}

// exportAnswer streams an export. A page is read when the client has taken the one before and there is room for it, and only the
// request's own place among the calls of its user is held meanwhile.
type exportAnswer struct {
	polls  *polls
	ctx    context.Context //nolint:containedctx // the generated code hands the answer nothing else of the request
	export *exports.Export
	lines  []byte // the next page
}

// VisitExportGroupResponse implements api.ExportGroupResponseObject.
func (a *exportAnswer) VisitExportGroupResponse(w http.ResponseWriter) error {
	w.Header().Set("Content-Type", "application/x-ndjson")
	w.Header().Set("Trailer", exportEnd)
	w.WriteHeader(http.StatusOK)
	for ; len(a.lines) > 0; a.lines = a.next() {
		if callOf(a.ctx).holds() != nil || writePart(w, a.lines) != nil || a.polls.draining() {
			panic(http.ErrAbortHandler) //nolint:forbidigo // the status is sent: only a cut connection says that this is not the end
		}
		a.lines = nil
	}
	if !a.export.Done() {
		panic(http.ErrAbortHandler) //nolint:forbidigo // as above
	}
	return endExport(w, a.export.End(), a.export.End())
}

// next reads the next page as soon as there is room; empty after an error, when the export is not done.
func (a *exportAnswer) next() []byte {
	if a.export.Done() || callOf(a.ctx).takeRoom(a.ctx, exports.PageBytes) != nil {
		return nil
	}
	page, _ := a.export.Next(a.ctx)
	return linesOf(page)
}

// linesOf joins entries. Nothing else of them stays in memory while the client takes them.
func linesOf(page []chat.Message) []byte {
	size := 0
	for _, m := range page {
		size += len(m.JSON) + 1
	}
	lines := make([]byte, 0, size)
	for _, m := range page {
		lines = append(append(lines, m.JSON...), '\n')
	}
	return lines
}

// writePart sends a part of a stream, however long the client takes as long as it goes on reading.
func writePart(w http.ResponseWriter, part []byte) error {
	renewDeadline(w)
	if _, err := w.Write(part); err != nil {
		return err
	}
	return http.NewResponseController(w).Flush()
}

// ExportMe serves GET /v1/me/export.
func (h exportHandlers) ExportMe(ctx context.Context, _ api.ExportMeRequestObject) (api.ExportMeResponseObject, error) {
	end, err := h.persons.Begin(callerOf(ctx))
	if err != nil {
		return nil, err
	}
	return personAnswer{h, ctx, end}, nil
}

// personAnswer streams everything about the caller. Nothing more is read before the client has taken what was read before and there
// is room for more.
type personAnswer struct {
	from exportHandlers
	ctx  context.Context //nolint:containedctx // as above
	end  func()
}

// VisitExportMeResponse implements api.ExportMeResponseObject.
func (a personAnswer) VisitExportMeResponse(w http.ResponseWriter) error {
	defer a.end()
	w.Header().Set("Content-Type", "application/x-ndjson")
	w.Header().Set("Trailer", exportEnd)
	wrote := false
	err := a.from.persons.Export(a.ctx, callerOf(a.ctx), func(records []person.Record) error {
		var lines bytes.Buffer
		encoder := json.NewEncoder(&lines)
		encoder.SetEscapeHTML(false)
		for _, record := range records {
			if err := encoder.Encode(record); err != nil {
				return err
			}
		}
		if a.from.polls.draining() {
			return chat.ErrUnavailable
		}
		if err := callOf(a.ctx).holds(); err != nil {
			return err
		}
		if lines.Len() == 0 {
			return nil
		}
		wrote = true
		if err := writePart(w, lines.Bytes()); err != nil {
			return err
		}
		return callOf(a.ctx).takeRoom(a.ctx, exports.PageBytes) // for what is read next
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
		if stall := stallOf(r.Writer); stall != nil {
			stall.until = time.Time{}
		}
	}
}
