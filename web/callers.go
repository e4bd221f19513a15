package web

import (
	"context"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/keys"
	"github.com/chatd/chatd/web/api"
	"github.com/chatd/chatd/web/auth"
	"github.com/chatd/chatd/web/limit"
)

// call is a request with a valid token, in the context of its handler.
type call struct {
	by      chat.Caller
	who     auth.Identity
	request *http.Request
	admits  *admitter // that let it in
	key     *keys.Key // by which the caller acts; nil: by a token
	limits  *limit.Limits
	header  http.Header // of the answer
	turn    *turn
	entered bool // counted among the caller's calls under way
	meter   chat.Meter
	paid    limit.Cost   // for the groups of the caller that are to be looked at
	again   func() error // why the caller would not be let in any more; nil: nothing can change that
	until   time.Time    // when the key ends; the zero time: no end is known
}

type callKey struct{}

// callOf is the call that a handler serves, as admit found it: all handlers but those of open routes have one.
func callOf(ctx context.Context) *call {
	return ctx.Value(callKey{}).(*call)
}

// callerOf is on whose behalf a handler acts.
func callerOf(ctx context.Context) chat.Caller { return callOf(ctx).by }

// holds returns nil as long as the caller would be let in again, and otherwise why not: a key may change, or be removed, a token be
// revoked, or a user disabled, while the call waits or goes on. A token that ends meanwhile does not end the call.
func (c *call) holds() error {
	if c.again == nil {
		return nil
	}
	return c.again()
}

// charge takes more from the caller's limits, for costs that the body of the request showed; the key by which they act owes them.
// After an error the request must not be carried out.
func (c *call) charge(cost limit.Cost) error {
	quotas, err := c.limits.Spend(c.by, cost)
	if err == nil {
		quotas = append(quotas, c.limits.OweKey(c.key, cost)...)
	}
	quotas.Write(c.header)
	return err
}

// spend takes the cost of a call from the limits of the caller and of the key by which they act. After an error the request must
// not be carried out.
func (c *call) spend(cost limit.Cost) error {
	quotas, err := c.limits.Spend(c.by, cost)
	if err == nil {
		var ofKey limit.Quotas
		ofKey, err = c.limits.SpendKey(c.key, cost)
		quotas = append(quotas, ofKey...)
	}
	quotas.Write(c.header)
	return err
}

// settle charges the caller for the groups that were looked at. It may be called more than once.
func (c *call) settle() {
	quotas := c.limits.Settle(c.by, c.paid, &c.meter)
	c.paid = limit.Cost{}
	quotas.Write(c.header)
}

// settled has calls pay for the groups that they have looked at, whatever came of it.
func settled(next api.StrictHandlerFunc, _ string) api.StrictHandlerFunc {
	return func(c echo.Context, request any) (any, error) {
		defer callOf(c.Request().Context()).settle()
		return next(c, request)
	}
}

// leaveTurn ends the work of a call that goes on to wait for something: a message, a disk, a replica. No room is
// kept for its answer: what a poll wakes for is short, and a user has one search at a time.
func (c *call) leaveTurn() { c.turn.end() }

// takeRoom waits for room for the next part of a streamed answer.
func (c *call) takeRoom(ctx context.Context, bytes int64) error {
	if c.turn == nil {
		return nil
	}
	return c.turn.room.Take(ctx, bytes)
}

// asking is the context of a call that may store a message: where hooks are asked about it, the call gives back what it holds
// before it waits for them. An op of a batch holds nothing.
func asking(ctx context.Context, core *chat.Service, group string) context.Context {
	if one := callOf(ctx); one.turn != nil && core.Asks(group) {
		return chat.WithRelease(ctx, one.release)
	}
	return ctx
}

// release gives back what others wait for: the turn of the call, and its share of what its caller may call at once.
func (c *call) release() {
	c.turn.leave()
	c.leave()
}

// enterPoll counts a call as a waiting poll instead of a call under way. leave is nil if there is an error.
func (c *call) enterPoll(ctx context.Context) (leave func(), err error) {
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
