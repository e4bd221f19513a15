// Package backoff says how long to wait before something that failed is tried again. All of it is random in part, so that
// those who failed together do not come back together. See "Exponential Backoff And Jitter" in the AWS Architecture Blog.
package backoff

import (
	"math/rand/v2"
	"time"
)

// Backoff spaces the attempts of a loop: from Min on the pause doubles with each failure, up to Max. Half of it is random.
// Min is above zero and not above Max. It is for one goroutine.
type Backoff struct {
	Min, Max time.Duration
	failures int
}

// Next is the pause after one more failure: between half and the whole of the doubled pause.
func (b *Backoff) Next() time.Duration {
	pause := Doubled(b.Min, b.Max, b.failures)
	b.failures++
	return pause/2 + Full(pause-pause/2)
}

// Reset begins again with Min, after a success.
func (b *Backoff) Reset() { b.failures = 0 }

// Failing tells whether the last attempt failed.
func (b *Backoff) Failing() bool { return b.failures > 0 }

// Doubled is least, doubled n times, at most most. There is no n for which it overflows.
func Doubled(least, most time.Duration, n int) time.Duration {
	if n > 62 || least <= 0 {
		return most
	}
	d := least << n
	if d > most || d>>n != least {
		return most
	}
	return d
}

// Full is a random time from 0 to d, "full jitter".
func Full(d time.Duration) time.Duration { return rand.N(d + 1) }

// Spread is d and up to a tenth more: for pauses that must not be shorter than d.
func Spread(d time.Duration) time.Duration { return d + Full(d/10) }
