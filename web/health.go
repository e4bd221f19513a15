package web

import (
	"context"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/web/api"
)

// readyTimeout is how long the store may take to answer before the server calls itself not ready.
const readyTimeout = 2 * time.Second

func (s *Server) registerHealth(e *echo.Echo) {
	e.GET("/livez", func(c echo.Context) error { return c.JSONBlob(http.StatusOK, []byte(`{"status":"ok"}`+"\n")) })
	e.GET("/readyz", s.readyz)
}

func (s *Server) readyz(c echo.Context) error {
	if s.unready.Load() {
		return &chat.Error{Code: chat.CodeUnavailable, Message: "the server is about to stop", RetryAfter: time.Second}
	}
	if s.opt.Ready != nil {
		ctx, cancel := context.WithTimeout(c.Request().Context(), readyTimeout)
		defer cancel()
		if err := s.opt.Ready(ctx); err != nil {
			return &chat.Error{Code: chat.CodeUnavailable, Message: "the store does not answer", RetryAfter: time.Second, Cause: err}
		}
	}
	health := api.Health{Status: "ok"}
	if s.opt.Away != nil {
		if away := s.opt.Away(); len(away) > 0 {
			health.Away = &away
		}
	}
	return c.JSON(http.StatusOK, health)
}
