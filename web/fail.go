package web

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"log/slog"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/web/problem"
)

// fail answers a request whose handler returned err: the one place where errors become answers.
func (s *Server) fail(err error, c echo.Context) {
	if c.Request().Context().Err() != nil && errors.Is(err, context.Canceled) {
		return // the client is gone: there is nobody to answer
	}
	if isOverload(err) && !c.Response().Committed {
		refuseOverload(c, s.metrics)
		return
	}
	if r, ok := chat.IsInReview(err); ok && !c.Response().Committed {
		_ = writeInReview(c.Response(), r) // fails where the client is gone
		return
	}
	e, status := translate(err)
	s.metrics.errors.WithLabelValues(string(e.Code)).Inc()
	if c.Response().Committed {
		s.log.LogAttrs(c.Request().Context(), slog.LevelError, "request failed after the response had started", slog.Any("error", err))
		return
	}
	if isLost(c, e) {
		_ = sayLost(c) // fails where the client is gone
		return
	}
	id := ""
	if status >= http.StatusInternalServerError {
		id = rand.Text()
		level := slog.LevelError
		var advised *chat.Error
		switch {
		case errors.Is(err, chat.ErrStoreAway):
			level = slog.LevelDebug // the store has said so once; every request would say it again
		case errors.As(err, &advised) && advised.Advice != "" && advised.Cause == nil:
			level = slog.LevelInfo // the client can do something about it, and the operator need not
		}
		s.log.LogAttrs(c.Request().Context(), level, "request failed", slog.String("request_id", id),
			slog.String("method", c.Request().Method), slog.String("route", c.Path()), slog.String("code", string(e.Code)), slog.Any("error", err))
	}
	problem.Write(c.Response(), status, e, id)
}

var (
	errNoBody  = chat.Errorf(chat.CodeInvalid, "the request body must be a JSON object")
	errNoRoute = chat.Errorf(chat.CodeNotFound, "no such route")
)

// refusal is an error whose status HTTP has a better one for than that of its code.
type refusal struct {
	status int
	of     *chat.Error
}

func (r *refusal) Error() string { return r.of.Error() }

func (r *refusal) Unwrap() error { return r.of }

// unsupported refuses a body in a form that the route does not take.
func unsupported(detail string) error {
	return &refusal{http.StatusUnsupportedMediaType, chat.Errorf(chat.CodeInvalid, "%s", detail)}
}

// translate gives what a client gets of an error: that of a handler, of the router or of the binder.
func translate(err error) (e *chat.Error, status int) {
	var h *echo.HTTPError
	var r *refusal
	switch {
	case errors.As(err, &r):
		return r.of, r.status
	case errors.As(err, &e): // first: its cause may be any of those below
	case errors.As(err, &h):
		switch h.Code {
		case http.StatusNotFound:
			return errNoRoute, h.Code
		case http.StatusMethodNotAllowed:
			return chat.Errorf(chat.CodeInvalid, "this route does not allow this method"), h.Code
		case http.StatusBadRequest:
			return chat.Errorf(chat.CodeInvalid, "a parameter has a value of the wrong type"), h.Code
		}
	case errors.Is(err, io.EOF): // of the binder, where a body has to be
		return errNoBody, http.StatusBadRequest
	}
	e = problem.Public(err)
	return e, problem.Status(e.Code)
}
