package web

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/exports"
	"github.com/chatd/chatd/web/admission"
	"github.com/chatd/chatd/web/api"
	"github.com/chatd/chatd/web/limit"
	"github.com/chatd/chatd/web/unsent"
)

// Requests beyond what the node can work on wait in line or are refused; see the package admission. A request is at work from
// when its body was read to the first byte of its answer: slow clients hold nobody up.

// turn is a request's way through the line. The zero turn is of one that does not line up: probes, and the handshakes of
// websockets, whose commands line up by themselves.
type turn struct {
	line *admission.Line
	key  admission.Key
	cost int // units
	came bool
	slot admission.Slot
	room *unsent.Answer // what the answer takes of the node's budget; nil: nothing
	most int64          // bytes that it may have; 0: no more than the kernel takes at once
}

// turnOf is the turn of the request; nil where a test has another writer.
func turnOf(c echo.Context) *turn {
	if w := stallOf(c.Response().Writer); w != nil {
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
	slot, ok := t.line.Enter(ctx, t.key, t.cost)
	switch {
	case ok:
		t.slot = slot
		return t.room.Reserve(ctx, t.most, t.leave)
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

// end ends the turn and gives back the room of the answer. It may be called more than once.
func (t *turn) end() {
	if t != nil {
		t.leave()
		t.room.Free()
	}
}

// answerMost is how many bytes the answer of a route may have, or the part of it that is in memory at once, as far as that is
// more than a small one. limit is how many entries a page may have.
func (a *admitter) answerMost(r *route, limit int) int64 {
	page := int64(a.limits.PageBytesMax)
	_, paged := r.query["limit"]
	switch {
	case r.id == "exportGroup", r.id == "exportMe":
		return exports.PageBytes
	case paged:
		return min(page, int64(limit)*int64(a.limits.BodyBytesMax))
	case r.id == "sync", r.id == "getUnread", r.id == "batch":
		return page
	}
	return 0
}

// lineUp refuses a request at once where it would be refused later, and lets it wait for its turn otherwise.
func (a *admitter) lineUp(c echo.Context, key admission.Key, units int) error {
	t := turnOf(c)
	if t == nil {
		return nil
	}
	if a.line.Full(key, units) {
		return admission.ErrOverload
	}
	t.line, t.key, t.cost = a.line, key, units
	return nil
}

// inTurn has requests without a body wait for their turn; the others have come when it was read.
func inTurn(next api.StrictHandlerFunc, _ string) api.StrictHandlerFunc {
	return func(c echo.Context, request any) (any, error) {
		if err := turnOf(c).come(c.Request().Context()); err != nil {
			return nil, err
		}
		if err := callOf(c.Request().Context()).holds(); err != nil { // it may have waited for long
			return nil, err
		}
		return next(c, request)
	}
}

// refuseEarly refuses requests with a token right after the router where they would be refused later, without what the
// middleware prepares for an answer: under overload this is done most, and each time takes from what is served. A page of
// another origin needs the headers of cors to read the refusal.
func (a *admitter) refuseEarly(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if !a.line.Overloaded() {
			return next(c)
		}
		req := c.Request()
		r := a.routes.of(c)
		if r == nil || r.open || req.Header["Origin"] != nil {
			return next(c)
		}
		who, err := a.verify.Identify(req, a.address(req))
		if err != nil {
			return next(c)
		}
		units := a.callers.Weigh(who.User, limit.CostOf(r.id, a.pageOf(c)))
		if !a.line.Full(admission.Key{User: who.User}, units) {
			return next(c)
		}
		refuseOverload(c, a.metrics)
		return nil
	}
}

// refuseOverload answers with what problem.Write would write behind the middleware, at less cost.
func refuseOverload(c echo.Context, m *metrics) {
	m.errors.WithLabelValues(string(chat.CodeUnavailable)).Inc()
	h := c.Response().Header()
	maps.Copy(h, overloadHeader)
	h["Retry-After"] = retryAfters[min(int(admission.RetryAfter()/time.Second), len(retryAfters)-1)]
	c.Response().WriteHeader(http.StatusServiceUnavailable)
	_, _ = c.Response().Write(overloadBody)
}

var (
	overloadBody = []byte(`{"type":"about:blank","title":"Service Unavailable","status":503,"code":"` + string(chat.CodeUnavailable) +
		`","detail":"the server is overloaded; nothing was done"}` + "\n")

	// overloadHeader and retryAfters are shared by all answers, which only read them.
	overloadHeader = func() http.Header {
		h := http.Header{}
		secure(h)
		h.Set("Vary", "Origin")
		h.Set("Content-Type", "application/problem+json")
		h.Set("Content-Length", strconv.Itoa(len(overloadBody)))
		return h
	}()
	retryAfters = [][]string{{"1"}, {"1"}, {"2"}, {"3"}, {"4"}}
)

func isOverload(err error) bool { return errors.Is(err, admission.ErrOverload) }
