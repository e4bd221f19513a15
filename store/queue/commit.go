package queue

import (
	"context"
	"fmt"
	"slices"
	"sync"
)

// committer batches concurrent calls of Enqueue. While there are few callers, each call goes to Redis at once. When
// there are more, at most commitFlushes calls to Redis are in flight; callers that come meanwhile wait, and the next
// call takes all of them along. It has no goroutine: the first waiting caller leads the others.
//
// Invariant: while a caller waits, a call is in flight, and its end passes on the lead.
type committer struct {
	mu      sync.Mutex
	inside  int // callers
	flying  int // calls to Redis in flight
	waiting []*waiter
}

// waiter is one waiting caller.
type waiter struct {
	task Task
	turn chan struct{} // closed when it has a batch to lead, or its result
	// batch is the callers that it leads, itself first. Until turn is closed, committer.mu guards it and sent, which
	// means that a leader has taken it along.
	batch []*waiter
	sent  bool
	ok    bool
	err   error
}

// enqueueOne enqueues one task, alone or in a batch with others.
func (c *Client) enqueueOne(ctx context.Context, t Task) (bool, error) {
	m := &c.commit
	m.mu.Lock()
	m.inside++
	defer m.leave()
	// Nobody overtakes waiting callers: under steady load they would wait forever.
	if len(m.waiting) == 0 && (m.inside <= commitAlone || m.flying < commitFlushes) {
		m.flying++
		m.mu.Unlock()
		defer m.land()
		ok, failed := c.put(ctx, []Task{t})
		return ok[0], failed[0]
	}
	w := &waiter{task: t, turn: make(chan struct{})}
	m.waiting = append(m.waiting, w)
	m.mu.Unlock()

	select {
	case <-w.turn:
	case <-ctx.Done():
		if !m.leads(w) {
			return false, fmt.Errorf("queue: enqueue: %w", ctx.Err())
		}
		<-w.turn
	}
	if w.batch != nil {
		c.lead(ctx, w.batch)
	}
	return w.ok, w.err
}

// lead enqueues the tasks of a batch and hands the results to its callers. It goes on if the leader's context ends: the
// others' calls must not be cut off with it.
func (c *Client) lead(ctx context.Context, batch []*waiter) {
	defer c.commit.land()
	tasks := make([]Task, len(batch))
	for i, w := range batch {
		tasks[i] = w.task
	}
	ok, failed := c.put(context.WithoutCancel(ctx), tasks)
	for i, w := range batch {
		w.ok, w.err = ok[i], failed[i]
		if i > 0 {
			close(w.turn)
		}
	}
}

// land notes that a call has ended, and passes the lead to the first waiting caller.
func (m *committer) land() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.flying--
	if len(m.waiting) == 0 || m.flying >= commitFlushes {
		return
	}
	m.flying++
	n := min(len(m.waiting), enqueueMax)
	batch := slices.Clone(m.waiting[:n])
	m.waiting = slices.Delete(m.waiting, 0, n)
	for _, w := range batch {
		w.sent = true
	}
	batch[0].batch = batch
	close(batch[0].turn)
}

// leads reports whether a caller whose context has ended must go on because it leads others. If its task has not been
// taken along yet, it never will be.
func (m *committer) leads(w *waiter) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !w.sent {
		m.waiting = slices.DeleteFunc(m.waiting, func(one *waiter) bool { return one == w })
	}
	return w.batch != nil
}

func (m *committer) leave() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.inside--
}
