package web

import (
	"context"
	"net/http"
	"sync"

	"github.com/chatd/chatd/web/auth"
	"github.com/chatd/chatd/web/limit"
)

// opCallers finds out on whose behalf ops are, and has each pay for itself.
type opCallers struct {
	batch *call
	byID  map[string]*route

	mu    sync.Mutex
	known map[string]identified
}

// identified is what came of asking who acts.
type identified struct {
	who auth.Identity
	err error
}

func newOpCallers(c *call, byID map[string]*route) *opCallers {
	return &opCallers{batch: c, byID: byID, known: map[string]identified{}}
}

// acting is the identity of the batch's caller who acts for a user.
func (c *opCallers) acting(ctx context.Context, user string) (auth.Identity, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	found, ok := c.known[user]
	if !ok {
		r := c.batch.request.WithContext(ctx)
		r.Header = r.Header.Clone()
		r.Header.Set(auth.AsHeader, user)
		found.who, found.err = c.batch.admits.verify.Identify(r, c.batch.admits.address(r))
		if found.err == nil {
			c.batch.admits.core.Know(user)
		}
		c.known[user] = found
	}
	return found.who, found.err
}

// admit checks the caller of an op as admitCaller does that of a call, without what keeps a node from working on too much at once: the
// batch has its turn already.
func (c *opCallers) admit(ctx context.Context, o *op) (*call, error) {
	who := c.batch.who
	if o.as != nil {
		var err error
		if who, err = c.acting(ctx, *o.as); err != nil {
			return nil, err
		}
	}
	one := &call{by: who.Caller(), key: who.Key, who: who, limits: c.batch.limits, header: http.Header{}}
	cost := limit.CostOf(o.route, 0)
	if err := one.spend(cost); err != nil {
		return nil, err
	}
	return one, c.byID[o.route].allows(who, named{group: o.group, user: o.user})
}
