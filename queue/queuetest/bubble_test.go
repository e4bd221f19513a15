package queuetest_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chatd/chatd/queue"
	"github.com/chatd/chatd/queue/queuetest"
)

// In a bubble time.Now stands still as well, so what the tested code computes from it is exact.
func TestTimeOfDayIsExactInABubble(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := queuetest.New(t)
		s := newServer(t, r.Options("mail"))
		s.Handle("k", func(context.Context, queue.Task) error { return nil })
		enqueue(t, s, queue.Task{Kind: "k", Due: time.Now().Add(time.Hour)})
		r.Advance(time.Hour - time.Millisecond)
		runs(t, r, 0, s)
		r.Advance(time.Millisecond)
		runs(t, r, 1, s)
	})
}
