package queue

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// runContext is the context of one run. It makes the costly parts of a context (registration with its parent, a timer)
// only when the handler first asks for them: a handler that never waits pays for none.
type runContext struct {
	parent   context.Context
	deadline time.Time // zero = none
	run      *running

	mu     sync.Mutex
	result []byte          // of SetResult
	ended  error           // the cause, once it has ended
	made   context.Context // nil until it is first needed
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

// taken returns what SetResult was given.
func (c *runContext) taken() []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.result
}

// cause returns the cause it has ended with; nil before that.
func (c *runContext) cause() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ended
}

// finish ends the made context. The caller holds mu.
func (c *runContext) finish() {
	c.cancel(c.ended)
	if c.stop != nil {
		c.stop()
	}
}

// make returns the real context, made at the first call.
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

// Value asks the made context, so that the contexts of the standard library find one of their own in it and need no
// goroutine to follow it.
func (c *runContext) Value(key any) any {
	if _, ok := key.(runKey); ok {
		return c.run
	}
	return c.make().Value(key)
}

// errNoRun means that a context does not come from a handler.
var errNoRun = errors.New("queue: not the context of a handler")

// SetProgress records the progress of a handler's task, which Get and List show: done of total, both from 0 to 2^53. It
// survives retries and goes away with the task. ctx is the handler's, or derived from it. ErrLeaseLost: another worker
// has the task by now, or it was cancelled; nothing was recorded.
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
