package queue

import (
	"context"
	"fmt"
	"time"
)

// BulkAct is what Bulk does to tasks.
type BulkAct string

// What Bulk can do.
const (
	BulkRetry  BulkAct = "retry"  // as Client.Retry
	BulkDelete BulkAct = "delete" // as Client.Cancel
	BulkRun    BulkAct = "run"    // as BulkRetry, of delayed tasks alone: they are ready now
)

// bulkLook is how many tasks one step of Bulk looks at.
const bulkLook = 100

// BulkQuery selects the tasks that Bulk acts on.
type BulkQuery struct {
	// Act is required.
	Act BulkAct
	// State of the tasks: Delayed or Dead, required.
	State State
	// Kind of the tasks; empty = all kinds.
	Kind string
	// Error is text that the error of the last run contains, byte by byte; empty = whatever it is. At most 1,024 bytes.
	Error string
	// Before, if set, takes only dead tasks that died, or delayed ones that are due, before this time, rounded down to ms,
	// by the clock of Redis.
	Before time.Time
	// IDs, if there are any, are the only tasks to look at: at most 100. Those that are not in State are passed over, so that
	// repeating a call changes nothing twice (with Before, not even what has died again since). Cursor says nothing then.
	IDs []string
	// Cursor is BulkResult.Next of the call before; empty = begin at the first task.
	Cursor string
}

// BulkResult says what one call of Bulk did.
type BulkResult struct {
	Looked  int    // tasks that it looked at; of IDs, those that may exist
	Changed int    // those that it retried or deleted
	Next    string // cursor of the next call; empty: it has been through all of them
}

// Bulk retries or deletes the next tasks in a state. One call is one atomic step in one partition, which looks at no more
// than 100 tasks, 1,000 members of their batches and 256 KiB (or one task, if that alone is more), so other callers
// never wait long for it; with IDs, it makes as many such steps as they need. Call it until Next is empty, for as long as you like: anyone with the cursor can go on, also
// after an interruption. After a network error repeat the call with the same cursor; only the answer is lost, so that
// what this step changed is counted nowhere.
//
// Dead tasks are taken newest first, and one that dies again meanwhile is left alone. Delayed ones are taken soonest
// first; a task that was retried, failed, and waits for its next attempt before the end is reached can be retried again.
// ErrInvalid: the query is malformed.
func (c *Client) Bulk(ctx context.Context, q BulkQuery) (BulkResult, error) {
	var r BulkResult
	if q.Act != BulkRetry && q.Act != BulkDelete && q.Act != BulkRun {
		return r, fmt.Errorf("%w: act %q: want retry, delete or run", ErrInvalid, q.Act)
	}
	if q.State != Delayed && q.State != Dead {
		return r, fmt.Errorf("%w: state %q: Bulk takes delayed or dead tasks", ErrInvalid, q.State)
	}
	if q.Act == BulkRun && q.State == Dead {
		return r, fmt.Errorf("%w: act run takes delayed tasks: retry dead ones", ErrInvalid)
	}
	if len(q.Error) > errorBytesMax {
		return r, fmt.Errorf("%w: error of %d bytes, at most %d", ErrInvalid, len(q.Error), errorBytesMax)
	}
	var before int64
	if !q.Before.IsZero() {
		before = min(max(q.Before.UnixMilli(), 1), msMax)
	}
	if len(q.Kind) > nameBytesMax {
		return r, fmt.Errorf("%w: kind of %d bytes, at most %d", ErrInvalid, len(q.Kind), nameBytesMax)
	}
	if len(q.IDs) > bulkLook {
		return r, fmt.Errorf("%w: %d ids, at most %d", ErrInvalid, len(q.IDs), bulkLook)
	}
	if len(q.IDs) > 0 {
		return c.bulkOf(ctx, q, before)
	}
	p, anchor, ok := parseCursor(q.State, q.Cursor)
	if !ok || p >= c.partitions {
		return r, fmt.Errorf("%w: cursor %q", ErrInvalid, q.Cursor)
	}
	r, more, anchor, err := c.bulkStep(ctx, q, before, p, anchor, nil)
	if more {
		r.Next = makeCursor(q.State, p, anchor)
	} else if err == nil && p+1 < c.partitions {
		r.Next = makeCursor(q.State, p+1, "")
	}
	return r, err
}

// bulkOf makes the steps that q.IDs need. With an error, the result counts what was done before it.
func (c *Client) bulkOf(ctx context.Context, q BulkQuery, beforeMs int64) (r BulkResult, err error) {
	in := make([][]string, c.partitions)
	for _, id := range q.IDs {
		if p, err := c.partitionOf(id); err == nil {
			in[p] = append(in[p], id)
		}
	}
	for p, ids := range in {
		for len(ids) > 0 {
			step, _, _, err := c.bulkStep(ctx, q, beforeMs, p, "", ids)
			if err != nil {
				return r, err
			}
			r.Looked, r.Changed, ids = r.Looked+step.Looked, r.Changed+step.Changed, ids[step.Looked:]
		}
	}
	return r, nil
}

// bulkStep makes one step in a partition: from an anchor on, or of tasks there.
func (c *Client) bulkStep(ctx context.Context, q BulkQuery, beforeMs int64, p int, anchor string, ids []string) (r BulkResult, more bool, end string, err error) {
	act := q.Act
	if act == BulkRun {
		act = BulkRetry
	}
	one := &call{Call: bulkScript.Sized(c.work[p], len(ids)).Arg("state", string(q.State)).Arg("act", string(act)).Arg("kind", q.Kind).
		Arg("err", q.Error).Arg("before_ms", beforeMs).Arg("anchor", anchor).Arg("limit", bulkLook).List("ids", ids)}
	if err := c.run(ctx, []*call{one}); err != nil {
		return r, false, "", fmt.Errorf("queue: bulk: %w", err)
	}
	values, err := one.cmd.Slice()
	if err == nil && len(values) == 4 {
		goesOn, _ := values[0].(int64)
		looked, _ := values[1].(int64)
		changed, _ := values[2].(int64)
		end, _ = values[3].(string)
		if int(looked) <= len(ids) && looked > 0 || len(ids) == 0 {
			return BulkResult{Looked: int(looked), Changed: int(changed)}, goesOn == 1, end, nil
		}
	}
	return r, false, "", fmt.Errorf("queue: bulk: unexpected answer %.200v", one.cmd)
}
