package harness

import (
	"context"
	"time"
)

// Pause spaces the calls of a poller, or faults that are injected at intervals. Do not use it to wait for something to
// happen.
func Pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
