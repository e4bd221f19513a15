package web

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/web/admission"
	"github.com/chatd/chatd/web/auth"
	"github.com/chatd/chatd/web/limit"
	"github.com/chatd/chatd/web/unsent"
)

// admitter decides which requests get through to their handlers, on whose behalf, and when it is their turn.
type admitter struct {
	verify  auth.Verify
	again   auth.Again
	core    *chat.Service
	routes  routes
	limits  *chat.Limits
	callers *limit.Limits
	line    *admission.Line
	unsent  *unsent.Budget
	address func(*http.Request) netip.Addr // of the client
	metrics *metrics
}

// admit lets a request through to a route of the description: with a token that holds and has the role the route asks for,
// ids that are ids, and query parameters that the route has, within the limits of its caller. What is no such route (pages, the
// client's files, unknown paths) is limited by address alone.
func (a *admitter) admit(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := a.routes.of(c).asked(c)
		var one *call
		if r == nil || r.open {
			if err := a.admitAddress(c, r); err != nil {
				return err
			}
			defer turnOf(c).leave()
			if r == nil {
				return next(c)
			}
		} else {
			var err error
			if one, err = a.admitCaller(c, r); err != nil {
				return err
			}
			defer one.leave()
			defer one.turn.end()
		}
		req := c.Request()
		if enc := req.Header.Get("Content-Encoding"); enc != "" && !strings.EqualFold(enc, "identity") {
			c.Response().Header().Set(echo.HeaderAcceptEncoding, "identity")
			return unsupported("Content-Encoding: compressed requests are not supported")
		}
		if err := checkPath(c, r); err != nil {
			return err
		}
		if err := checkQuery(req.URL.RawQuery, r); err != nil {
			return err
		}
		err := next(c)
		if one != nil {
			err = r.scoped(err, one.by)
		}
		return err
	}
}

// admitCaller checks the token of a request, charges its caller, and waits for its turn. The caller must call leave.
func (a *admitter) admitCaller(c echo.Context, r *route) (*call, error) {
	req := c.Request()
	who, err := a.verify.Identify(req, a.address(req))
	if err != nil {
		var refused *chat.Error
		if errors.As(err, &refused) && refused.Code != chat.CodeUnavailable {
			if err := a.chargeAddress(c, limit.CostOf(r.id, 0)); err != nil {
				return nil, err
			}
		}
		return nil, err
	}
	cost := limit.CostOf(r.id, a.pageOf(c))
	by := who.Caller()
	units := a.callers.Weigh(by.User, cost)
	if err := a.lineUp(c, admission.Key{User: by.User}, units); err != nil { // before it costs anything, also the caller
		return nil, err
	}
	t := turnOf(c)
	if t != nil {
		t.room, t.most = a.unsent.Answer(by.User), a.answerMost(r, a.pageOf(c))
	}
	one := &call{by: by, who: who, request: req, admits: a, key: who.Key, limits: a.callers, header: c.Response().Header(), turn: t}
	one.paid = one.limits.Index(one.by, cost)
	cost.User += one.paid.User
	if err := one.spend(cost); err != nil {
		return nil, err
	}
	names := r.named(c, who)
	if err := r.allows(who, names); err != nil {
		return nil, err
	}
	if a.again != nil {
		one.again = a.holding(req, r, who, names)
	}
	if who.Key != nil {
		one.until = who.Expires
	}
	if who.User != "" {
		a.core.Know(who.User)
	}
	if err := one.limits.EnterCall(req.Context(), one.by); err != nil {
		return nil, err
	}
	one.entered = true
	c.SetRequest(req.WithContext(context.WithValue(chat.WithMeter(req.Context(), &one.meter), callKey{}, one)))
	return one, nil
}

// named reads what the request of who names.
func (r *route) named(c echo.Context, who auth.Identity) (of named) {
	if r.self {
		of.user = pathValue(c, "user")
	}
	if who.Key == nil {
		return of // whatever the group
	}
	of.group = pathValue(c, "group")
	if _, asks := r.query["group"]; asks {
		of.group = c.QueryParam("group")
	}
	return of
}

// holding returns what tells whether a caller that was let in still would be.
func (a *admitter) holding(req *http.Request, r *route, who auth.Identity, names named) func() error {
	from := a.address(req)
	return func() error {
		now, err := a.again(who, from)
		if err != nil {
			return err
		}
		return r.allows(now, names)
	}
}

// pageOf is how many entries the request asks for at most. Something that is not a number is refused later.
func (a *admitter) pageOf(c echo.Context) int {
	if c.Request().URL.RawQuery == "" {
		return a.limits.PageMessages
	}
	n, _ := strconv.Atoi(c.QueryParam("limit"))
	return pageMost(a.limits, n)
}

func pageMost(limits *chat.Limits, limit int) int {
	if limit <= 0 {
		return limits.PageMessages
	}
	return min(limit, limits.PageMessagesMax)
}

// admitAddress charges a request without a token to its address, and waits for its turn. Probes are never refused, and a websocket
// is admitted by itself: its token comes later. r is nil for what is no route of the description.
func (a *admitter) admitAddress(c echo.Context, r *route) error {
	cost := limit.CostOf("", 0)
	if r != nil {
		cost = limit.CostOf(r.id, 0)
		if r.template == websocketPath || cost == (limit.Cost{}) {
			return nil
		}
	}
	if err := a.lineUp(c, admission.Key{From: limit.AddressKey(a.address(c.Request()))}, cost.User); err != nil {
		return err
	}
	if err := a.chargeAddress(c, cost); err != nil {
		return err
	}
	return turnOf(c).come(c.Request().Context())
}

func (a *admitter) chargeAddress(c echo.Context, cost limit.Cost) error {
	if a.callers == nil {
		return nil
	}
	quotas, err := a.callers.SpendAddress(a.address(c.Request()), cost)
	quotas.Write(c.Response().Header())
	return err
}
