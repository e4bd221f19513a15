package client

import (
	"context"
	"math/rand/v2"
	"time"
)

// Backoff spaces repeated attempts with full jitter: before attempt n it waits a random time up to Base * 2^n, at most
// Max. Without the jitter, clients that lost the same server would all come back at the same instant.
type Backoff struct {
	Base time.Duration
	Max  time.Duration
}

// Delay returns how long to wait after the attempt-th failure (from 0). A time that the server asked for is a lower
// bound, with jitter on top.
func (b Backoff) Delay(attempt int, asked time.Duration) time.Duration {
	limit := b.Max
	if attempt < 32 {
		if d := b.Base << attempt; d > 0 && d < limit {
			limit = d
		}
	}
	if limit <= 0 {
		return asked
	}
	return asked + rand.N(limit)
}

// sleep waits for d or the end of ctx, whichever is first.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
