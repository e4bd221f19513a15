package web

import (
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/web/problem"
)

// rangeOf gives a Range header the form that net/http reads. RFC 9110 (14.1 and 14.2) has the names of units without case, and
// a unit that a server does not know ignored. A suffix of no bytes cannot be satisfied; net/http would answer with a range
// that ends before it begins.
func rangeOf(header string) string {
	unit, ranges, _ := strings.Cut(header, "=")
	if !strings.EqualFold(strings.TrimSpace(unit), "bytes") || strings.Contains(ranges, ",") {
		return "" // also of several ranges, as a server may: many small ones cost more than the whole
	}
	if zeros, suffix := strings.CutPrefix(strings.TrimSpace(ranges), "-"); suffix && zeros != "" && strings.Trim(zeros, "0") == "" {
		ranges = "9223372036854775807-" // beyond the end of every file
	}
	return "bytes=" + ranges
}

// slowWriter lets a download take its time: a client has that of a whole answer for every piece. Where net/http refuses a range
// or a condition, it writes the problem that a handler would.
type slowWriter struct {
	*echo.Response
	refused bool
}

func (w *slowWriter) WriteHeader(status int) {
	var e *chat.Error
	switch status {
	case http.StatusRequestedRangeNotSatisfiable:
		e = chat.Errorf(chat.CodeInvalid, "Range: not within the file")
	case http.StatusPreconditionFailed:
		e = chat.Errorf(chat.CodeConflict, "the file is not the one that the conditions of the request name")
	default:
		w.Response.WriteHeader(status)
		return
	}
	w.refused = true
	w.Header().Del("Content-Disposition")
	secure(w.Header())
	problem.Write(w.Response, status, e, "")
}

func (w *slowWriter) Write(b []byte) (int, error) {
	if w.refused {
		return len(b), nil // the text of net/http
	}
	renewDeadline(w.Response)
	return w.Response.Write(b)
}
