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
	// Cursor is BulkResult.Next of the call before; empty = begin at the first task.
	Cursor string
}

// BulkResult says what one call of Bulk did.
type BulkResult struct {
	Looked  int    // tasks that it looked at
	Changed int    // those that it retried or deleted
	Next    string // cursor of the next call; empty: it has been through all of them
}

// Bulk retries or deletes the next tasks in a state. One call is one atomic step in one partition, which looks at no more
// than 100 tasks, 1,000 members of their batches and 256 KiB (or one task, if that alone is more), so other callers
// never wait long for it. Call it until Next is empty, for as long as you like: anyone with the cursor can go on, also
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
	p, anchor, ok := parseCursor(q.State, q.Cursor)
	if !ok || p >= c.partitions {
		return r, fmt.Errorf("%w: cursor %q", ErrInvalid, q.Cursor)
	}
	act := string(q.Act)
	if q.Act == BulkRun {
		act = string(BulkRetry)
	}
	one := &call{Call: bulkScript.On(c.work[p]).Arg("state", string(q.State)).Arg("act", act).Arg("kind", q.Kind).
		Arg("err", q.Error).Arg("before_ms", before).Arg("anchor", anchor).Arg("limit", bulkLook)}
	if err := c.run(ctx, []*call{one}); err != nil {
		return r, fmt.Errorf("queue: bulk: %w", err)
	}
	values, err := one.cmd.Slice()
	if err != nil || len(values) != 4 {
		return r, fmt.Errorf("queue: bulk: unexpected answer %.200v", one.cmd)
	}
	more, _ := values[0].(int64)
	looked, _ := values[1].(int64)
	changed, _ := values[2].(int64)
	r.Looked, r.Changed = int(looked), int(changed)
	if anchor, _ = values[3].(string); more == 1 {
		r.Next = makeCursor(q.State, p, anchor)
	} else if p+1 < c.partitions {
		r.Next = makeCursor(q.State, p+1, "")
	}
	return r, nil
}
