package archive

import (
	"sync"
	"time"

	"github.com/chatd/chatd/queue/backoff"
)

// How long a failed database is left alone: within this time of its return, what waits for it is archived.
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
	calls    int       // under way
	heard    time.Time // when the database answered last, or the first of the calls began
}

// enter tells whether the database may be called now, or else when to ask again. A caller that may must call leave.
func (b *breaker) enter() (wait time.Duration, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.failures > 0 {
		if wait = time.Until(b.until); wait > 0 || b.trying {
			return backoff.Spread(b.pause()), false
		}
		b.trying = true
	}
	if b.calls == 0 {
		b.heard = time.Now()
	}
	b.calls++
	return 0, true
}

// pause is how long to leave a failed database alone. The call that tries it may take seconds: others do not try again before the
// last pause is over.
func (b *breaker) pause() time.Duration {
	if b.trying {
		return backoff.Doubled(awayPauseMin, awayPauseMax, b.failures-1)
	}
	return max(time.Until(b.until), awayPauseMin)
}

// silence is how long the database has left all calls without an answer; at most awayPauseMax.
func (b *breaker) silence() time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.calls == 0 {
		return 0
	}
	return min(time.Since(b.heard), awayPauseMax)
}

// shut tells whether enter would refuse now, without entering.
func (b *breaker) shut() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.failures > 0 && (time.Until(b.until) > 0 || b.trying)
}

// wait tells whether the database is left alone, and for how much longer.
func (b *breaker) wait() (wait time.Duration, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.failures == 0 {
		return 0, true
	}
	return backoff.Spread(b.pause()), false
}

// leave records whether the database answered. back: it was away until now.
func (b *breaker) leave(answered bool) (back bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.trying = false
	b.calls--
	b.heard = time.Now()
	if answered {
		back = b.failures > 0
		b.failures = 0
		return back
	}
	if b.failures == 0 {
		b.since = time.Now()
	}
	b.until = time.Now().Add(backoff.Doubled(awayPauseMin, awayPauseMax, b.failures))
	b.failures++
	return false
}

// abandon leaves for a caller whose own time ran out before the database answered, such as a search that waits for half a second:
// that says nothing about the database. While the database is away, abandon returns false, and the caller leaves as after a failure.
func (b *breaker) abandon() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.failures > 0 {
		return false
	}
	b.calls--
	return true
}

// awaySince is when the database went away; zero while it answers.
func (b *breaker) awaySince() time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.failures == 0 {
		return time.Time{}
	}
	return b.since
}
