// Package problem says what clients get of an error: its code and its text, as application/problem+json (RFC 9457) over HTTP
// and as an error frame over the websocket. What is of the inside stays there.
package problem

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/web/api"
)

const mimeType = "application/problem+json"

// Status is the HTTP status of each code, as the wire contract fixes it.
func Status(code chat.Code) int {
	switch code {
	case chat.CodeInvalid, chat.CodeOutOfRange:
		return http.StatusBadRequest
	case chat.CodeUnauthenticated:
		return http.StatusUnauthorized
	case chat.CodeForbidden, chat.CodeMuted, chat.CodeBanned, chat.CodeBlocked:
		return http.StatusForbidden
	case chat.CodeNotFound:
		return http.StatusNotFound
	case chat.CodeExists, chat.CodeKeyReused, chat.CodeConflict:
		return http.StatusConflict
	case chat.CodeGone:
		return http.StatusGone
	case chat.CodeTooLarge:
		return http.StatusRequestEntityTooLarge
	case chat.CodeRefused:
		return http.StatusUnprocessableEntity
	case chat.CodeRateLimited, chat.CodeInboxFull, chat.CodeBacklogFull, chat.CodeQuotaFull:
		return http.StatusTooManyRequests
	case chat.CodeUnavailable:
		return http.StatusServiceUnavailable
	default:
		return http.StatusInternalServerError
	}
}

const notAvailable = "not available at the moment; nothing was done, or the retry key makes a retry safe"

// Public is what a client may know of err. An error of the domain says itself what is wrong; one of the inside, and any other
// error, becomes internal or unavailable with a text of ours.
func Public(err error) *chat.Error {
	var e *chat.Error
	if !errors.As(err, &e) {
		e = &chat.Error{Code: chat.CodeInternal}
		if errors.Is(err, context.DeadlineExceeded) {
			e = &chat.Error{Code: chat.CodeUnavailable, RetryAfter: chat.ErrUnavailable.RetryAfter}
		}
	}
	switch Status(e.Code) {
	case http.StatusInternalServerError:
		return chat.Errorf(chat.CodeInternal, "internal error: see the server's log")
	case http.StatusServiceUnavailable:
		return &chat.Error{Code: e.Code, Message: cmp.Or(e.Advice, notAvailable), RetryAfter: e.RetryAfter}
	}
	return e
}

// Write answers a request with an error that is public. The status is that of its code but where HTTP has a better one;
// requestID is what the log knows the request by, or empty.
func Write(w http.ResponseWriter, status int, e *chat.Error, requestID string) {
	p := api.Problem{Type: "about:blank", Title: cmp.Or(http.StatusText(status), "Checksum Mismatch"), Status: status, Code: e.Code, Detail: e.Message}
	if len(e.Blockers) > 0 {
		p.Blockers = &e.Blockers
	}
	if e.Ends() {
		p.Until = chat.Encode(e.Until)
	}
	p.Length = e.Length
	if e.Code == chat.CodeRefused {
		p.Reason = chat.Encode(given(e.Reason))
	}
	if requestID != "" {
		p.RequestId = &requestID
	}
	body, err := json.Marshal(p)
	if err != nil {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	header := w.Header()
	switch status {
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		header.Set("Retry-After", retryAfter(e.RetryAfter))
	case http.StatusUnauthorized:
		header.Set("WWW-Authenticate", "Bearer")
	case http.StatusRequestEntityTooLarge:
		header.Set("Connection", "close")
	}
	header.Set("Content-Type", mimeType)
	w.WriteHeader(status)
	_, _ = w.Write(append(body, '\n'))
}

// given is nil where there is no text.
func given(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// retryAfter writes whole seconds, at least one: zero would make clients hammer.
func retryAfter(d time.Duration) string {
	return strconv.Itoa(max(1, int(math.Ceil(d.Seconds()))))
}
