package web

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/web/api"
)

const mimeProblem = "application/problem+json"

// statusOf is the HTTP status of each code, as the wire contract fixes it.
func statusOf(code chat.Code) int {
	switch code {
	case chat.CodeInvalid, chat.CodeOutOfRange:
		return http.StatusBadRequest
	case chat.CodeUnauthenticated:
		return http.StatusUnauthorized
	case chat.CodeForbidden:
		return http.StatusForbidden
	case chat.CodeNotFound:
		return http.StatusNotFound
	case chat.CodeExists, chat.CodeKeyReused, chat.CodeConflict:
		return http.StatusConflict
	case chat.CodeTooLarge:
		return http.StatusRequestEntityTooLarge
	case chat.CodeRateLimited, chat.CodeInboxFull:
		return http.StatusTooManyRequests
	case chat.CodeUnavailable:
		return http.StatusServiceUnavailable
	default:
		return http.StatusInternalServerError
	}
}

// fail answers a request whose handler returned err: the one place where errors become answers.
func (s *Server) fail(err error, c echo.Context) {
	if c.Request().Context().Err() != nil && errors.Is(err, context.Canceled) {
		return // the client is gone: nobody to tell
	}
	e, status := s.translate(err)
	s.metrics.errors.WithLabelValues(string(e.Code)).Inc()
	if c.Response().Committed {
		s.log.LogAttrs(c.Request().Context(), slog.LevelError, "a request failed in the middle of its answer", slog.Any("error", err))
		return
	}
	p := api.Problem{Type: "about:blank", Title: http.StatusText(status), Status: status, Code: e.Code, Detail: e.Message}
	if status >= http.StatusInternalServerError {
		id := rand.Text()
		p.RequestId = &id
		s.log.LogAttrs(c.Request().Context(), slog.LevelError, "request failed", slog.String("request_id", id),
			slog.String("method", c.Request().Method), slog.String("route", c.Path()), slog.String("code", string(e.Code)), slog.Any("error", err))
	}
	header := c.Response().Header()
	switch status {
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		header.Set("Retry-After", retryAfter(e.RetryAfter))
	case http.StatusUnauthorized:
		header.Set("WWW-Authenticate", "Bearer")
	case http.StatusRequestEntityTooLarge:
		header.Set("Connection", "close")
	}
	writeProblem(c.Response(), p)
}

// translate gives the error of the domain, and the status, for whatever a handler returned.
func (s *Server) translate(err error) (*chat.Error, int) {
	var e *chat.Error
	if errors.As(err, &e) {
		status := statusOf(e.Code)
		switch {
		case e.Code == chat.CodeInternal || status == http.StatusInternalServerError:
			return chat.Errorf(chat.CodeInternal, "something went wrong here; the operator can find it by the request id"), status
		case e.Code == chat.CodeUnavailable:
			return &chat.Error{Code: e.Code, Message: "not available at the moment; nothing was done, or the retry key makes a retry safe", RetryAfter: e.RetryAfter}, status
		}
		return e, status
	}
	var h *echo.HTTPError
	if errors.As(err, &h) {
		switch h.Code {
		case http.StatusNotFound:
			return chat.Errorf(chat.CodeNotFound, "no such route"), h.Code
		case http.StatusMethodNotAllowed:
			return chat.Errorf(chat.CodeInvalid, "this route does not take this method"), h.Code
		case http.StatusBadRequest:
			return chat.Errorf(chat.CodeInvalid, "a parameter has a value that its type does not take"), h.Code
		}
	}
	if errors.Is(err, io.EOF) { // of the binder, where a body has to be
		return errNoBody, http.StatusBadRequest
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return chat.ErrUnavailable, http.StatusServiceUnavailable
	}
	return chat.Errorf(chat.CodeInternal, "something went wrong here; the operator can find it by the request id"), http.StatusInternalServerError
}

// retryAfter writes whole seconds, at least one: zero would make clients hammer.
func retryAfter(d time.Duration) string {
	return strconv.Itoa(max(1, int(math.Ceil(d.Seconds()))))
}

func writeProblem(w http.ResponseWriter, p api.Problem) {
	body, err := json.Marshal(p)
	if err != nil {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", mimeProblem)
	w.WriteHeader(p.Status)
	_, _ = w.Write(body)
}
