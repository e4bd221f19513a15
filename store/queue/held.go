package queue

import (
	"context"
	"sync"
	"time"
)

// slots counts free workers and tells when there is one again.
type slots struct {
	mu    sync.Mutex
	free  int
	freed chan struct{} // has an entry when free has grown since it was last read
}

func (s *slots) init(n int) {
	s.free = n
	s.freed = make(chan struct{}, 1)
}

func (s *slots) available() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.free
}

func (s *slots) take(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.free -= n
}

func (s *slots) put() {
	s.mu.Lock()
	s.free++
	s.mu.Unlock()
	select {
	case s.freed <- struct{}{}:
	default:
	}
}

// running is a claimed task in the hands of this server, from its claim until Redis has
// its result.
type running struct {
	*claimed
	cancel context.CancelCauseFunc
	until  time.Time // before it the lease cannot have ended; guarded by held.mu
	ended  bool      // its one result has been made; guarded by held.mu
}

func (r *running) result(v verdict, delay time.Duration, reason string) result {
	return result{partition: r.partition, id: r.ID, token: r.token, verdict: v, delay: delay, reason: reason}
}

// held is what this server has leases on.
//
// Invariant: an entry makes at most one result, whichever of its handler, the loss of its
// lease and the stopping server comes first.
type held struct {
	mu      sync.Mutex
	by      map[string]*running // see holdKey
	sending sync.WaitGroup      // results made and not yet in Server.ended
}

func (h *held) init() { h.by = make(map[string]*running) }

// holdKey tells apart two leases on one task: after a lease was lost, the same server may
// claim the task again while the old handler still runs.
func holdKey(id, token string) string { return id + " " + token }

func (h *held) add(rs []*running) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, r := range rs {
		h.by[holdKey(r.ID, r.token)] = r
	}
}

// finish claims the right to make the result of a run. Whoever gets it sends the result
// and then says sending.Done.
func (h *held) finish(r *running) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if r.ended {
		return false
	}
	r.ended = true
	h.sending.Add(1)
	return true
}

// drop forgets runs whose results are stored, or void.
func (h *held) drop(results []result) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, r := range results {
		delete(h.by, holdKey(r.id, r.token))
	}
}

// lose ends the runs whose leases somebody else has, or may have.
func (h *held) lose(results []result) []*running {
	h.mu.Lock()
	defer h.mu.Unlock()
	var lost []*running
	for _, r := range results {
		key := holdKey(r.id, r.token)
		if one := h.by[key]; one != nil {
			delete(h.by, key)
			if !one.ended {
				one.ended = true
				lost = append(lost, one)
			}
		}
	}
	return lost
}

// leases lists everything held.
func (h *held) leases() []result {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := make([]result, 0, len(h.by))
	for _, r := range h.by {
		all = append(all, result{partition: r.partition, id: r.ID, token: r.token})
	}
	return all
}

// renewed notes that leases are good until a time.
func (h *held) renewed(results []result, until time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, r := range results {
		if one := h.by[holdKey(r.id, r.token)]; one != nil {
			one.until = until
		}
	}
}

// outlived lists the runs whose leases may have ended by now.
func (h *held) outlived(now time.Time) []result {
	h.mu.Lock()
	defer h.mu.Unlock()
	var over []result
	for _, r := range h.by {
		if !r.ended && now.After(r.until) {
			over = append(over, result{partition: r.partition, id: r.ID, token: r.token})
		}
	}
	return over
}

// takeRunning claims the right to make the results of all runs that have none.
func (h *held) takeRunning() []*running {
	h.mu.Lock()
	defer h.mu.Unlock()
	var rest []*running
	for _, r := range h.by {
		if !r.ended {
			r.ended = true
			rest = append(rest, r)
		}
	}
	return rest
}
