package web

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/web/admission"
	"github.com/chatd/chatd/web/api"
)

// Requests beyond what the node can work on wait in line or are refused; see the package admission. A request is at work from
// when its body was read to the first byte of its answer: slow clients hold nobody up.

// turn is a request's way through the line. The zero turn is of one that does not line up: probes, and the handshakes of
// websockets, whose commands line up by themselves.
type turn struct {
	line *admission.Line
	key  admission.Key
	came bool
	slot admission.Slot
}

// turnOf is the turn of the request; nil where a test has another writer.
func turnOf(c echo.Context) *turn {
	if w, ok := c.Response().Writer.(*stallWriter); ok {
		return &w.turn
	}
	return nil
}

// come waits for the turn. It may be called more than once.
func (t *turn) come(ctx context.Context) error {
	if t == nil || t.came {
		return nil
	}
	t.came = true
	slot, ok := t.line.Enter(ctx, t.key)
	switch {
	case ok:
		t.slot = slot
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return admission.ErrOverload
}

// leave ends the turn. It may be called more than once.
func (t *turn) leave() {
	if t != nil {
		t.slot.Leave()
	}
}

// lineUp refuses a request at once where it would be refused later, and lets it wait for its turn otherwise.
func (s *Server) lineUp(c echo.Context, key admission.Key) error {
	t := turnOf(c)
	if t == nil {
		return nil
	}
	if s.opt.Line.Full(key) {
		return admission.ErrOverload
	}
	t.line, t.key = s.opt.Line, key
	return nil
}

// inTurn has requests without a body wait for their turn; the others have come when it was read.
func inTurn(next api.StrictHandlerFunc, _ string) api.StrictHandlerFunc {
	return func(c echo.Context, request any) (any, error) {
		if err := turnOf(c).come(c.Request().Context()); err != nil {
			return nil, err
		}
		return next(c, request)
	}
}

// refuseOverload answers with what problem.Write would write, at less cost: it is done most when there is least time.
func (s *Server) refuseOverload(c echo.Context) {
	h := c.Response().Header()
	h.Set("Retry-After", strconv.Itoa(int(admission.RetryAfter()/time.Second)))
	h.Set("Content-Type", "application/problem+json")
	h.Set("Content-Length", overloadLength)
	c.Response().WriteHeader(http.StatusServiceUnavailable)
	_, _ = c.Response().Write(overloadBody)
}

var (
	overloadBody = []byte(`{"type":"about:blank","title":"Service Unavailable","status":503,"code":"` + string(chat.CodeUnavailable) +
		`","detail":"the server is overloaded; nothing was done"}` + "\n")
	overloadLength = strconv.Itoa(len(overloadBody))
)

func isOverload(err error) bool { return errors.Is(err, admission.ErrOverload) }
