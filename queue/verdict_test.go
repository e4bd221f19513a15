package queue

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"
)

// observed collects what Observe receives.
type observed struct {
	mu   sync.Mutex
	runs []Run
}

func (o *observed) hear(r Run) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.runs = append(o.runs, r)
}

func (o *observed) verdicts() (all []string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, r := range o.runs {
		all = append(all, r.Verdict)
	}
	return all
}

func TestCancelEndsTheHandler(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		var heard observed
		o.Observe, o.Lease = heard.hear, time.Minute // a third of which a busy machine does not stand still
		s := newServer(t, o)
		started, causes := make(chan struct{}), make(chan error, 1)
		s.Handle("k", func(ctx context.Context, _ Task) error {
			close(started)
			<-ctx.Done()
			causes <- context.Cause(ctx)
			return errors.New("too late")
		})
		start(t, s)
		until(t, "the subscription", func() bool { return subscribed(t, s) })
		id := enqueue(t, s.Client, Task{Kind: "k"})
		receive(t, "the handler to start", started)
		if state, err := s.Cancel(context.Background(), id); state != Leased || err != nil {
			t.Fatalf("Cancel = %q, %v", state, err)
		}
		began := time.Now()
		if got := receive(t, "the context to end", causes); !errors.Is(got, ErrCancelled) {
			t.Errorf("cause %v", got)
		}
		if took := time.Since(began); took > o.Lease/3 {
			t.Errorf("heard after %v: not by the message", took)
		}
		until(t, "the run to end", func() bool { return len(heard.verdicts()) == 1 })
		if got := heard.verdicts()[0]; got != "cancelled" {
			t.Errorf("verdict %q", got)
		}
		if got := stats(t, s.Client); got.Deleted != 1 || got.Failed != 0 || got.Delayed != 0 || got.ReadyAll() != 0 {
			t.Errorf("got %+v", got)
		}
	})
}

// subscribed reports whether every channel of a server has a subscriber.
func subscribed(t testing.TB, s *Server) bool {
	t.Helper()
	for _, q := range s.set.queues {
		for _, k := range q.keys {
			n, err := s.rdb.PubSubNumSub(context.Background(), k.Wake()).Result()
			if err != nil || n[k.Wake()] != 1 {
				return false
			}
		}
	}
	return true
}

// If the message about a cancellation is lost, the next renewal reports it.
func TestCancelIsHeardByTheRenewal(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		o.Lease = 3 * time.Second
		s := newServer(t, o)
		started, causes := make(chan string, 1), make(chan error, 1)
		s.Handle("k", func(ctx context.Context, task Task) error {
			started <- task.ID
			<-ctx.Done()
			causes <- context.Cause(ctx)
			return nil
		})
		start(t, s)
		id := enqueue(t, s.Client, Task{Kind: "k"})
		receive(t, "the handler to start", started)
		// What cancel.lua does, except for the message.
		p, _ := PartitionOf(id)
		k := s.keys[p]
		poke(t, o.Client, k.Of("leased"), "ZREMRANGEBYRANK", 0, -1)
		poke(t, o.Client, k.Of("tasks"), "HDEL", id)
		poke(t, o.Client, k.Of("counts"), "HINCRBY", "deleted", 1)
		if got := receive(t, "the context to end", causes); !errors.Is(got, ErrCancelled) {
			t.Errorf("cause %v", got)
		}
	})
}

func TestDeadlineIsKept(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		ctx := context.Background()
		var heard observed
		o.Observe = heard.hear
		s := newServer(t, o)
		ran := make(chan string, 10)
		causes := make(chan error, 10)
		s.Handle("quick", func(_ context.Context, task Task) error { ran <- task.ID; return nil })
		s.Handle("slow", func(ctx context.Context, _ Task) error {
			<-ctx.Done()
			causes <- ctx.Err()
			return ctx.Err()
		})
		late := enqueue(t, s.Client, Task{Kind: "quick", Deadline: time.Now().Add(-time.Minute)})
		start(t, s)
		until(t, "the late one to be buried", func() bool { return stats(t, s.Client).Dead == 1 })
		if got := onlyDead(t, s.Client); got.ID != late || got.LastError != "deadline passed" || got.Attempts != 0 || got.Crashes != 0 {
			t.Errorf("got %+v", got)
		}
		if got := heard.verdicts(); len(got) != 1 || got[0] != "expire" {
			t.Errorf("got %v", got)
		}
		if err := s.Retry(ctx, late); err != nil { // its deadline is still in the past
			t.Fatal(err)
		}
		until(t, "it to be buried again", func() bool { return stats(t, s.Client).Buried == 2 })
		if _, err := s.Cancel(ctx, late); err != nil {
			t.Fatal(err)
		}
		early := enqueue(t, s.Client, Task{Kind: "quick", Deadline: time.Now().Add(time.Minute)})
		if got := receive(t, "the early one", ran); got != early {
			t.Errorf("ran %s", got)
		}
		// Where it is late before it starts, on a busy machine, it gets more time.
		for given := 300 * time.Millisecond; ; given *= 4 {
			slow := enqueue(t, s.Client, Task{Kind: "slow", Deadline: time.Now().Add(given)})
			until(t, "the slow one to be buried", func() bool { return stats(t, s.Client).Dead == 1 })
			if onlyDead(t, s.Client).Attempts > 0 {
				break
			}
			if _, err := s.Cancel(ctx, slow); err != nil {
				t.Fatal(err)
			}
		}
		if got := receive(t, "the context to end", causes); !errors.Is(got, context.DeadlineExceeded) {
			t.Errorf("got %v", got)
		}
		if got := onlyDead(t, s.Client); got.LastError != "deadline passed; before: context deadline exceeded" || got.Attempts != 1 {
			t.Errorf("got %+v", got)
		}
	})
}

// TestHandlersSayWhatComesNext goes through the verdicts of handlers, and what Observe receives.
func TestHandlersSayWhatComesNext(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		var heard observed
		o.Observe = heard.hear
		o.AttemptsMax, o.BackoffMin, o.BackoffMax = 3, time.Hour, time.Hour // a run that comes soon was asked for
		s := newServer(t, o)
		boom := errors.New("boom")
		verdicts := []error{Snooze(0), Snooze(time.Millisecond), RetryAfter(time.Millisecond, boom), Snooze(0), RetryAfter(0, boom), nil}
		runs := make(chan Task, len(verdicts))
		s.Handle("k", func(_ context.Context, task Task) error {
			runs <- task
			return verdicts[len(runs)-1]
		})
		start(t, s)
		enqueue(t, s.Client, Task{Kind: "k"})
		until(t, "it to be done", func() bool { return stats(t, s.Client).Done == 1 })
		close(runs)
		var failed, i int
		for task := range runs {
			wantError := ""
			if failed > 0 {
				wantError = "boom"
			}
			if task.Attempts != failed || task.Attempt != failed+1 || task.LastError != wantError || task.Queue != o.Queue {
				t.Errorf("run %d: got %+v, want %d failed", i, task, failed)
			}
			if again := (retryError{}); errors.As(verdicts[i], &again) {
				failed++
			}
			i++
		}
		if got := stats(t, s.Client); got.Failed != 2 || i != len(verdicts) {
			t.Errorf("%d runs, %+v", i, got)
		}
		want := []string{"snooze", "snooze", "retry", "snooze", "retry", "complete"}
		until(t, "all to be heard", func() bool { return len(heard.verdicts()) == len(want) })
		for i, r := range heard.runs {
			if r.Verdict != want[i] || r.Queue != o.Queue || r.Kind != "k" || r.Late < 0 || r.Late > 20*time.Second || r.Took < 0 {
				t.Errorf("run %d: got %+v", i, r)
			}
		}
	})
}

func TestRetryAfterIsBoundedByAttempts(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		s := newServer(t, o)
		s.Handle("k", func(context.Context, Task) error { return RetryAfter(0, errors.New("again")) })
		start(t, s)
		enqueue(t, s.Client, Task{Kind: "k", AttemptsMax: 3})
		until(t, "the task to be buried", func() bool { return stats(t, s.Client).Dead == 1 })
		if got := onlyDead(t, s.Client); got.Attempts != 3 || got.LastError != "again" {
			t.Errorf("got %+v", got)
		}
	})
}

// A snooze that a handler returns while the server stops takes effect; a plain error gives the task back.
func TestStoppingServerKeepsWhatHandlersSay(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		o.StopTimeout = 10 * time.Millisecond
		s := newServer(t, o)
		started := make(chan struct{}, 2)
		s.Handle("snoozes", func(ctx context.Context, _ Task) error {
			started <- struct{}{}
			<-ctx.Done()
			return Snooze(time.Hour)
		})
		s.Handle("fails", func(ctx context.Context, _ Task) error {
			started <- struct{}{}
			<-ctx.Done()
			return ctx.Err()
		})
		stop := start(t, s)
		enqueue(t, s.Client, Task{Kind: "snoozes"})
		enqueue(t, s.Client, Task{Kind: "fails"})
		receive(t, "a handler to start", started)
		receive(t, "a handler to start", started)
		if err := stop(); err != nil {
			t.Error(err)
		}
		if got := stats(t, s.Client); got.Delayed != 1 || got.ReadyAll() != 1 || got.Failed != 0 {
			t.Errorf("got %+v", got)
		}
	})
}

func TestRunContextIsMadeWhenItIsAskedFor(t *testing.T) {
	type key struct{}
	parent, stop := context.WithCancelCause(context.WithValue(context.Background(), key{}, "v"))
	defer stop(nil)
	fresh := func(deadline time.Time) *runContext {
		r := &running{}
		r.ctx = runContext{parent: parent, deadline: deadline, run: r}
		return &r.ctx
	}
	c := fresh(time.Time{})
	if c.Value(key{}) != "v" || c.Value(runKey{}) != c.run || c.Err() != nil {
		t.Errorf("got %v, %v, %v", c.Value(key{}), c.Value(runKey{}), c.Err())
	}
	if _, ok := c.Deadline(); ok {
		t.Error("it has a deadline")
	}
	child, cancel := context.WithTimeout(c, time.Hour)
	defer cancel()
	c.end(ErrLeaseLost)
	c.end(ErrCancelled)
	receive(t, "the child to end", child.Done())
	if !errors.Is(context.Cause(child), ErrLeaseLost) || !errors.Is(context.Cause(c), ErrLeaseLost) || !errors.Is(c.Err(), context.Canceled) {
		t.Errorf("got %v, %v, %v", context.Cause(child), context.Cause(c), c.Err())
	}

	c = fresh(time.Time{})
	c.end(ErrCancelled) // before anybody asks for it
	receive(t, "it to have ended", c.Done())
	if !errors.Is(context.Cause(c), ErrCancelled) {
		t.Errorf("got %v", context.Cause(c))
	}

	at := time.Now().Add(5 * time.Millisecond)
	c = fresh(at)
	if got, ok := c.Deadline(); !ok || !got.Equal(at) {
		t.Errorf("got %v, %v", got, ok)
	}
	receive(t, "the deadline", c.Done())
	if !errors.Is(c.Err(), context.DeadlineExceeded) {
		t.Errorf("got %v", c.Err())
	}
	c.end(context.Canceled)

	c = fresh(time.Now().Add(time.Hour))
	done := c.Done()
	stop(ErrStopped)
	receive(t, "it to end with its parent", done)
	if !errors.Is(context.Cause(c), ErrStopped) {
		t.Errorf("got %v", context.Cause(c))
	}
	c.end(context.Canceled)
}
