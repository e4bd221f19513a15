package queue

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// works calls RunNext until it finds nothing, and returns how many tasks ran.
func works(t *testing.T, s *Server) (n int) {
	t.Helper()
	for ; ; n++ {
		if ran, err := s.RunNext(t.Context()); err != nil {
			t.Fatal(err)
		} else if !ran {
			return n
		}
	}
}

func TestRunNextWorksOffTheQueues(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		o.Queues = []QueueOptions{{Name: o.Queue}, {Name: o.Queue + "b"}}
		s := newServer(t, o)
		other := newClient(t, Options{Client: o.Client, Prefix: o.Prefix, Partitions: o.Partitions, Queue: o.Queue + "b"})
		var order []string
		s.Handle("k", func(_ context.Context, task Task) error {
			order = append(order, string(task.Payload))
			switch {
			case string(task.Payload) == "first":
				enqueue(t, other, Task{Kind: "k", Payload: []byte("from the first")})
			case string(task.Payload) == "fails" && task.Attempt == 1:
				panic("once")
			}
			return nil
		})
		for _, payload := range []string{"first", "second", "fails"} {
			enqueue(t, s.Client, Task{Kind: "k", Payload: []byte(payload), ID: NewID(0)})
		}
		enqueue(t, s.Client, Task{Kind: "k", Payload: []byte("in an hour"), Delay: time.Hour})
		n := 0
		until(t, "the retry to be due", func() bool { n += works(t, s); return stats(t, s.Client).Done == 3 })
		if n != 5 || len(order) != 5 || !slices.Equal(slices.DeleteFunc(order, func(p string) bool { return strings.HasPrefix(p, "from") }),
			[]string{"first", "second", "fails", "fails"}) {
			t.Errorf("%d runs: %q", n, order)
		}
		if got := stats(t, s.Client); got.Delayed != 1 || got.Failed != 1 || got.Leased != 0 {
			t.Errorf("%+v", got)
		}
		if got := stats(t, other); got.Done != 1 {
			t.Errorf("the other queue: %+v", got)
		}
		if left := s.held.leases(); len(left) > 0 {
			t.Errorf("%d runs are still held", len(left))
		}
	})
}

// FailNow of a test ends the goroutine of the handler, which is that of RunNext.
func TestRunNextStoresTheOutcomeOfAHandlerThatEndsItsGoroutine(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		s := newServer(t, o)
		s.HandlePolicy("k", Policy{AttemptsMax: 1}, func(context.Context, Task) error { runtime.Goexit(); return nil })
		enqueue(t, s.Client, Task{Kind: "k"})
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_, _ = s.RunNext(t.Context())
			t.Error("RunNext returned")
		}()
		receive(t, "RunNext ends", ended)
		if got := stats(t, s.Client); got.Dead != 1 || got.Leased != 0 {
			t.Errorf("%+v", got)
		}
		if n := works(t, s); n != 0 {
			t.Errorf("%d runs", n)
		}
	})
}

func TestRunNextRenewsTheLeaseOfItsHandler(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		o.Lease = 3 * time.Second
		s := newServer(t, o)
		s.HandlePolicy("k", Policy{AttemptsMax: 100}, func(ctx context.Context, task Task) error {
			first := get(t, s.Client, task.ID).LeaseEnds
			until(t, "two renewals", func() bool {
				return ctx.Err() != nil || get(t, s.Client, task.ID).LeaseEnds.Sub(first) > 1500*time.Millisecond
			})
			return ctx.Err()
		})
		enqueue(t, s.Client, Task{Kind: "k"})
		// A machine that stands still for the length of a lease loses it, rightly: the task then runs again.
		until(t, "a run that keeps its lease", func() bool { works(t, s); return stats(t, s.Client).Done == 1 })
	})
}

func TestRunNextGivesBackWhenItsContextEnds(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		s := newServer(t, o)
		ctx, cancel := context.WithCancel(t.Context())
		s.Handle("k", func(ctx context.Context, _ Task) error {
			cancel()
			<-ctx.Done()
			if !errors.Is(context.Cause(ctx), ErrStopped) {
				t.Errorf("cause %v", context.Cause(ctx))
			}
			return ctx.Err()
		})
		enqueue(t, s.Client, Task{Kind: "k"})
		if ran, err := s.RunNext(ctx); !ran || err != nil {
			t.Errorf("RunNext = %v, %v", ran, err)
		}
		if got := stats(t, s.Client); got.ReadyAll() != 1 || got.Failed != 0 {
			t.Errorf("%+v", got)
		}
		if ran, err := s.RunNext(ctx); ran || !errors.Is(err, context.Canceled) {
			t.Errorf("RunNext = %v, %v", ran, err)
		}
	})
}

func TestRunNextSaysWhyItCannot(t *testing.T) {
	t.Parallel()
	o := options(connectWith(t, startEmbedded(t)), 1)
	s := newServer(t, o)
	if _, err := s.RunNext(t.Context()); !errors.Is(err, ErrNoHandler) {
		t.Errorf("without handlers: %v", err)
	}
	s.Handle("k", func(ctx context.Context, _ Task) error {
		_, err := s.RunNext(ctx)
		return Bury(err)
	})
	id := enqueue(t, s.Client, Task{Kind: "k"})
	if n := works(t, s); n != 1 {
		t.Errorf("%d runs", n)
	}
	if got := get(t, s.Client, id).LastError; got != "queue: RunNext is running already" {
		t.Errorf("within a handler: %q", got)
	}
	if err := s.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "RunNext was called before") {
		t.Errorf("Run: %v", err)
	}
	another := newServer(t, o)
	another.Handle("k", func(context.Context, Task) error { return nil })
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_ = another.Run(ctx)
	if _, err := another.RunNext(t.Context()); err == nil || !strings.Contains(err.Error(), "Run was called before") {
		t.Errorf("RunNext: %v", err)
	}
}
