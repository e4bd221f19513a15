package conn

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
	"golang.org/x/sync/semaphore"
)

// errCrowded: a call waited too long for a connection.
var errCrowded = errors.New("too many calls wait for a connection")

// guard controls every call to the server. Calls wait for their turn in the order of arrival, as long as their callers do, so
// a burst is served late and not refused. While the breaker is open, nothing waits.
type guard struct {
	turns   *semaphore.Weighted // as many as there are connections
	waiting atomic.Int64
	breaker *breaker // nil with the embedded store, which cannot be away
	waitMax time.Duration
	watch   bool // whether the time that a call takes says something about the server
}

var _ redis.Hook = (*guard)(nil)

func newGuard(connections int, b *breaker, watch bool) *guard {
	g := &guard{turns: semaphore.NewWeighted(int64(connections)), breaker: b, watch: watch}
	if b != nil {
		g.waitMax = turnWaitMax
	}
	return g
}

// admitted marks the context of a call that has its turn: opening a connection takes commands too.
type admitted struct{}

// enter waits for a turn. leave returns it.
func (g *guard) enter(ctx context.Context) (inner context.Context, err error) {
	up := context.Background()
	if g.breaker != nil {
		up = g.breaker.state()
	}
	if err := context.Cause(up); err != nil {
		return nil, err
	}
	if !g.turns.TryAcquire(1) {
		if err := g.wait(ctx, up); err != nil {
			return nil, err
		}
	}
	if g.watch && g.breaker != nil {
		g.breaker.began()
	}
	return context.WithValue(ctx, admitted{}, true), nil
}

func (g *guard) leave(ctx context.Context, err error) {
	g.turns.Release(1)
	if g.watch && g.breaker != nil {
		g.breaker.ended(ctx, err)
	}
}

func (g *guard) wait(caller, up context.Context) error {
	defer g.waiting.Add(-1)
	if g.waiting.Add(1) > turnsWaitingMax {
		return errCrowded
	}
	ctx, cancel := context.WithCancelCause(caller)
	defer cancel(nil)
	defer context.AfterFunc(up, func() { cancel(context.Cause(up)) })()
	if g.waitMax > 0 {
		patience := time.AfterFunc(g.waitMax, func() { cancel(errCrowded) })
		defer patience.Stop()
	}
	switch {
	case g.turns.Acquire(ctx, 1) == nil:
		return nil
	case caller.Err() != nil:
		return caller.Err()
	}
	return context.Cause(ctx)
}

// opening notes the answer to a command that opens a connection.
func (g *guard) opening(err error) error {
	if g.breaker != nil && answered(err) {
		g.breaker.spoke.Store(true)
	}
	return err
}

// DialHook, ProcessHook and ProcessPipelineHook are how go-redis calls the guard.
func (g *guard) DialHook(next redis.DialHook) redis.DialHook {
	if g.breaker == nil {
		return next
	}
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		return g.breaker.dial(ctx, func(ctx context.Context) (net.Conn, error) { return next(ctx, network, addr) })
	}
}

// ProcessHook guards a single command.
func (g *guard) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if ctx.Value(admitted{}) != nil {
			return g.opening(next(ctx, cmd))
		}
		inner, err := g.enter(ctx)
		if err != nil {
			cmd.SetErr(err)
			return err
		}
		err = next(inner, cmd)
		g.leave(ctx, err)
		return err
	}
}

// ProcessPipelineHook guards a pipeline or a transaction: one turn for all of it.
func (g *guard) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		if ctx.Value(admitted{}) != nil {
			return g.opening(next(ctx, cmds))
		}
		inner, err := g.enter(ctx)
		if err != nil {
			for _, cmd := range cmds {
				cmd.SetErr(err)
			}
			return err
		}
		err = next(inner, cmds)
		g.leave(ctx, err)
		return err
	}
}
