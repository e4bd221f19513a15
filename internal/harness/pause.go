package harness

import (
	"context"
	"time"
)

// Pause spaces the calls of somebody who polls, or a fault that is injected at intervals. It is not for waiting until
// something has happened.
func Pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
