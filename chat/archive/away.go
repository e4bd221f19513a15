package archive

import (
	"sync"
	"time"

	"github.com/chatd/chatd/internal/backoff"
)

// How long a database that failed is left alone: what waits for it is taken over within this time of its return.
const (
	awayPauseMin = 250 * time.Millisecond
	awayPauseMax = 3 * time.Second
)

// away keeps callers from a database that does not answer. After a failure nobody calls it for a time, then one caller tries.
type away struct {
	mu       sync.Mutex
	failures int
	since    time.Time // of the first failure in a row
	until    time.Time
	trying   bool
}

// enter tells whether the database may be called now, else after which time to ask again. Whoever may calls leave.
func (a *away) enter() (wait time.Duration, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.failures == 0 {
		return 0, true
	}
	if wait = time.Until(a.until); wait > 0 || a.trying {
		return backoff.Spread(max(wait, awayPauseMin)), false
	}
	a.trying = true
	return 0, true
}

// wait tells whether the database is left alone, and for how long still.
func (a *away) wait() (wait time.Duration, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.failures == 0 {
		return 0, true
	}
	return backoff.Spread(max(time.Until(a.until), awayPauseMin)), false
}

// leave records whether the database answered. first: it has just gone away, or come back.
func (a *away) leave(answered bool) (first bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.trying = false
	if answered {
		first = a.failures > 0
		a.failures = 0
		return first
	}
	if a.failures == 0 {
		first, a.since = true, time.Now()
	}
	a.until = time.Now().Add(backoff.Doubled(awayPauseMin, awayPauseMax, a.failures))
	a.failures++
	return first
}

// awaySince is when the database went away; zero where it answers.
func (a *away) awaySince() time.Time {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.failures == 0 {
		return time.Time{}
	}
	return a.since
}
