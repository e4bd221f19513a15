package archive

import (
	"context"
	"sync"
	"time"
)

// locks let one caller of this node archive a group at a time. Others would read and write the same once more: that does no
// harm, and is of no use.
type locks struct {
	mu   sync.Mutex
	held map[string]chan struct{} // closed when the group is free
}

func newLocks() *locks { return &locks{held: map[string]chan struct{}{}} }

// try takes a group, or returns what is closed when it is free.
func (l *locks) try(group string) (busy <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if held, ok := l.held[group]; ok {
		return held
	}
	l.held[group] = make(chan struct{})
	return nil
}

// wait takes a group, waiting for it.
func (l *locks) wait(ctx context.Context, group string) error {
	for busy := l.try(group); busy != nil; busy = l.try(group) {
		select {
		case <-busy:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

func (l *locks) free(group string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	close(l.held[group])
	delete(l.held, group)
}

// turns spread what comes back later: one each turnPause.
type turns struct {
	mu    sync.Mutex
	taken time.Time // the last one
}

// next is how long to wait for the next turn.
func (t *turns) next() time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	if t.taken = t.taken.Add(turnPause); t.taken.Before(now) {
		t.taken = now
	}
	return t.taken.Sub(now)
}
