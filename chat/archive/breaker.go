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

// breaker keeps callers from a database that does not answer. After a failure nobody calls it for a time, then one caller tries.
type breaker struct {
	mu       sync.Mutex
	failures int
	since    time.Time // of the first failure in a row
	until    time.Time
	trying   bool
}

// enter tells whether the database may be called now, else after which time to ask again. Whoever may calls leave.
func (b *breaker) enter() (wait time.Duration, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.failures == 0 {
		return 0, true
	}
	if wait = time.Until(b.until); wait > 0 || b.trying {
		return backoff.Spread(max(wait, awayPauseMin)), false
	}
	b.trying = true
	return 0, true
}

// shut tells whether enter would refuse now, and takes no place.
func (b *breaker) shut() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.failures > 0 && (time.Until(b.until) > 0 || b.trying)
}

// wait tells whether the database is left alone, and for how long still.
func (b *breaker) wait() (wait time.Duration, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.failures == 0 {
		return 0, true
	}
	return backoff.Spread(max(time.Until(b.until), awayPauseMin)), false
}

// leave records whether the database answered. first: it has just gone away, or come back.
func (b *breaker) leave(answered bool) (first bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.trying = false
	if answered {
		first = b.failures > 0
		b.failures = 0
		return first
	}
	if b.failures == 0 {
		first, b.since = true, time.Now()
	}
	b.until = time.Now().Add(backoff.Doubled(awayPauseMin, awayPauseMax, b.failures))
	b.failures++
	return first
}

// awaySince is when the database went away; zero where it answers.
func (b *breaker) awaySince() time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.failures == 0 {
		return time.Time{}
	}
	return b.since
}
