package queue

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"
)

func rated(n int, r Rate) Task {
	return Task{ID: fmt.Sprintf("p00-%s%d", r.Key, n), Kind: "k", Payload: fmt.Append(nil, n), Rate: &r}
}

// overdue makes delayed tasks due now, and what they were promised as old.
func overdue(t *testing.T, c *Client, by time.Duration, ids ...string) {
	t.Helper()
	for _, id := range ids {
		poke(t, c.rdb, c.keys[0].Of("delayed"), "ZADD", 1, id)
		poke(t, c.rdb, c.keys[0].Of("rates"), "ZINCRBY", -by.Microseconds(), "\n"+id)
	}
}

// dues returns the due times of tasks, in ms after the time of the first.
func dues(t *testing.T, c *Client, ids ...string) (after []int64) {
	t.Helper()
	var first time.Time
	for i, id := range ids {
		info := get(t, c, id)
		if info.State != Delayed || info.Attempts != 0 {
			t.Errorf("%s is %s after %d attempts", id, info.State, info.Attempts)
		}
		if i == 0 {
			first = info.Due
		}
		after = append(after, info.Due.Sub(first).Milliseconds())
	}
	return after
}

// TestRateGivesEachItsTurn: as many begin at once as the burst allows, and each of the others is delayed to its own turn, which counts
// nothing when it comes.
func TestRateGivesEachItsTurn(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		c := newClient(t, o)
		r := Rate{Key: "a", N: 3, Per: 3 * time.Hour, Burst: 2}
		for n := range 6 {
			enqueue(t, c, rated(n, r))
		}
		enqueue(t, c, rated(0, Rate{Key: "b", N: 1, Per: time.Hour}))
		began := time.Now()
		got := step(t, c, 0, 9, overdueMax, testTerms)
		if !slices.Equal(ids(got.runs), []string{"p00-a0", "p00-a1", "p00-b0"}) || *got.runs[0].Rate != r {
			t.Fatalf("claimed %v with %+v", ids(got.runs), got.runs[0].Rate)
		}
		if after := dues(t, c, "p00-a2", "p00-a3", "p00-a4", "p00-a5"); !slices.Equal(after, []int64{0, 3600_000, 7200_000, 10800_000}) {
			t.Errorf("due %v ms after the first", after)
		}
		if wait := get(t, c, "p00-a2").Due.Sub(began); wait < 59*time.Minute || wait > 61*time.Minute {
			t.Errorf("the first one waits %v, want an hour", wait)
		}
		// Someone is impatient: it waits for its turn all the same.
		at := get(t, c, "p00-a3").Due
		if err := c.Retry(context.Background(), "p00-a3"); err != nil {
			t.Fatal(err)
		}
		if got := step(t, c, 0, 9, overdueMax, testTerms); len(got.runs) > 0 || !get(t, c, "p00-a3").Due.Equal(at) {
			t.Errorf("claimed %v, due %v", ids(got.runs), get(t, c, "p00-a3").Due.Sub(at))
		}
		// Three turns have come. Two are late by less than the burst, and one by more: it gets the turn after the last.
		overdue(t, c, time.Hour, "p00-a2")
		overdue(t, c, 3*time.Hour+59*time.Minute, "p00-a3")
		overdue(t, c, 6*time.Hour, "p00-a4")
		if got := step(t, c, 0, 9, overdueMax, testTerms); !slices.Equal(ids(got.runs), []string{"p00-a2", "p00-a3"}) {
			t.Errorf("claimed %v", ids(got.runs))
		}
		if after := dues(t, c, "p00-a5", "p00-a4"); !slices.Equal(after, []int64{0, 3600_000}) {
			t.Errorf("due %v ms after the first", after)
		}
	})
}

// TestRateCountsRuns: each run counts, after a failure or the end of a lease too, but not one that did not begin.
func TestRateCountsRuns(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		ctx := context.Background()
		c := newClient(t, o)
		r := Rate{Key: "a", N: 1, Per: time.Hour, Burst: 4}
		enqueue(t, c, rated(0, r))
		for range 3 {
			settle(t, c, end(claimOne(t, c, 0, testTerms), giveBack, 0, ""))
		}
		settle(t, c, end(claimOne(t, c, 0, testTerms), retry, 0, "x"))
		claimOne(t, c, 0, testTerms)
		members, err := c.rdb.ZRange(ctx, c.keys[0].Of("leased"), 0, -1).Result()
		if err != nil || len(members) != 1 {
			t.Fatal(members, err)
		}
		poke(t, c.rdb, c.keys[0].Of("leased"), "ZADD", 1, members[0])
		got := step(t, c, 0, 1, overdueMax, testTerms).runs
		if len(got) != 1 {
			t.Fatalf("claimed %v", ids(got))
		}
		settle(t, c, end(got[0], snooze, 0, ""))
		settle(t, c, end(claimOne(t, c, 0, testTerms), retry, 0, "x"))
		if got := step(t, c, 0, 1, overdueMax, testTerms).runs; len(got) > 0 {
			t.Errorf("the fifth run was claimed")
		}
		if wait := time.Until(get(t, c, "p00-a0").Due); wait < 59*time.Minute || wait > 61*time.Minute {
			t.Errorf("it waits %v", wait)
		}
		if _, err := c.Cancel(ctx, "p00-a0"); err != nil {
			t.Error(err)
		}
		if left, err := c.rdb.ZRange(ctx, c.keys[0].Of("rates"), 0, -1).Result(); err != nil || !slices.Equal(left, []string{"a"}) {
			t.Errorf("left %q, %v", left, err)
		}
	})
}

// TestRateLeavesNothingBehind: keys that nobody uses any more are removed by the tasks of others, and what a task was promised goes
// when it is cancelled.
func TestRateLeavesNothingBehind(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		c := newClient(t, o)
		for n := range 13 {
			poke(t, c.rdb, c.keys[0].Of("rates"), "ZADD", 1000+n, fmt.Sprint("old", n))
		}
		left := func(want ...string) {
			t.Helper()
			got, err := c.rdb.ZRange(context.Background(), c.keys[0].Of("rates"), 0, -1).Result()
			slices.Sort(got)
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("left %q, %v, want %q", got, err, want)
			}
		}
		for n := range 3 {
			enqueue(t, c, rated(n, Rate{Key: "a", N: 2, Per: time.Hour}))
		}
		if got := step(t, c, 0, 3, overdueMax, testTerms).runs; len(got) != 2 {
			t.Fatalf("claimed %v", ids(got))
		}
		left("\np00-a2", "a")
		if _, err := c.Cancel(context.Background(), "p00-a2"); err != nil {
			t.Fatal(err)
		}
		left("a")
	})
}

// TestRateWithALimit: a task that waits for its turn leaves its slot to others, unless it holds it.
func TestRateWithALimit(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		c := newClient(t, o)
		slow, free := Rate{Key: "slow", N: 1, Per: time.Hour}, Rate{Key: "free", N: 100, Per: time.Hour}
		for _, hold := range []bool{false, true} {
			tasks := []Task{rated(0, slow), rated(1, slow), rated(2, free)}
			for i := range tasks {
				tasks[i].ID += fmt.Sprint(hold)
				tasks[i].Limit = &Limit{Key: fmt.Sprint(hold), Max: 1, Hold: hold}
				enqueue(t, c, tasks[i])
			}
			first := step(t, c, 0, 9, overdueMax, testTerms).runs
			if len(first) != 1 || first[0].ID != tasks[0].ID {
				t.Fatalf("claimed %v", ids(first))
			}
			settle(t, c, end(first[0], complete, 0, ""))
			got := step(t, c, 0, 9, overdueMax, testTerms)
			if hold {
				if s := stats(t, c); len(got.runs) != 0 || got.left != 0 || s.Delayed != 2 || s.Parked != 1 {
					t.Errorf("claimed %v, %d left: %+v", ids(got.runs), got.left, s)
				}
				continue
			}
			if len(got.runs) != 0 || got.left != 1 {
				t.Errorf("claimed %v, %d left", ids(got.runs), got.left)
			}
			settle(t, c, end(claimOne(t, c, 0, testTerms), complete, 0, ""))
			if s := stats(t, c); s.Delayed != 1 || s.Parked != 0 || s.Done != 2 {
				t.Errorf("got %+v", s)
			}
			noSlots(t, c)
			slow.Key, free.Key = "slow-again", "free-again"
		}
	})
}

// TestRateIsKept: whatever the number of workers, the n-th run begins no earlier than the rate allows.
func TestRateIsKept(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		ctx := context.Background()
		s := newServer(t, o)
		const n, every, burst = 60, 4 * time.Millisecond, 5
		r := Rate{Key: "a", N: 1, Per: every, Burst: burst}
		var mu sync.Mutex
		var began []time.Time
		s.Handle("k", func(ctx context.Context, _ Task) error {
			at, err := o.Client.Time(ctx).Result()
			mu.Lock()
			defer mu.Unlock()
			began = append(began, at)
			return err
		})
		tasks := make([]Task, n)
		for i := range tasks {
			tasks[i] = rated(i, r)
		}
		first, err := o.Client.Time(ctx).Result()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.EnqueueAll(ctx, tasks); err != nil {
			t.Fatal(err)
		}
		start(t, s)
		until(t, "all of them to be done", func() bool { return stats(t, s.Client).Done == n })
		slices.SortFunc(began, time.Time.Compare)
		for i, at := range began {
			if least := time.Duration(i-burst+1) * every; at.Sub(first) < least {
				t.Errorf("run %d began %v after the first could, want %v at least", i, at.Sub(first), least)
			}
		}
	})
}
