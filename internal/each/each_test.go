package each

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
)

// TestStops: what has not begun when one fails is not begun, and the error is that of the first.
func TestStops(t *testing.T) {
	failed := errors.New("failed")
	var begun atomic.Int64
	err := Of(t.Context(), make([]int, 1000), func(context.Context, int) error {
		begun.Add(1)
		return failed
	})
	if !errors.Is(err, failed) || begun.Load() > atOnce {
		t.Errorf("got %v after %d, want the first error after %d at most", err, begun.Load(), atOnce)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := Of(ctx, []int{1, 2}, func(context.Context, int) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v of a context that has ended", err)
	}
}
