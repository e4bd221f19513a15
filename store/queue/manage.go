package queue

import (
	"context"
	"fmt"
)

// Retry makes a dead or a delayed task ready now, under its old id. A dead one begins anew: no
// failed attempt counts any more, but a deadline stays. ErrConflict: the task is ready already,
// or runs.
// ErrNotFound: there is none of this id.
func (c *Client) Retry(ctx context.Context, id string) error {
	state, err := c.move(ctx, retryScript, id)
	if err != nil {
		return fmt.Errorf("queue: retry: %w", err)
	}
	if state == Ready || state == Leased {
		return ErrConflict
	}
	return nil
}

// Cancel takes a task away and returns the state that it was in. One that was delayed, ready
// or dead is gone and never runs (again). One that was leased has lost its lease at once: what
// its handler returns has no effect, and the handler's context ends with ErrCancelled as soon
// as its worker hears of it, which is when it next renews its leases at the latest.
// ErrNotFound: there is none of this id.
//
// A ready task is searched in its list, which takes Redis about 10 ms for each million that
// wait there.
func (c *Client) Cancel(ctx context.Context, id string) (State, error) {
	state, err := c.move(ctx, cancelScript, id)
	if err != nil {
		return "", fmt.Errorf("queue: cancel: %w", err)
	}
	return state, nil
}

// move runs a script about one task that answers with the state it found.
func (c *Client) move(ctx context.Context, what *queueScript, id string) (State, error) {
	p, err := c.partitionOf(id)
	if err != nil {
		return "", err
	}
	one := &call{Call: what.On(c.work[p]).Arg("id", id)}
	if err := c.run(ctx, []*call{one}); err != nil {
		return "", err
	}
	state, err := one.cmd.Text()
	if err == nil && state == "" {
		err = ErrNotFound
	}
	return State(state), err
}

// Pause lets nothing be claimed any more until Resume is called, by any server. What runs goes
// on, and tasks can be put in. With several partitions each is paused for itself, one after
// the other; after an error some may be.
func (c *Client) Pause(ctx context.Context) error { return c.setPaused(ctx, true) }

// Resume ends a pause and wakes the workers.
func (c *Client) Resume(ctx context.Context) error { return c.setPaused(ctx, false) }

func (c *Client) setPaused(ctx context.Context, pause bool) error {
	calls := make([]*call, c.partitions)
	for p := range calls {
		calls[p] = &call{Call: pauseScript.On(c.work[p]).Arg("pause", pause)}
	}
	if err := c.run(ctx, calls); err != nil {
		return fmt.Errorf("queue: pause: %w", err)
	}
	return nil
}
