package web

import (
	"context"
	"errors"
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/web/admission"
	"github.com/chatd/chatd/web/api"
	"github.com/chatd/chatd/web/limit"
)

// call is a request with a valid token, in the context of its handler.
type call struct {
	by      chat.Caller
	limits  *limit.Limits
	header  http.Header // of the answer
	turn    *turn
	entered bool // counted among the caller's calls under way
	meter   chat.Meter
	paid    limit.Cost // for the groups of the caller that are to be looked at
}

type callKey struct{}

// callerOf is the caller of the request, as admit found it.
func callerOf(ctx context.Context) chat.Caller {
	if c, ok := ctx.Value(callKey{}).(*call); ok {
		return c.by
	}
	return chat.Caller{}
}

// charge takes more from the caller's limits, for costs that the body of the request showed. After an error the request must
// not be carried out.
func charge(ctx context.Context, cost limit.Cost) error {
	c, ok := ctx.Value(callKey{}).(*call)
	if !ok {
		return nil
	}
	return c.charge(cost)
}

func (c *call) charge(cost limit.Cost) error {
	quotas, err := c.limits.Spend(c.by, cost)
	quotas.Write(c.header)
	return err
}

// settle charges the caller for the groups that were looked at. It may be called more than once.
func (c *call) settle() {
	quotas := c.limits.Settle(c.by, c.paid, &c.meter)
	c.paid = limit.Cost{}
	quotas.Write(c.header)
}

// settle is call.settle for the call of a handler.
func settle(ctx context.Context) {
	if c, ok := ctx.Value(callKey{}).(*call); ok {
		c.settle()
	}
}

// settled has calls pay for the groups that they have looked at, whatever came of it.
func settled(next api.StrictHandlerFunc, _ string) api.StrictHandlerFunc {
	return func(c echo.Context, request any) (any, error) {
		if one, ok := c.Request().Context().Value(callKey{}).(*call); ok {
			defer one.settle()
		}
		return next(c, request)
	}
}

// leaveTurn ends the work of a call that goes on to wait for something: a message, a disk, a replica. No room is
// kept for its answer: what a poll wakes for is short, and a user has one search at a time.
func leaveTurn(ctx context.Context) {
	if c, ok := ctx.Value(callKey{}).(*call); ok {
		c.turn.end()
	}
}

// takeRoom waits for room for the next part of a streamed answer.
func takeRoom(ctx context.Context, bytes int64) error {
	if c, ok := ctx.Value(callKey{}).(*call); ok && c.turn != nil {
		return c.turn.room.Take(ctx, bytes)
	}
	return nil
}

// enterPoll counts a call as a waiting poll instead of a call under way. leave is nil if there is an error.
func enterPoll(ctx context.Context) (leave func(), err error) {
	c, ok := ctx.Value(callKey{}).(*call)
	if !ok {
		return func() {}, nil
	}
	if err := c.limits.EnterPoll(ctx, c.by); err != nil {
		return nil, err
	}
	c.leave()
	return func() { c.limits.LeavePoll(c.by) }, nil
}

// leave ends the counting of the call. It may be called more than once.
func (c *call) leave() {
	if c.entered {
		c.entered = false
		c.limits.LeaveCall(c.by)
	}
}

// admitCaller checks the token of a request, charges its caller, and waits for its turn. The caller must call leave.
func (s *Server) admitCaller(c echo.Context, r *route) (*call, error) {
	req := c.Request()
	who, err := s.authenticate(req)
	if err != nil {
		var refused *chat.Error
		if errors.As(err, &refused) && refused.Code == chat.CodeUnauthenticated {
			if err := s.chargeAddress(c, limit.CostOf(r.id, 0)); err != nil {
				return nil, err
			}
		}
		return nil, err
	}
	cost := limit.CostOf(r.id, s.pageOf(c))
	units := s.opt.Callers.Weigh(who.User, cost)
	if err := s.lineUp(c, admission.Key{User: who.User}, units); err != nil { // before it costs anything, also the caller
		return nil, err
	}
	t := turnOf(c)
	if t != nil {
		t.room, t.most = s.opt.Unsent.Answer(who.User), s.answerMost(r, s.pageOf(c))
	}
	one := &call{by: who.Caller(), limits: s.opt.Callers, header: c.Response().Header(), turn: t}
	one.paid = one.limits.Index(one.by, cost)
	cost.User += one.paid.User
	if err := one.charge(cost); err != nil {
		return nil, err
	}
	s.service.Know(who.User)
	if r.admin && !who.Admin {
		return nil, chat.Errorf(chat.CodeForbidden, "only operators (role admin) may do this")
	}
	if err := one.limits.EnterCall(req.Context(), one.by); err != nil {
		return nil, err
	}
	one.entered = true
	c.SetRequest(req.WithContext(context.WithValue(chat.WithMeter(req.Context(), &one.meter), callKey{}, one)))
	return one, nil
}

// pageOf is how many entries the request asks for at most. Something that is not a number is refused later.
func (s *Server) pageOf(c echo.Context) int {
	if c.Request().URL.RawQuery == "" {
		return s.opt.Limits.PageMessages
	}
	n, _ := strconv.Atoi(c.QueryParam("limit"))
	return s.pageMost(n)
}

func (s *Server) pageMost(limit int) int {
	if limit <= 0 {
		return s.opt.Limits.PageMessages
	}
	return min(limit, s.opt.Limits.PageMessagesMax)
}

// admitOpen admits a request of a route that asks for no token. Probes are never refused, and a websocket is admitted by
// itself: its token comes later.
func (s *Server) admitOpen(c echo.Context, r *route) error {
	cost := limit.CostOf(r.id, 0)
	if r.template == websocketPath || cost == (limit.Cost{}) {
		return nil
	}
	return s.admitAddress(c, cost)
}

// admitAddress charges a request without a token to its address, and waits for its turn.
func (s *Server) admitAddress(c echo.Context, cost limit.Cost) error {
	if err := s.lineUp(c, admission.Key{From: limit.AddressKey(s.address(c.Request()))}, cost.User); err != nil {
		return err
	}
	if err := s.chargeAddress(c, cost); err != nil {
		return err
	}
	return turnOf(c).come(c.Request().Context())
}

func (s *Server) chargeAddress(c echo.Context, cost limit.Cost) error {
	if s.opt.Callers == nil {
		return nil
	}
	quotas, err := s.opt.Callers.SpendAddress(s.address(c.Request()), cost)
	quotas.Write(c.Response().Header())
	return err
}
