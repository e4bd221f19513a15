package client

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/chatd/chatd/client/internal/clock"
)

// Backoff spaces repeated attempts with full jitter: before attempt n it waits a random time between Min and Base * 2^n, at
// most Max. Without the jitter, clients that lost the same server would all come back at the same instant.
type Backoff struct {
	Min  time.Duration
	Base time.Duration
	Max  time.Duration
}

// Delay returns how long to wait after the attempt-th failure (from 0). A time that the server asked for is a lower
// bound, with jitter on top.
func (b Backoff) Delay(attempt int, asked time.Duration) time.Duration {
	return b.delay(rand.Float64(), attempt, asked)
}

func (b Backoff) delay(random float64, attempt int, asked time.Duration) time.Duration {
	limit := b.Max
	if attempt < 32 {
		if d := b.Base << attempt; d > 0 && d < limit {
			limit = d
		}
	}
	return asked + b.Min + time.Duration(random*float64(max(0, limit-b.Min)))
}

// sleep waits before another attempt.
func (b Backoff) sleep(ctx context.Context, attempt int, asked time.Duration) error {
	return clock.Sleep(ctx, b.delay(clock.From(ctx).Random(), attempt, asked))
}
