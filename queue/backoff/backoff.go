// Package backoff computes how long to wait before retrying something that failed. All pauses are partly random, so
// that callers that failed together do not retry together. See "Exponential Backoff And Jitter" in the AWS Architecture
// Blog.
package backoff

import (
	"math/rand/v2"
	"time"
)

// Backoff spaces the attempts of a loop: the pause starts at Min and doubles with each failure, up to Max. Half of it
// is random. Min is above zero and at most Max. It is for one goroutine.
type Backoff struct {
	Min, Max time.Duration
	failures int
}

// Next returns the pause after one more failure: between half of the doubled pause and all of it.
func (b *Backoff) Next() time.Duration {
	pause := Doubled(b.Min, b.Max, b.failures)
	b.failures++
	return pause/2 + Full(pause-pause/2)
}

// Reset starts over with Min, after a success.
func (b *Backoff) Reset() { b.failures = 0 }

// Failing reports whether the last attempt failed.
func (b *Backoff) Failing() bool { return b.failures > 0 }

// Doubled returns least, doubled n times, capped at most. It does not overflow for any n.
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

// Full returns a random time from 0 to d, "full jitter".
func Full(d time.Duration) time.Duration { return rand.N(d + 1) }

// Spread returns d plus up to a tenth: for pauses that must not be shorter than d.
func Spread(d time.Duration) time.Duration { return d + Full(d/10) }
