package queuetest_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chatd/chatd/internal/interval"
	"github.com/chatd/chatd/queue"
	"github.com/chatd/chatd/queue/queuetest"
)

// newServer returns a server of a queue, and what its handlers note.
func newServer(t *testing.T, o queue.Options) *queue.Server {
	t.Helper()
	s, err := queue.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func enqueue(t *testing.T, s *queue.Server, task queue.Task) string {
	t.Helper()
	id, ok, err := s.Enqueue(t.Context(), task)
	if err != nil || !ok {
		t.Fatalf("Enqueue(%+v) = %v, %v", task, ok, err)
	}
	return id
}

func stats(t *testing.T, s *queue.Server) queue.Stats {
	t.Helper()
	got, err := s.Stats(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// runs checks how many tasks RunAll runs.
func runs(t *testing.T, r *queuetest.Redis, want int, servers ...*queue.Server) {
	t.Helper()
	if got := r.RunAll(t.Context(), servers...); got != want {
		t.Fatalf("RunAll = %d runs, want %d", got, want)
	}
}

func TestDelayedTaskRunsWhenTheClockHasAdvanced(t *testing.T) {
	t.Parallel()
	r := queuetest.New(t)
	s := newServer(t, r.Options("mail"))
	var got queue.Task
	s.Handle("remind", func(_ context.Context, task queue.Task) error { got = task; return nil })
	id := enqueue(t, s, queue.Task{Kind: "remind", Payload: []byte("ada"), Delay: time.Hour})
	runs(t, r, 0, s)
	r.Advance(time.Hour - time.Millisecond)
	runs(t, r, 0, s)
	r.Advance(time.Millisecond)
	runs(t, r, 1, s)
	if got.ID != id || string(got.Payload) != "ada" || got.Attempt != 1 {
		t.Errorf("ran %+v", got)
	}
	if got := stats(t, s); got.Done != 1 || got.Enqueued != 1 {
		t.Errorf("%+v", got)
	}
}

func TestDueFollowsTheClockOfRedis(t *testing.T) {
	t.Parallel()
	r := queuetest.New(t)
	s := newServer(t, r.Options("mail"))
	s.Handle("remind", func(context.Context, queue.Task) error { return nil })
	enqueue(t, s, queue.Task{Kind: "remind", Due: r.Now().Add(time.Minute)})
	r.Advance(time.Minute - time.Millisecond)
	runs(t, r, 0, s)
	r.Advance(time.Millisecond)
	runs(t, r, 1, s)
}

func TestFailedTaskIsRetriedAfterItsPause(t *testing.T) {
	t.Parallel()
	r := queuetest.New(t)
	s := newServer(t, r.Options("mail"))
	var attempts []int
	s.HandlePolicy("send", queue.Policy{AttemptsMax: 3}, func(_ context.Context, task queue.Task) error {
		attempts = append(attempts, task.Attempt)
		return errors.New("the post office is closed")
	})
	enqueue(t, s, queue.Task{Kind: "send"})
	runs(t, r, 1, s)
	for _, pause := range []time.Duration{time.Second, 2 * time.Second} { // the bounds, which double
		info := queuetest.RequireEnqueued(t, s, queue.Task{Kind: "send"})
		if info.State != queue.Delayed || info.LastError != "the post office is closed" {
			t.Errorf("%+v", info)
		}
		r.Advance(pause)
		runs(t, r, 1, s)
	}
	queuetest.RequireNotEnqueued(t, s, queue.Task{})
	if got := stats(t, s); got.Dead != 1 || !slices.Equal(attempts, []int{1, 2, 3}) {
		t.Errorf("attempts %v, %+v", attempts, got)
	}
}

func TestVerdictsOfHandlersTakeEffect(t *testing.T) {
	t.Parallel()
	r := queuetest.New(t)
	s := newServer(t, r.Options("mail"))
	var verdict error
	s.Handle("k", func(context.Context, queue.Task) error { return verdict })
	enqueue(t, s, queue.Task{Kind: "k"})

	verdict = queue.Snooze(10 * time.Minute)
	runs(t, r, 1, s)
	r.Advance(10*time.Minute - time.Millisecond)
	runs(t, r, 0, s)
	r.Advance(time.Millisecond)
	verdict = queue.RetryAfter(time.Hour, errors.New("busy"))
	runs(t, r, 1, s)
	r.Advance(time.Hour - time.Millisecond)
	runs(t, r, 0, s)
	r.Advance(time.Millisecond)
	verdict = queue.Bury(errors.New("hopeless"))
	runs(t, r, 1, s)
	r.Advance(1000 * time.Hour)
	runs(t, r, 0, s)
	if got := stats(t, s); got.Dead != 1 || got.Failed != 2 {
		t.Errorf("%+v", got)
	}
}

func TestTaskPastItsDeadlineIsBuriedWithoutARun(t *testing.T) {
	t.Parallel()
	r := queuetest.New(t)
	s := newServer(t, r.Options("mail"))
	s.Handle("k", func(context.Context, queue.Task) error { t.Error("it ran"); return nil })
	enqueue(t, s, queue.Task{Kind: "k", Deadline: r.Now().Add(time.Minute)})
	queuetest.RequireEnqueued(t, s, queue.Task{Kind: "k", Deadline: r.Now().Add(time.Minute)})
	r.Advance(time.Minute)
	runs(t, r, 1, s)
	if got := stats(t, s); got.Dead != 1 {
		t.Errorf("%+v", got)
	}
}

func TestUniqueTaskIsEnqueuedOnceWhileItWaits(t *testing.T) {
	t.Parallel()
	r := queuetest.New(t)
	s := newServer(t, r.Options("mail"))
	s.Handle("index", func(context.Context, queue.Task) error { return nil })
	task := queue.Task{Kind: "index", Unique: "index 7", Delay: time.Minute}
	enqueue(t, s, task)
	if _, ok, err := s.Enqueue(t.Context(), task); ok || err != nil {
		t.Errorf("the second one: %v, %v", ok, err)
	}
	r.Advance(time.Minute)
	runs(t, r, 1, s)
	enqueue(t, s, task)
}

func TestRunAllFollowsTasksThatHandlersEnqueue(t *testing.T) {
	t.Parallel()
	r := queuetest.New(t)
	o := r.Options("first")
	o.Partitions = 3
	s := newServer(t, o)
	o.Queues = []queue.QueueOptions{{Name: "second"}, {Name: "third"}}
	other := newServer(t, o)
	var order []string
	s.Handle("*", func(ctx context.Context, task queue.Task) error {
		order = append(order, task.Kind)
		_, _, err := other.Enqueue(ctx, queue.Task{Kind: "from " + task.Kind}) // a blank is not allowed
		if !errors.Is(err, queue.ErrInvalid) {
			t.Errorf("Enqueue: %v", err)
		}
		_, _, err = other.Enqueue(ctx, queue.Task{Kind: "after." + task.Kind})
		return err
	})
	other.Handle("*", func(_ context.Context, task queue.Task) error { order = append(order, task.Kind); return nil })
	for i := range 4 {
		enqueue(t, s, queue.Task{Kind: fmt.Sprint(i), ID: queue.NewID(1)})
	}
	enqueue(t, s, queue.Task{Kind: "urgent", ID: queue.NewID(1), Priority: queue.Critical})
	runs(t, r, 10, s, other)
	if got := slices.Collect(func(yield func(string) bool) {
		for _, kind := range order {
			if !strings.HasPrefix(kind, "after.") && !yield(kind) {
				return
			}
		}
	}); !slices.Equal(got, []string{"urgent", "0", "1", "2", "3"}) || len(order) != 10 {
		t.Errorf("order %v", order)
	}
}

// A server in Run sleeps up to a second; Advance wakes it, so hours of hourly runs take no time.
func TestAdvanceWakesAServerThatRuns(t *testing.T) {
	t.Parallel()
	r := queuetest.New(t)
	s := newServer(t, r.Options("mail"))
	ran := make(chan int)
	s.Handle("hourly", func(_ context.Context, task queue.Task) error { ran <- task.Attempt; return queue.Snooze(time.Hour) })
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	until(t, "the subscription", func() bool {
		channels, err := r.Client.PubSubChannels(t.Context(), "*").Result()
		return err == nil && len(channels) == 1
	})
	enqueue(t, s, queue.Task{Kind: "hourly"})
	<-ran
	began := time.Now()
	const hours = 10
	for range hours {
		until(t, "the snooze", func() bool { return stats(t, s).Delayed == 1 })
		r.Advance(time.Hour)
		<-ran
	}
	if took := time.Since(began); took > hours/2*time.Second {
		t.Errorf("%d hours took %v: the server was not woken", hours, took)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func until(t *testing.T, what string, cond func() bool) {
	t.Helper()
	var every interval.Growing
	for !cond() {
		select {
		case <-t.Context().Done():
			t.Fatalf("waited in vain: %s", what)
		case <-every.Next():
		}
	}
}

func TestLeasesOfOptionsOutliveAnAdvance(t *testing.T) {
	t.Parallel()
	r := queuetest.New(t)
	s := newServer(t, r.Options("mail"))
	n := 0
	s.Handle("slow", func(context.Context, queue.Task) error {
		n++
		r.Advance(30 * 24 * time.Hour)
		return nil
	})
	enqueue(t, s, queue.Task{Kind: "slow"})
	runs(t, r, 1, s)
	if got := stats(t, s); got.Done != 1 || got.Crashed != 0 || n != 1 {
		t.Errorf("%d runs, %+v", n, got)
	}
}

// A worker dies: another takes its task when the lease has ended.
func TestShortLeaseEndsWithAnAdvance(t *testing.T) {
	t.Parallel()
	r := queuetest.New(t)
	o := r.Options("mail")
	o.Lease = time.Minute
	dying, other := newServer(t, o), newServer(t, o)
	claimed, release := make(chan struct{}), make(chan struct{})
	dying.Handle("k", func(context.Context, queue.Task) error { close(claimed); <-release; return nil })
	other.Handle("k", func(context.Context, queue.Task) error { return nil })
	enqueue(t, dying, queue.Task{Kind: "k"})
	stale := make(chan error, 1)
	go func() {
		_, err := dying.RunNext(t.Context())
		stale <- err
	}()
	<-claimed
	runs(t, r, 0, other)
	r.Advance(time.Minute)
	runs(t, r, 1, other)
	close(release)
	if err := <-stale; err != nil {
		t.Error(err)
	}
	if got := stats(t, other); got.Done != 1 || got.Crashed != 1 {
		t.Errorf("%+v", got)
	}
}

// Occurrences that come while the clock jumps are not missed; the task that fires them is not one that waits.
func TestPeriodicTaskComesOnceForEachOccurrence(t *testing.T) {
	t.Parallel()
	r := queuetest.New(t)
	s := newServer(t, r.Options("mail"))
	var due []time.Time
	s.Handle("digest", func(_ context.Context, task queue.Task) error { due = append(due, task.Due); return nil })
	if err := s.Periodic(queue.Periodic{ID: "digest", Every: time.Hour, Kind: "digest"}); err != nil {
		t.Fatal(err)
	}
	runs(t, r, 0, s)
	queuetest.RequireNotEnqueued(t, s, queue.Task{})
	r.Advance(24 * time.Hour)
	runs(t, r, 1+24, s)
	for i := range due[1:] {
		if due[i+1].Sub(due[i]) != time.Hour {
			t.Errorf("occurrences at %v", due)
		}
	}
}
