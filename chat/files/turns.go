package files

import (
	"context"
	"slices"
	"sync"
)

// turns makes the previews of a process take turns, so that the memory of one bounds them all. Each user has an equal share
// of the work that waits, counted by what it costs: a user who asks for many large pictures waits for them, and others do not (start-time
// fair queueing: Goyal, Vin and Cheng, 1996).
type turns struct {
	mu      sync.Mutex
	busy    bool
	now     int64            // the cost up to which everyone who waited was served
	ends    map[string]int64 // by user: the same, once all that they asked for is served; those of the past are dropped
	waiting []*turn
}

// turn is a preview that waits.
type turn struct {
	end   int64 // up to where its user's share is used then
	begin chan struct{}
}

// take waits for a turn of user, which costs so much. done ends it.
func (t *turns) take(ctx context.Context, user string, cost int64) (done func(), err error) {
	t.mu.Lock()
	if t.ends == nil {
		t.ends = map[string]int64{}
	}
	one := &turn{end: max(t.now, t.ends[user]) + cost, begin: make(chan struct{})}
	t.ends[user] = one.end
	t.waiting = append(t.waiting, one)
	t.nextLocked()
	t.mu.Unlock()
	select {
	case <-one.begin:
		return t.done, nil
	case <-ctx.Done():
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if i := slices.Index(t.waiting, one); i >= 0 {
		t.waiting = slices.Delete(t.waiting, i, i+1)
	} else { // its turn has begun meanwhile
		t.busy = false
		t.nextLocked()
	}
	return nil, context.Cause(ctx)
}

func (t *turns) done() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.busy = false
	t.nextLocked()
}

// nextLocked begins the turn of the user who has used the least.
func (t *turns) nextLocked() {
	if t.busy || len(t.waiting) == 0 {
		return
	}
	first := 0
	for i, one := range t.waiting {
		if one.end < t.waiting[first].end {
			first = i
		}
	}
	one := t.waiting[first]
	t.waiting = slices.Delete(t.waiting, first, first+1)
	t.busy, t.now = true, max(t.now, one.end)
	for user, end := range t.ends {
		if end <= t.now {
			delete(t.ends, user)
		}
	}
	close(one.begin)
}
