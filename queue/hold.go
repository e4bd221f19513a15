package queue

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/chatd/chatd/queue/backoff"
	"github.com/chatd/chatd/queue/option"
)

// KindHold is the kind under which the slots of Hold are listed.
const KindHold = "@hold"

// Slot is a slot of a limit that code other than a task has. A goroutine renews its lease until Release. It is safe for
// concurrent use.
type Slot struct {
	ctx    context.Context
	end    context.CancelCauseFunc
	set    queueSet
	run    *running
	lease  time.Duration
	fence  int64
	expiry *time.Timer
	keeper sync.WaitGroup
}

// Hold waits for a slot of the limit with a key, in line with the tasks that wait for one, and returns it. It shares the
// slots of tasks of this queue whose partition is that of the key, see Limit: of those with no id, Subject or unique key
// of their own. With most 1, it is a lock. A paused queue does not hold it up.
//
// The context bounds the waiting alone. If it ends first, its error is returned and the caller has left the line. If a
// process dies, its slot is free when the lease ends (Options.Lease, by the clock of Redis); if it dies while it waits,
// its turn passes after a lease. ErrInvalid: the key or the number is none of Limit. ErrCancelled: someone removed the
// caller from the line.
//
// Waiting takes up to 4 commands a second. In the figures, a slot is a task: parked, leased, done.
func (c *Client) Hold(ctx context.Context, key string, most int) (*Slot, error) {
	return c.hold(ctx, key, most, busyWait)
}

// TryHold is Hold that does not wait. ErrBusy: no slot is free, or others wait for one.
func (c *Client) TryHold(ctx context.Context, key string, most int) (*Slot, error) {
	return c.hold(ctx, key, most, busyFail)
}

func (c *Client) hold(ctx context.Context, key string, most int, busy string) (*Slot, error) {
	t := Task{Kind: KindHold, Limit: &Limit{Key: key, Max: most, Hold: true}}
	if err := t.Limit.Check(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	p := Partition(key, c.partitions)
	t.ID = NewID(p)
	set := newQueueSet(c)
	r := &running{Task: t, queue: set.queues[0], partition: p, token: newToken()}
	again := backoff.Backoff{Min: askPauseMin, Max: askPauseMax}
	for {
		sent := time.Now()
		fence, err := c.askForSlot(ctx, r, busy)
		switch {
		case err == nil && fence > 0:
			return newSlot(ctx, set, r, fence, sent, c.lease), nil
		case err == nil && fence < 0 && busy == busyFail:
			return nil, ErrBusy
		case err == nil && fence < 0:
			return nil, ErrCancelled
		case err != nil && busy != busyAgain:
			// Whether it is in line is unknown.
			c.leaveLine(ctx, r)
			return nil, fmt.Errorf("queue: hold: %w", err)
		}
		busy = busyAgain
		select {
		case <-ctx.Done():
			c.leaveLine(ctx, r)
			return nil, context.Cause(ctx)
		case <-time.After(again.Next()):
		}
	}
}

// What a caller without a free slot does: it waits, it fails, or it asks again whether one has been passed on to it.
const busyWait, busyFail, busyAgain = "wait", "fail", "again"

func (c *Client) askForSlot(ctx context.Context, r *running, busy string) (int64, error) {
	one := &call{Call: holdScript.On(c.work[r.partition]).Arg("id", r.ID).Arg("token", r.token).Arg("lease_ms", option.CeilMs(c.lease)).
		Arg("busy", busy).Arg("options", r.optionLines())}
	if err := c.run(ctx, []*call{one}); err != nil {
		return 0, err
	}
	return one.cmd.Int64()
}

// leaveLine removes a caller that has given up. If that fails, its turn passes after a lease.
func (c *Client) leaveLine(ctx context.Context, r *running) {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), stopGrace)
	defer stop()
	_, _ = c.Cancel(ctx, r.ID)
}

func newSlot(ctx context.Context, set queueSet, r *running, fence int64, sent time.Time, lease time.Duration) *Slot {
	s := &Slot{set: set, run: r, lease: lease, fence: fence}
	s.ctx, s.end = context.WithCancelCause(context.WithoutCancel(ctx))
	s.expiry = time.AfterFunc(time.Until(sent.Add(lease)), func() { s.end(ErrLeaseLost) })
	s.keeper.Go(s.keep)
	return s
}

// Context ends when the slot is lost or released: its cause is then ErrLeaseLost, as the lease could not be renewed in
// time, ErrCancelled, as someone cancelled it, or context.Canceled. It has the values of the context of Hold.
func (s *Slot) Context() context.Context { return s.ctx }

// Fence is a number that grows with each slot that is taken in the partition. Storage that refuses a write with a lower
// number than one it has seen is safe from a holder that does not know yet that it has lost its slot. It is the time of
// Redis in us, or more, so it also grows across a failover that lost a write.
func (s *Slot) Fence() int64 { return s.fence }

// Release frees the slot and passes it on to the task or caller that has waited longest, in one atomic step.
// ErrLeaseLost: the slot was lost or released before. After another error it is unknown whether it is free; it is at the
// latest when the lease ends.
func (s *Slot) Release(ctx context.Context) error {
	s.end(context.Canceled)
	s.keeper.Wait()
	s.run.outcome = outcome{verdict: complete}
	got, err := s.set.settle(ctx, []*running{s.run}, deadBounds{deadMaxDefault, deadBytesMaxDefault})
	if err != nil {
		return fmt.Errorf("queue: release: %w", err)
	}
	if len(got.stale) > 0 {
		return ErrLeaseLost
	}
	return nil
}

// keep renews the lease three times before it ends, until the slot is lost or released.
func (s *Slot) keep() {
	defer s.expiry.Stop()
	ticker := time.NewTicker(max(s.lease/3, time.Millisecond))
	defer ticker.Stop()
	for {
		select {
		case <-s.ctx.Done():
			return
		case <-ticker.C:
		}
		sent := time.Now()
		got, err := s.set.renew(s.ctx, []*running{s.run}, s.lease)
		switch {
		case err != nil: // again, until the lease ends
		case len(got.gone) > 0:
			s.end(ErrCancelled)
		case len(got.stale) > 0:
			s.end(ErrLeaseLost)
		default:
			s.expiry.Reset(time.Until(sent.Add(s.lease)))
		}
	}
}
