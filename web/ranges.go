package web

import (
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/web/problem"
)

// byteRange is one range of RFC 9110 (14.1.2): digits, without signs and blanks.
var byteRange = regexp.MustCompile(`^(\d*)-(\d*)$`)

// positionMax is beyond the end of every file.
const positionMax = "9223372036854775807"

// rangeOf gives a Range header the form that net/http reads. RFC 9110 (14.1 and 14.2) has the names of units without case, and
// a unit that a server does not know ignored. A position may be larger than any number. What is no range, and a suffix of no
// bytes, cannot be satisfied; net/http takes signs, and would answer the latter with a range that ends before it begins.
func rangeOf(header string) string {
	unit, ranges, is := strings.Cut(header, "=")
	if !is || !strings.EqualFold(strings.TrimSpace(unit), "bytes") || strings.Contains(ranges, ",") {
		return "" // also of several ranges, as a server may: many small ones cost more than the whole
	}
	found := byteRange.FindStringSubmatch(strings.TrimSpace(ranges))
	if found == nil || found[1] == "" && strings.Trim(found[2], "0") == "" {
		return "bytes=" + positionMax + "-"
	}
	first, last := position(found[1]), position(found[2])
	if first != "" && last != "" && (len(first) > len(last) || len(first) == len(last) && first > last) {
		return "bytes=" + positionMax + "-" // net/http would not say how long the file is
	}
	return "bytes=" + first + "-" + last
}

// position bounds a position to what fits into an int64; "": there is none.
func position(digits string) string {
	if digits == "" {
		return ""
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		return positionMax
	}
	return strconv.FormatInt(n, 10)
}

// slowWriter lets a download take its time: a client has that of a whole answer for every piece. Where net/http refuses a range
// or a condition, it writes the problem that a handler would.
type slowWriter struct {
	*echo.Response
	call    *call
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
	if err := w.call.holds(); err != nil {
		return 0, err
	}
	renewDeadline(w.Response)
	return w.Response.Write(b)
}
