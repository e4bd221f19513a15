package queue

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"
)

// testTerms are the terms under which the script tests claim.
var testTerms = terms{lease: 10 * time.Second, crashesMax: 3, backoffMin: time.Hour, dead: deadBounds{1000, 1 << 20}}

// failer is a test of any kind.
type failer interface {
	Helper()
	Fatal(args ...any)
}

// stepOne is the result of a step for the only queue.
type stepOne struct {
	steppedQueue
	wait time.Duration
}

// step runs step.lua in one partition of one queue.
func step(t testing.TB, c *Client, partition, claim, overdue int, with terms) stepOne {
	t.Helper()
	w := stepDemand{partition: partition, overdue: overdue, claims: []claimDemand{{claim, turns(0, claim)}}}
	got := stepAll(t, newQueueSet(c), w, with)
	return stepOne{got.queues[0], got.wait}
}

func stepAll(t failer, set queueSet, w stepDemand, with terms) stepped {
	t.Helper()
	one, sent := set.stepCall(w, with), time.Now()
	if err := run(context.Background(), set.rdb, []*call{&one.call}); err != nil {
		t.Fatal(err)
	}
	got, err := set.readStep(w.partition, one, sent, with)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// claimOne claims the only ready task of a partition.
func claimOne(t testing.TB, c *Client, partition int, with terms) *running {
	t.Helper()
	var got stepOne
	until(t, "a ready task", func() bool {
		got = step(t, c, partition, 1, overdueMax, with)
		return len(got.runs) == 1
	})
	return got.runs[0]
}

func settle(t testing.TB, c *Client, results ...*running) (stale []*running) {
	t.Helper()
	set := newQueueSet(c)
	got, err := set.settle(context.Background(), results, testTerms.dead)
	if err != nil {
		t.Fatal(err)
	}
	return got.stale
}

func renew(t testing.TB, c *Client, lease time.Duration, results ...*running) (lost, gone []*running) {
	t.Helper()
	set := newQueueSet(c)
	got, err := set.renew(context.Background(), results, lease)
	if err != nil {
		t.Fatal(err)
	}
	return got.stale, got.gone
}

// end returns a run with its outcome.
func end(r *running, v verdict, delay time.Duration, reason string) *running {
	return &running{Task: r.Task, queue: r.queue, partition: r.partition, token: r.token, outcome: outcome{verdict: v, delay: delay, reason: reason}}
}

func ids(tasks []*running) []string {
	all := make([]string, len(tasks))
	for i, task := range tasks {
		all[i] = task.ID
	}
	return all
}

// Tasks written by another version move like any other, and are shown as far as they can be read.
func TestWhatCannotBeReadIsNotLost(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		ctx := context.Background()
		c := newClient(t, o)
		tasks := []Task{{Kind: "k", ID: NewID(0)}, {Kind: "k", ID: NewID(0)}, {Kind: "k", ID: NewID(0)}}
		if _, err := c.EnqueueAll(ctx, tasks); err != nil {
			t.Fatal(err)
		}
		odd := func() {
			poke(t, o.Client, c.keys[0].Of("runs"), "HSET", tasks[1].ID, "seven times")
		}
		with := testTerms
		with.lease = time.Millisecond
		odd()
		step(t, c, 0, 3, 0, with)
		until(t, "the leases to be taken back", func() bool { return step(t, c, 0, 0, overdueMax, with).reaped == 3 })
		odd()
		for _, r := range step(t, c, 0, 3, 0, testTerms).runs {
			settle(t, c, end(r, retry, time.Hour, "no"))
		}
		odd()
		poke(t, o.Client, c.keys[0].Of("tasks"), "HSET", tasks[2].ID, "a specification")
		if got := stats(t, c); got.Delayed != 3 || got.Crashed != 3 {
			t.Errorf("got %+v", got)
		}
		listed, _, err := c.List(ctx, ListQuery{State: Delayed})
		if err != nil || len(listed) != 3 {
			t.Fatalf("%d listed, %v", len(listed), err)
		}
		for _, info := range listed {
			switch info.ID {
			case tasks[1].ID:
				if info.Kind != "k" || info.LastError == "" || info.Due.IsZero() {
					t.Errorf("got %+v", info)
				}
			case tasks[2].ID:
				if info.Kind != "" || info.LastError != "no" || info.Attempts != 1 || info.Due.IsZero() {
					t.Errorf("got %+v", info)
				}
			}
		}
	})
}

// A task that was claimed and given back is in the same position as if it had never been claimed, however many calls
// that takes.
func TestReturnedAsIfNeverClaimed(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		ctx := context.Background()
		c := newClient(t, o)
		tasks := make([]Task, 6)
		for i := range tasks {
			tasks[i] = Task{Kind: "k", ID: NewID(0), Unique: fmt.Sprint("key ", i)}
		}
		if _, err := c.EnqueueAll(ctx, tasks); err != nil {
			t.Fatal(err)
		}
		claimed := step(t, c, 0, 5, 0, testTerms).runs
		younger := enqueue(t, c, Task{Kind: "k", ID: NewID(0), Unique: "key 2"})
		slices.Reverse(claimed)
		for i, r := range claimed {
			claimed[i] = end(r, giveBack, 0, "")
		}
		settle(t, c, claimed[:2]...)
		settle(t, c, claimed[2:]...)

		listed, _, err := c.List(ctx, ListQuery{State: Ready})
		if err != nil || len(listed) != 7 {
			t.Fatalf("%d listed, %v", len(listed), err)
		}
		for i, info := range listed[:6] {
			if info.ID != tasks[i].ID {
				t.Errorf("at place %d stands %s", i, info.ID)
			}
		}
		for i := range tasks {
			if _, ok, err := c.Enqueue(ctx, Task{Kind: "k", ID: NewID(0), Unique: tasks[i].Unique}); ok || err != nil {
				t.Errorf("a second one waits beside %q, %v", tasks[i].Unique, err)
			}
		}
		if _, err := c.Cancel(ctx, younger); err != nil {
			t.Fatal(err)
		}
		step(t, c, 0, 10, 0, testTerms)
		if n, err := o.Client.Exists(ctx, c.keys[0].Of("unique")).Result(); n != 0 || err != nil {
			t.Errorf("keys are left, %v", err)
		}
	})
}

// After a failover that loses the last claim, and everything counted since, the next claim of the same task gets a
// token that was never used.
func TestTokensOutliveARollback(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		ctx := context.Background()
		c := newClient(t, o)
		id := enqueue(t, c, Task{Kind: "k", ID: NewID(0)})
		before, err := o.Client.HGetAll(ctx, c.keys[0].Of("counts")).Result()
		if err != nil {
			t.Fatal(err)
		}
		first := claimOne(t, c, 0, testTerms)
		poke(t, o.Client, c.keys[0].Of("counts"), "DEL")
		for name, n := range before {
			poke(t, o.Client, c.keys[0].Of("counts"), "HSET", name, n)
		}
		poke(t, o.Client, c.keys[0].Of("leased"), "DEL")
		poke(t, o.Client, c.keys[0].Of("ready:normal"), "RPUSH", id)
		second := claimOne(t, c, 0, testTerms)
		if second.ID != id {
			t.Fatalf("claimed %s", second.ID)
		}
		if stale := settle(t, c, end(first, retry, time.Hour, "no")); len(stale) != 1 {
			t.Error("the lost claim ended the run of the next")
		}
		if stale := settle(t, c, end(second, complete, 0, "")); len(stale) != 0 {
			t.Error("the newest claim counts for nothing")
		}
	})
}

func TestStaleTokensHaveNoEffect(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		c := newClient(t, o)
		id := enqueue(t, c, Task{Kind: "k", ID: NewID(0)})
		brief := testTerms
		brief.lease = time.Millisecond
		first := claimOne(t, c, 0, brief)
		second := claimOne(t, c, 0, testTerms) // after the first lease was reaped
		if second.ID != id || second.token == first.token || second.crashes != 1 || second.Attempt != 2 {
			t.Fatalf("second claim: %+v", second)
		}
		before := stats(t, c)
		for _, v := range []verdict{complete, retry, bury, expire, snooze, giveBack} {
			if stale := settle(t, c, end(first, v, 0, "late")); len(stale) != 1 {
				t.Errorf("%s with a stale token was taken", v)
			}
		}
		if lost, gone := renew(t, c, time.Hour, first); len(lost) != 1 || len(gone) != 0 {
			t.Errorf("renew with a stale token: %v lost, %v gone", ids(lost), ids(gone))
		}
		if after := stats(t, c); after.Leased != before.Leased || after.Done != 0 || after.Failed != 0 || after.Dead != 0 {
			t.Errorf("before %+v, after %+v", before, after)
		}
		if stale := settle(t, c, end(second, complete, 0, "")); len(stale) != 0 {
			t.Error("the current token was refused")
		}
		for _, v := range []verdict{complete, retry} {
			if stale := settle(t, c, end(second, v, 0, "twice")); len(stale) != 1 {
				t.Errorf("%s after complete was taken", v)
			}
		}
		if after := stats(t, c); after.Done != 1 || after.Leased != 0 {
			t.Errorf("got %+v", after)
		}
		// No token is ever that of a task which nobody holds.
		enqueue(t, c, Task{Kind: "k", ID: NewID(0)})
		third := claimOne(t, c, 0, testTerms)
		settle(t, c, end(third, retry, time.Hour, "x"))
		third.token = "0"
		if stale := settle(t, c, end(third, complete, 0, ""), end(third, bury, 0, "")); len(stale) != 2 {
			t.Error("token 0 was taken")
		}
	})
}

func TestSettleMovesEachTaskAsItsVerdictSays(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		c := newClient(t, o)
		var tasks []Task
		for range 6 {
			tasks = append(tasks, Task{Kind: "k", ID: NewID(0)})
		}
		if _, err := c.EnqueueAll(context.Background(), tasks); err != nil {
			t.Fatal(err)
		}
		got := step(t, c, 0, 5, 0, testTerms).runs
		stale := settle(t, c,
			end(got[0], retry, time.Hour, "later"), end(got[1], complete, 0, ""), end(got[2], retry, 0, "two\nlines"),
			end(got[3], bury, 0, "hopeless"), end(got[4], giveBack, 0, ""))
		if len(stale) != 0 {
			t.Errorf("stale: %v", stale)
		}
		s := stats(t, c)
		if s.ReadyAll() != 3 || s.Delayed != 1 || s.Dead != 1 || s.Done != 1 || s.Leased != 0 || s.Failed != 3 || s.Buried != 1 {
			t.Errorf("got %+v", s)
		}
		next := step(t, c, 0, 3, 0, testTerms).runs
		if want := []string{got[4].ID, tasks[5].ID, got[2].ID}; !slices.Equal(ids(next), want) {
			t.Errorf("next: got %v, want %v", ids(next), want)
		}
		if next[0].Attempt != 1 || next[0].LastError != "" {
			t.Errorf("what was given back: %+v", next[0])
		}
		if next[2].Attempt != 2 || next[2].LastError != "two\nlines" {
			t.Errorf("what failed: %+v", next[2])
		}
	})
}

func TestRenewedLeaseIsNotTakenBack(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		c := newClient(t, o)
		kept, left := NewID(0), NewID(0)
		enqueue(t, c, Task{Kind: "k", ID: kept})
		enqueue(t, c, Task{Kind: "k", ID: left})
		brief := testTerms
		brief.lease = 100 * time.Millisecond
		both := step(t, c, 0, 2, 0, brief).runs
		if lost, _ := renew(t, c, time.Hour, both[0]); len(lost) > 0 {
			t.Fatalf("renew: %v", ids(lost))
		}
		if again := claimOne(t, c, 0, testTerms); again.ID != left {
			t.Errorf("claimed %s, want %s", again.ID, left)
		}
		if s := stats(t, c); s.Leased != 2 || s.Crashed != 1 {
			t.Errorf("got %+v", s)
		}
	})
}

// A task that reports progress in every run and snoozes outlives more workers than one run may.
func TestSnoozeForgetsTheCrashes(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		c := newClient(t, o)
		enqueue(t, c, Task{Kind: "k", ID: NewID(0)})
		short := terms{lease: time.Millisecond, crashesMax: 2, backoffMin: time.Millisecond, dead: deadBounds{10, 1 << 20}}
		long := short
		long.lease = time.Minute
		for range 3 {
			claimOne(t, c, 0, short)
			got := claimOne(t, c, 0, long)
			if got.crashes != 1 {
				t.Fatalf("after a lease that ended: %d crashes, want 1", got.crashes)
			}
			if stale := settle(t, c, end(got, snooze, 0, "")); len(stale) > 0 {
				t.Fatal("the snooze was stale")
			}
		}
		if s := stats(t, c); s.ReadyAll() != 1 || s.Dead != 0 || s.Crashed != 3 {
			t.Errorf("got %+v, want the task ready again", s)
		}
	})
}

func TestTaskThatKillsItsWorkersIsBuried(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		c := newClient(t, o)
		enqueue(t, c, Task{Kind: "k", ID: NewID(0)})
		with := terms{lease: time.Millisecond, crashesMax: 4, backoffMin: time.Millisecond, dead: deadBounds{10, 1 << 20}}
		for n := range 4 {
			if got := claimOne(t, c, 0, with); got.crashes != n || got.Attempts != 0 {
				t.Fatalf("claim %d: %+v", n, got)
			}
		}
		var buried int64
		until(t, "the task to be buried", func() bool {
			buried += step(t, c, 0, 1, overdueMax, with).buried
			return buried == 1
		})
		s := stats(t, c)
		if s.Dead != 1 || s.Crashed != 4 || s.Failed != 0 || s.Buried != 1 {
			t.Errorf("got %+v", s)
		}
		if got := onlyDead(t, c); got.LastError != "lease ended 4 times" || got.Crashes != 4 || got.Attempts != 0 {
			t.Errorf("got %+v", got)
		}
	})
}

func TestPausedQueueGivesNothing(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		ctx := context.Background()
		c := newClient(t, o)
		enqueue(t, c, Task{Kind: "k", ID: NewID(0)})
		for range 2 {
			if err := c.Pause(ctx); err != nil {
				t.Fatal(err)
			}
		}
		if got := step(t, c, 0, 8, overdueMax, testTerms); len(got.runs) != 0 || got.left != 0 {
			t.Errorf("got %+v", got)
		}
		if s := stats(t, c); !s.Paused || s.ReadyAll() != 1 {
			t.Errorf("got %+v", s)
		}
		if err := c.Resume(ctx); err != nil {
			t.Fatal(err)
		}
		claimOne(t, c, 0, testTerms)
		if s := stats(t, c); s.Paused {
			t.Errorf("got %+v", s)
		}
	})
}

func TestStepSaysWhenToComeBack(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		c := newClient(t, o)
		if got := step(t, c, 0, 1, overdueMax, testTerms); got.wait >= 0 {
			t.Errorf("empty: got %v, want none", got.wait)
		}
		enqueue(t, c, Task{Kind: "k", ID: NewID(0), Delay: time.Hour})
		if got := step(t, c, 0, 1, overdueMax, testTerms).wait; got > time.Hour+time.Millisecond || got < time.Hour-10*time.Second {
			t.Errorf("due in an hour: got %v", got)
		}
		enqueue(t, c, Task{Kind: "k", ID: NewID(0)})
		if got := step(t, c, 0, 1, overdueMax, testTerms).wait; got > testTerms.lease+time.Millisecond || got <= 0 {
			t.Errorf("a lease just begun: got %v", got)
		}
		enqueue(t, c, Task{Kind: "k", ID: NewID(0), Due: time.UnixMilli(1)})
		if s := stats(t, c); s.ReadyAll() != 1 {
			t.Errorf("due in the past: %+v", s)
		}
	})
}

func TestOverdueMovesBatches(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		c := newClient(t, o)
		many := make([]Task, 300)
		for i := range many {
			many[i] = Task{Kind: "k", ID: NewID(0), Delay: time.Millisecond}
		}
		if _, err := c.EnqueueAll(context.Background(), many); err != nil {
			t.Fatal(err)
		}
		var promoted, largest int64
		until(t, "all to be promoted", func() bool {
			got := step(t, c, 0, 0, 100, testTerms)
			if got.left != promoted+got.promoted {
				t.Fatalf("%d ready after %d were promoted", got.left, promoted+got.promoted)
			}
			promoted += got.promoted
			largest = max(largest, got.promoted)
			return promoted == 300
		})
		if largest > 100 {
			t.Errorf("%d promoted in one step, want 100 at most", largest)
		}
	})
}

func TestScriptsAreLoadedAgain(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		c := newClient(t, o)
		for range 3 {
			if err := c.rdb.ScriptFlush(context.Background()).Err(); err != nil {
				t.Fatal(err)
			}
			enqueue(t, c, Task{Kind: "k"})
			if err := c.rdb.ScriptFlush(context.Background()).Err(); err != nil {
				t.Fatal(err)
			}
			stats(t, c)
		}
		if s := stats(t, c); s.Enqueued != 3 {
			t.Errorf("got %+v", s)
		}
	})
}
