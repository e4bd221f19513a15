package web

import (
	"context"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/labstack/echo/v4"
)

// A drain answers so many long polls a second, or more if it would take too long.
const (
	drainRate      = 500
	drainSpreadMax = 10 * time.Second
)

// polls are the calls that wait, and how a server that stops ends them.
type polls struct {
	most time.Duration // that a call may wait

	unready   atomic.Bool     // /readyz says no
	drain     context.Context // ends when the calls are to be answered and no websocket is taken any longer
	stopDrain context.CancelFunc
	waiting   atomic.Int64
	spread    atomic.Int64 // of the drain: the time.Duration over which it answers them

	mu    sync.Mutex
	calls map[*call]context.CancelFunc // those that wait
}

func newPolls(most time.Duration) *polls {
	p := &polls{most: most, calls: map[*call]context.CancelFunc{}}
	p.drain, p.stopDrain = context.WithCancel(context.Background())
	return p
}

// Unready makes /readyz say no, so that balancers send nothing new. Everything is served on.
func (p *polls) Unready() { p.unready.Store(true) }

// Drain answers long polls with what there is, over several seconds if there are many, and takes no new websockets. It
// may be called again.
func (p *polls) Drain() {
	p.Unready()
	p.spread.Store(int64(min(drainSpreadMax, time.Duration(p.waiting.Load())*time.Second/drainRate)))
	p.stopDrain()
}

func (p *polls) draining() bool { return p.drain.Err() != nil }

// Recheck ends the calls that wait by a key that would not be let in any more: it is called after keys have changed.
func (p *polls) Recheck() { p.recheck(func(c *call) bool { return c.key != nil }) }

// RecheckUsers ends the calls that wait of these users whose callers would no longer be let in.
func (p *polls) RecheckUsers(users []string) {
	named := make(map[string]bool, len(users))
	for _, user := range users {
		named[user] = true
	}
	p.recheck(func(c *call) bool { return named[c.by.User] })
}

func (p *polls) recheck(concerned func(*call) bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c, end := range p.calls {
		if concerned(c) && c.holds() != nil {
			end()
		}
	}
}

// watch has end called when the caller of a call would not be let in any more.
func (p *polls) watch(c *call, end context.CancelFunc) (stop func()) {
	if c.again == nil {
		return func() {}
	}
	p.mu.Lock()
	p.calls[c] = end
	p.mu.Unlock()
	expiry := func() bool { return true }
	if !c.until.IsZero() {
		expiry = time.AfterFunc(time.Until(c.until), end).Stop
	}
	if c.holds() != nil { // since it was admitted
		end()
	}
	return func() {
		expiry()
		p.mu.Lock()
		delete(p.calls, c)
		p.mu.Unlock()
	}
}

// poll makes a call that may wait for something. When the server stops it is ended and made again without waiting, so
// that the client gets what there is and holds nothing up; many calls end one after another. A call that waits is counted
// among its user's polls, and no longer among the calls under way.
func poll[T any](ctx context.Context, p *polls, waits bool, do func(ctx context.Context, wait bool) (T, error)) (T, error) {
	if p.draining() {
		return do(ctx, false)
	}
	if waits {
		leave, err := callOf(ctx).enterPoll(ctx)
		if err != nil {
			return *new(T), err
		}
		defer leave()
		p.waiting.Add(1)
		defer p.waiting.Add(-1)
	}
	wait, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(p.drain, func() { p.end(wait, cancel) })()
	defer p.watch(callOf(ctx), cancel)()
	answer, err := do(wait, true)
	if void := callOf(ctx).holds(); void != nil {
		return *new(T), void
	}
	if err != nil && wait.Err() != nil && ctx.Err() == nil {
		answer, err = do(ctx, false)
	}
	return answer, err
}

// end ends a call that waits in a server that stops: at a random moment of the drain, so that not all clients come to
// the other nodes at once.
func (p *polls) end(wait context.Context, end func()) {
	timer := time.NewTimer(rand.N(max(time.Duration(p.spread.Load()), 1)))
	defer timer.Stop()
	select {
	case <-wait.Done():
	case <-timer.C:
		end()
	}
}

// waitOf is how long a call may wait: more than the maximum is taken as the maximum.
func (p *polls) waitOf(seconds *int64) time.Duration {
	return time.Duration(min(deref(seconds), int64(p.most/time.Second))) * time.Second
}

// longPoll lets the answer be written after the longest wait; the server's own deadline would cut it off.
func (p *polls) longPoll(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		deadline := time.Now().Add(p.most + writeTimeout)
		// Not every writer has deadlines (that of a test has none); one without cannot cut the answer off either.
		_ = http.NewResponseController(c.Response().Writer).SetWriteDeadline(deadline)
		c.Response().Before(func() { p.endConnection(c) }) // the server may have begun to stop meanwhile
		return next(c)
	}
}

// endConnection asks the client or proxy of a server that is about to stop to use another connection for its next
// request. One sent on an idle connection while the server closes it would fail, and nobody would know whether it was done.
func (p *polls) endConnection(c echo.Context) {
	if p.unready.Load() {
		c.Response().Header().Set(echo.HeaderConnection, "close")
	}
}
