package queue

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestNothingStartsEarly: whatever the due time, the delay or the pause after a failure, the clock
// of Redis has reached it when the handler begins.
func TestNothingStartsEarly(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		ctx := context.Background()
		s := newServer(t, o)
		now := func() time.Time {
			at, err := o.Client.Time(ctx).Result()
			if err != nil {
				t.Error(err)
			}
			return at
		}
		var mu sync.Mutex
		due := make(map[string]time.Time)
		var runs sync.WaitGroup
		s.Handle("k", func(_ context.Context, task Task) error {
			began := now()
			mu.Lock()
			defer mu.Unlock()
			if at := due[task.ID]; began.Before(at) {
				t.Errorf("%s began %v early", task.ID, at.Sub(began))
			}
			runs.Done()
			if string(task.Payload) == "twice" && task.Attempt == 1 {
				return errors.New("once more")
			}
			return nil
		})
		start(t, s)
		rapid.Check(t, func(rt *rapid.T) {
			tasks := make([]Task, rapid.IntRange(1, 20).Draw(rt, "tasks"))
			mu.Lock()
			base := now()
			for i := range tasks {
				wait := time.Duration(rapid.Int64Range(0, int64(12*time.Millisecond)).Draw(rt, "wait"))
				tasks[i] = Task{ID: NewID(i % o.Partitions), Kind: "k", Priority: priorities[i%4]}
				due[tasks[i].ID] = base.Add(wait)
				if rapid.Bool().Draw(rt, "at a time") {
					tasks[i].Due = base.Add(wait)
				} else {
					tasks[i].Delay = wait
				}
				runs.Add(1)
				if rapid.IntRange(0, 3).Draw(rt, "fails") == 0 {
					tasks[i].Payload = []byte("twice")
					runs.Add(1)
				}
			}
			mu.Unlock()
			if _, err := s.EnqueueAll(ctx, tasks); err != nil {
				rt.Fatal(err)
			}
			finished(t, "all to run", &runs)
		})
	})
}

func TestBackoffStaysInItsBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		least := time.Duration(rapid.Int64Range(1, int64(time.Hour)).Draw(t, "least"))
		most := least + time.Duration(rapid.Int64Range(0, int64(24*time.Hour)).Draw(t, "more"))
		n := rapid.IntRange(0, 1000).Draw(t, "failures")
		got := pauseAfter(least, most, n)
		if got < time.Millisecond || got > most+time.Millisecond {
			t.Errorf("got %v, want 1 ms to %v", got, most)
		}
		if n < 10 && got > least<<n+time.Millisecond {
			t.Errorf("got %v after %d failures, want %v at most", got, n, least<<n)
		}
	})
}

func TestIDsCarryTheirPartition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := rapid.IntRange(0, 1023).Draw(t, "partition")
		got, ok := PartitionOf(NewID(p))
		if !ok || got != p {
			t.Errorf("partition %d: got %d, %v", p, got, ok)
		}
	})
	for _, bad := range []string{"", "p00", "p00-", "00-x", "p0-x", "p-1-x", "p001-x", "p+1-x", "x00-x", "pab-x"} {
		if p, ok := PartitionOf(bad); ok {
			t.Errorf("%q: got partition %d", bad, p)
		}
	}
}

// TestKeysOfAPartitionShareASlot also checks that no two keys are equal.
func TestKeysOfAPartitionShareASlot(t *testing.T) {
	seen := make(map[string]bool)
	for p := range 64 {
		for _, name := range []string{"core", "push"} {
			for _, key := range NewKeys("chat", p, name).Work() {
				if !strings.HasPrefix(key, "chat:{"+tag(p)+"}:q:"+name+":") {
					t.Errorf("key %q of partition %d", key, p)
				}
				if seen[key] {
					t.Errorf("key %q twice", key)
				}
				seen[key] = true
			}
		}
	}
}

func TestTurnsFollowTheWeights(t *testing.T) {
	for from := range 3 * cyclePeriod {
		for n := range claimMax + 1 {
			if got := turns(from, n); len(got) != n {
				t.Fatalf("turns(%d, %d) has %d", from, n, len(got))
			}
		}
	}
	for p, w := range weights {
		if got := strings.Count(turns(7, cyclePeriod), "1234"[p:p+1]); got != w {
			t.Errorf("%v has %d turns in a period, want %d", priorities[p], got, w)
		}
	}
}

// TestLowPriorityDoesNotStarve has one worker, and tasks that take too long for any to be claimed ahead, so the order of runs is
// the order of claims.
func TestLowPriorityDoesNotStarve(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		o.Workers = 1
		s := newServer(t, o)
		order := make(chan Priority, 400)
		s.Handle("k", func(_ context.Context, task Task) error {
			order <- task.Priority
			<-time.After(3 * aheadTime)
			return nil
		})
		tasks := slices.Concat(
			slices.Repeat([]Task{{Kind: "k", Subject: "s", Priority: Low}}, 100),
			slices.Repeat([]Task{{Kind: "k", Subject: "s", Priority: High}}, 300))
		if _, err := s.EnqueueAll(context.Background(), tasks); err != nil {
			t.Fatal(err)
		}
		start(t, s)
		counts := make(map[Priority]int)
		for range 150 {
			counts[receive(t, "a run", order)]++
		}
		if counts[Low] != 10 || counts[High] != 140 {
			t.Errorf("got %v, want 10 low ones among 150", counts)
		}
	})
}

// TestStarvation: 10,000 low tasks wait while high ones keep coming at four fifths of the workers' capacity. Counted,
// not timed: the tasks advance the clock. Each run enqueues four fifths of a high task on average, so the load is
// always the same share of the capacity.
func TestStarvation(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		const low = 10_000
		ctx := context.Background()
		o.Workers = 4
		s := newServer(t, o)
		tasks := make([]Task, low)
		for i := range tasks {
			tasks[i] = Task{Kind: "low", Priority: Low}
		}
		var mu sync.Mutex
		ran, runs, highWaits, waitMax := make(map[string]int), 0, 0, 0
		put := make(map[string]int) // how many runs there had been when a high one was enqueued
		enough := make(chan struct{})
		count := func(ctx context.Context, task Task) error {
			mu.Lock()
			runs++
			ran[task.Kind]++
			n := runs
			if at, ok := put[task.ID]; ok {
				waitMax = max(waitMax, n-at)
				highWaits++
			}
			more := n%5 != 0
			id := NewID(n % o.Partitions)
			if more {
				put[id] = n
			}
			mu.Unlock()
			if n == 1000 {
				close(enough)
			}
			if more {
				_, _, err := s.Enqueue(ctx, Task{Kind: "high", ID: id, Priority: High})
				return err
			}
			return nil
		}
		s.Handle("low", count)
		s.Handle("high", count)
		if _, err := s.EnqueueAll(ctx, tasks); err != nil {
			t.Fatal(err)
		}
		start(t, s)
		receive(t, "1,000 runs", enough)
		mu.Lock()
		defer mu.Unlock()
		t.Logf("%v; the longest wait of a high one: %d runs", ran, waitMax)
		// A fifth of the capacity is left for them, 200 runs; by their weight alone they would get a fifteenth. Tasks
		// that were claimed ahead and have not run yet may be missing.
		if ran["low"] < 150 {
			t.Errorf("%d low ones ran among %d", ran["low"], runs)
		}
		if highWaits < 400 {
			t.Errorf("only %d high ones ran", highWaits)
		}
	})
}
