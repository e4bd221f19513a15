package queue

import (
	"context"
	"fmt"
	"slices"
	"sync"
)

// committer joins calls of Enqueue that come together. While few callers are inside, each call
// goes at once. When there are more, commitFlushes calls to Redis are under way at a time;
// who comes meanwhile waits, and the next call takes along all that wait. It has no goroutine
// of its own: the first of those who wait leads the others.
//
// Invariant: while somebody waits, a call is under way, whose end passes on the lead.
type committer struct {
	mu      sync.Mutex
	inside  int // callers
	flying  int // calls to Redis under way
	waiting []*waiter
}

// waiter is one caller that waits.
type waiter struct {
	task Task
	turn chan struct{} // closed when it has a batch to lead, or its answer
	// batch is whom it leads, itself the first. Before turn is closed it is guarded by
	// committer.mu, as is sent, which says that somebody has taken it along.
	batch []*waiter
	sent  bool
	ok    bool
	err   error
}

// enqueueOne puts one task in, alone or with others.
func (c *Client) enqueueOne(ctx context.Context, t Task) (bool, error) {
	m := &c.commit
	m.mu.Lock()
	m.inside++
	defer m.leave()
	// Nobody overtakes those who wait: they would wait as long as there are others.
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

// lead puts in the tasks of a batch and tells those who wait for it. The others' calls must
// not be cut off with the leader's.
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

// land notes that a call has ended, and passes the lead to the first who waits.
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

// leads says of a caller that has no more time whether it must go on for the others. If its
// task has not been taken along, it never is.
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
