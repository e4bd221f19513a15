package limit

import (
	"context"
	"slices"
	"sync"
	"time"
)

// atOnce counts what each caller has under way. A burst waits for its turn, in the order of arrival, before it is refused.
type atOnce[K comparable] struct {
	max     int           // under way
	wait    time.Duration // the longest wait for a turn; 0: no waiting
	waitMax int           // how many may wait

	mu   sync.Mutex
	held map[K]*turns
}

type turns struct {
	n     int             // under way; while some wait it is max
	queue []chan struct{} // closed when the turn has come
}

// newAtOnce returns nil, which does not limit anything, if most is 0.
func newAtOnce[K comparable](most int, wait time.Duration, waitMax int) *atOnce[K] {
	if most == 0 {
		return nil
	}
	return &atOnce[K]{max: most, wait: wait, waitMax: waitMax, held: map[K]*turns{}}
}

// enter counts one more for key and reports whether that was allowed; leave counts one less.
func (a *atOnce[K]) enter(ctx context.Context, key K) bool {
	if a == nil {
		return true
	}
	a.mu.Lock()
	t := a.held[key]
	if t == nil {
		t = &turns{}
		a.held[key] = t
	}
	if t.n < a.max {
		t.n++
		a.mu.Unlock()
		return true
	}
	if len(t.queue) >= a.waitMax {
		a.mu.Unlock()
		return false
	}
	turn := make(chan struct{})
	t.queue = append(t.queue, turn)
	a.mu.Unlock()

	timer := time.NewTimer(a.wait)
	defer timer.Stop()
	select {
	case <-turn:
		return true
	case <-timer.C:
	case <-ctx.Done():
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if i := slices.Index(t.queue, turn); i >= 0 {
		t.queue = slices.Delete(t.queue, i, i+1)
		return false
	}
	return true // the turn came in the same moment
}

func (a *atOnce[K]) leave(key K) {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	t := a.held[key]
	if len(t.queue) > 0 { // the turn passes to the caller that has waited longest
		close(t.queue[0])
		t.queue = t.queue[1:]
		return
	}
	if t.n--; t.n == 0 {
		delete(a.held, key)
	}
}
