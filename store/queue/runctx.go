package queue

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// runContext is the context of one run. Most of what a context needs (a place among the
// children of its parent, a timer) is made when the handler first asks for it: a handler that
// is done before it waits for anything costs none of it.
type runContext struct {
	parent   context.Context
	deadline time.Time // zero = none
	run      *running

	mu     sync.Mutex
	ended  error           // the cause, once it has ended
	made   context.Context // nil until somebody asks
	cancel context.CancelCauseFunc
	stop   context.CancelFunc // of the timer; nil without a deadline
}

type runKey struct{}

// end ends the context with a cause. Only the first call counts.
func (c *runContext) end(cause error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended != nil {
		return
	}
	c.ended = cause
	if c.made != nil {
		c.finish()
	}
}

// cause is what it has ended with; nil before that.
func (c *runContext) cause() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ended
}

// finish ends what was made. The caller holds mu.
func (c *runContext) finish() {
	c.cancel(c.ended)
	if c.stop != nil {
		c.stop()
	}
}

// make returns the context that does what this one promises.
func (c *runContext) make() context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.made != nil {
		return c.made
	}
	c.made, c.cancel = context.WithCancelCause(c.parent)
	if !c.deadline.IsZero() {
		c.made, c.stop = context.WithDeadline(c.made, c.deadline)
	}
	if c.ended != nil {
		c.finish()
	}
	return c.made
}

func (c *runContext) Deadline() (time.Time, bool) {
	if c.deadline.IsZero() {
		return c.parent.Deadline()
	}
	return c.make().Deadline()
}

func (c *runContext) Done() <-chan struct{} { return c.make().Done() }

func (c *runContext) Err() error { return c.make().Err() }

// Value asks what was made, so that the contexts of the standard library find in it one of
// their own and need no goroutine to follow it.
func (c *runContext) Value(key any) any {
	if _, ok := key.(runKey); ok {
		return c.run
	}
	return c.make().Value(key)
}

// errNoRun says that a context is not one that a handler was given.
var errNoRun = errors.New("queue: not the context of a handler")

// SetProgress notes how far a handler's task is, for Get and List to show: done of total, both
// from 0 to 2^53. It stays over retries and goes with the task. ctx is the handler's, or made
// of it. ErrLeaseLost: the task is somebody else's by now, or was cancelled; nothing was noted.
func SetProgress(ctx context.Context, done, total int64) error {
	r, ok := ctx.Value(runKey{}).(*running)
	if !ok {
		return errNoRun
	}
	if done < 0 || total < 0 || done > 1<<53 || total > 1<<53 {
		return fmt.Errorf("%w: progress %d of %d", ErrInvalid, done, total)
	}
	c := r.queue.Client
	one := &call{Call: progressScript.On(c.work[r.partition]).Arg("id", r.ID).Arg("token", r.token).
		Arg("done", done).Arg("total", total)}
	if err := run(ctx, c.rdb, []*call{one}); err != nil {
		return fmt.Errorf("queue: progress: %w", err)
	}
	if held, err := one.cmd.Int64(); err != nil || held != 1 {
		return errors.Join(ErrLeaseLost, err)
	}
	return nil
}
