package queue

import (
	"sync"
	"sync/atomic"
	"time"
)

// running is a claimed task that this server holds, from its claim until Redis has stored its outcome.
type running struct {
	Task
	queue     *serverQueue
	partition int
	token     string
	crashes   int           // earlier runs whose worker died
	late      time.Duration // how late the task was claimed
	claimedMs int64         // when, by the clock of Redis
	deadline  time.Time     // by our clock; zero = none
	ctx       runContext
	// outcome is written by the goroutine that has set ended, before it sends the run to Server.ended. A claim that
	// must not run at all already has one.
	outcome outcome
	ended   atomic.Bool // its one outcome has been decided
	until   time.Time   // the lease cannot have ended before this; guarded by held.mu
	index   int         // position in held.all; guarded by held.mu
}

// held is the set of runs that this server has leases on.
//
// Invariant: a run gets at most one outcome, whichever of its handler, the loss of its lease and the stopping server
// comes first.
type held struct {
	mu      sync.Mutex
	all     []*running
	sending sync.WaitGroup // outcomes decided and not yet in Server.ended
}

func (h *held) add(rs []*running) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, r := range rs {
		r.index = len(h.all)
		h.all = append(h.all, r)
	}
}

// finish claims the right to decide the outcome of a run. The caller that gets it sends the run and then calls
// sending.Done.
func (h *held) finish(r *running) bool {
	h.sending.Add(1) // before ended is set: a goroutine that sees it set may wait for sending
	if r.ended.Swap(true) {
		h.sending.Done()
		return false
	}
	return true
}

// drop forgets runs whose outcomes are stored or void. Dropping one twice is harmless.
func (h *held) drop(rs []*running) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, r := range rs {
		h.dropLocked(r)
	}
}

func (h *held) dropLocked(r *running) {
	if r.index >= len(h.all) || h.all[r.index] != r {
		return
	}
	last := h.all[len(h.all)-1]
	h.all[r.index], last.index = last, r.index
	h.all[len(h.all)-1] = nil
	h.all = h.all[:len(h.all)-1]
}

// lose forgets runs whose leases another server has, or may have, and returns those without an outcome.
func (h *held) lose(rs []*running) []*running {
	h.mu.Lock()
	defer h.mu.Unlock()
	var lost []*running
	for _, r := range rs {
		h.dropLocked(r)
		if !r.ended.Swap(true) {
			lost = append(lost, r)
		}
	}
	return lost
}

// leases returns all held runs.
func (h *held) leases() []*running {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]*running(nil), h.all...)
}

// find returns the run of a claim.
func (h *held) find(q *serverQueue, partition int, id, token string) []*running {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, r := range h.all {
		if r.queue == q && r.partition == partition && r.ID == id && r.token == token {
			return []*running{r}
		}
	}
	return nil
}

// renewed notes that the leases hold until the given time.
func (h *held) renewed(rs []*running, until time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, r := range rs {
		r.until = until
	}
}

// outlived returns the runs whose leases may have ended by now.
func (h *held) outlived(now time.Time) []*running {
	h.mu.Lock()
	defer h.mu.Unlock()
	var over []*running
	for _, r := range h.all {
		if !r.ended.Load() && now.After(r.until) {
			over = append(over, r)
		}
	}
	return over
}

// takeRunning claims the right to decide the outcome of every run that has none.
func (h *held) takeRunning() []*running {
	h.mu.Lock()
	defer h.mu.Unlock()
	var rest []*running
	for _, r := range h.all {
		if !r.ended.Swap(true) {
			rest = append(rest, r)
		}
	}
	return rest
}

// outlivedAt reports whether a run's lease may have ended at the given time.
func (h *held) outlivedAt(r *running, at time.Time) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return at.After(r.until)
}
