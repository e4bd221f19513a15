package queue

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

func get(t testing.TB, c *Client, id string) Info {
	t.Helper()
	info, err := c.Get(context.Background(), id)
	if err != nil {
		t.Fatal(err)
	}
	return info
}

// inState puts a task of partition 0 into a state; if that is leased, it returns the run.
func inState(t testing.TB, c *Client, state State, task Task) (string, *running) {
	t.Helper()
	task.Kind, task.ID = "k", NewID(0)
	if state == Delayed {
		task.Delay = time.Hour
	}
	enqueue(t, c, task)
	if state == Delayed || state == Ready {
		return task.ID, nil
	}
	r := claimOne(t, c, 0, testTerms)
	if state == Dead {
		settle(t, c, end(r, bury, 0, "no"))
	}
	return task.ID, r
}

var states = []State{Delayed, Ready, Leased, Dead}

func TestGetShowsEachState(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		c := newClient(t, o)
		began := time.Now().Add(-time.Minute) // test and server share a clock, but read it in different processes
		for _, state := range states {
			deadline := time.Now().Add(time.Hour).Truncate(time.Millisecond)
			id, _ := inState(t, c, state, Task{Payload: []byte("a\nb"), Priority: High, AttemptsMax: 3, Deadline: deadline})
			got := get(t, c, id)
			if got.ID != id || got.Queue != o.Queue || got.Kind != "k" || got.State != state || got.Priority != High ||
				string(got.Payload) != "a\nb" || got.AttemptsMax != 3 || !got.Deadline.Equal(deadline) || got.Enqueued.Before(began) {
				t.Errorf("%s: got %+v", state, got)
			}
			for of, at := range map[State]time.Time{Delayed: got.Due, Leased: got.LeaseEnds, Dead: got.Died} {
				if at.Before(began) != (of != state) {
					t.Errorf("%s: the time for %s is %v", state, of, at)
				}
			}
			if state == Dead && (got.LastError != "no" || got.Attempts != 1) {
				t.Errorf("dead: got %+v", got)
			}
			if _, err := c.Cancel(context.Background(), id); err != nil {
				t.Fatal(err)
			}
		}
		for _, id := range []string{NewID(0), "p77-x", "nonsense", ""} {
			if got, err := c.Get(context.Background(), id); !errors.Is(err, ErrNotFound) {
				t.Errorf("%q: got %+v, %v", id, got, err)
			}
		}
	})
}

func TestCancelInEachState(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		ctx := context.Background()
		c := newClient(t, o)
		for i, state := range states {
			id, held := inState(t, c, state, Task{Unique: "u " + string(state)})
			other := enqueue(t, c, Task{Kind: "k", ID: NewID(0), Delay: time.Hour})
			if got, err := c.Cancel(ctx, id); err != nil || got != state {
				t.Errorf("%s: Cancel = %q, %v", state, got, err)
			}
			if _, err := c.Get(ctx, id); !errors.Is(err, ErrNotFound) {
				t.Errorf("%s: %v", state, err)
			}
			if got, err := c.Cancel(ctx, id); !errors.Is(err, ErrNotFound) {
				t.Errorf("%s: again: %q, %v", state, got, err)
			}
			if state == Leased {
				if lost, gone := renew(t, c, time.Hour, held); len(lost) != 1 || len(gone) != 1 {
					t.Errorf("renewed: %v lost, %v gone", ids(lost), ids(gone))
				}
				for _, v := range []verdict{complete, retry, bury, snooze, giveBack} {
					if stale := settle(t, c, end(held, v, 0, "late")); len(stale) != 1 {
						t.Errorf("%s of what was cancelled was taken", v)
					}
				}
			}
			s := stats(t, c)
			if s.Deleted != int64(i)+1 || s.ReadyAll() != 0 || s.Leased != 0 || s.Dead != 0 || s.Delayed != int64(i)+1 {
				t.Errorf("%s: got %+v", state, s)
			}
			// Its unique key is free, and so is its id.
			if _, ok, err := c.Enqueue(ctx, Task{Kind: "k", ID: id, Unique: "u " + string(state)}); !ok || err != nil {
				t.Errorf("%s: the key is still held: %v", state, err)
			}
			claimOne(t, c, 0, testTerms)
			if got := step(t, c, 0, 8, overdueMax, testTerms); len(got.runs) != 0 {
				t.Errorf("%s: claimed %v", state, ids(got.runs))
			}
			settle(t, c, end(&running{Task: Task{ID: id}, queue: newQueueSet(c).queues[0], token: leaseToken(t, c, id)}, complete, 0, ""))
			if got := get(t, c, other); got.State != Delayed {
				t.Errorf("%s: the other is %s", state, got.State)
			}
		}
	})
}

// TestManyRunAtATime: of more running tasks than one page of leases has, the last is shown as running, and can be cancelled.
func TestManyRunAtATime(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		ctx := context.Background()
		c := newClient(t, o)
		tasks := make([]Task, 501)
		for i := range tasks {
			tasks[i] = Task{Kind: "k", ID: NewID(0)}
		}
		if _, err := c.EnqueueAll(ctx, tasks); err != nil {
			t.Fatal(err)
		}
		with := testTerms
		with.lease = time.Hour
		for left := len(tasks); left > 0; {
			got := len(step(t, c, 0, claimMax, overdueMax, with).runs)
			if left -= got; got == 0 {
				t.Fatalf("%d were not claimed", left)
			}
		}
		last := c.rdb.ZRange(ctx, c.keys[0].Of("leased"), -1, -1).Val()
		if len(last) != 1 {
			t.Fatalf("the last lease is %q", last)
		}
		id, _, _ := strings.Cut(last[0], " ")
		if got := get(t, c, id); got.State != Leased {
			t.Errorf("it is %s", got.State)
		}
		if got, err := c.Cancel(ctx, id); err != nil || got != Leased {
			t.Errorf("cancelled: it was %q, %v", got, err)
		}
		if s := stats(t, c); s.Leased != 500 || s.Deleted != 1 {
			t.Errorf("got %+v", s)
		}
	})
}

// leaseToken returns the token of a leased task of partition 0.
func leaseToken(t testing.TB, c *Client, id string) string {
	t.Helper()
	members, err := c.rdb.ZRange(context.Background(), c.keys[0].Of("leased"), 0, -1).Result()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range members {
		if len(m) > len(id) && m[:len(id)+1] == id+" " {
			return m[len(id)+1:]
		}
	}
	t.Fatalf("%s is not leased", id)
	return ""
}

// A task that waits for its retry no longer holds its unique key; cancelling it must not free the key of the task that
// has it now.
func TestCancelLeavesTheKeyOfAnother(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		c := newClient(t, o)
		first, r := inState(t, c, Leased, Task{Unique: "u"})
		enqueue(t, c, Task{Kind: "k", ID: NewID(0), Unique: "u", Delay: time.Hour})
		settle(t, c, end(r, retry, time.Hour, "x"))
		if _, err := c.Cancel(context.Background(), first); err != nil {
			t.Fatal(err)
		}
		if _, ok, err := c.Enqueue(context.Background(), Task{Kind: "k", ID: NewID(0), Unique: "u"}); ok || err != nil {
			t.Errorf("enqueued %v, %v", ok, err)
		}
	})
}

func TestRetryInEachState(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		ctx := context.Background()
		c := newClient(t, o)
		for _, state := range states {
			id, _ := inState(t, c, state, Task{Priority: Low})
			err := c.Retry(ctx, id)
			if want := state == Ready || state == Leased; errors.Is(err, ErrConflict) != want || (err != nil && !want) {
				t.Fatalf("%s: %v", state, err)
			}
			if state == Leased {
				if got := get(t, c, id); got.State != Leased {
					t.Errorf("got %+v", got)
				}
			} else if got := claimOne(t, c, 0, testTerms); got.ID != id || got.Attempt != 1 || got.Attempts != 0 || got.Priority != Low {
				t.Errorf("%s: claimed %+v", state, got.Task)
			} else if wantError := map[State]string{Dead: "no"}[state]; got.LastError != wantError {
				t.Errorf("%s: last error %q, want %q", state, got.LastError, wantError)
			}
			if _, err := c.Cancel(ctx, id); err != nil {
				t.Fatal(err)
			}
		}
		if err := c.Retry(ctx, NewID(0)); !errors.Is(err, ErrNotFound) {
			t.Errorf("got %v", err)
		}
		if s := stats(t, c); s.Enqueued != 4 || s.Deleted != 4 {
			t.Errorf("got %+v", s)
		}
	})
}

// A delayed task keeps its failed attempts when it is retried.
func TestRetryOfADelayedKeepsItsAttempts(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		c := newClient(t, o)
		id, r := inState(t, c, Leased, Task{})
		settle(t, c, end(r, retry, time.Hour, "x"))
		if err := c.Retry(context.Background(), id); err != nil {
			t.Fatal(err)
		}
		if got := claimOne(t, c, 0, testTerms); got.Attempts != 1 || got.LastError != "x" || got.Attempt != 2 {
			t.Errorf("got %+v", got.Task)
		}
	})
}

func TestSnoozeCountsNoAttempt(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		c := newClient(t, o)
		id, r := inState(t, c, Leased, Task{})
		behind := enqueue(t, c, Task{Kind: "k", ID: NewID(0)})
		settle(t, c, end(r, snooze, 0, ""))
		got := step(t, c, 0, 2, 0, testTerms).runs
		if !slices.Equal(ids(got), []string{behind, id}) || got[1].Attempt != 1 || got[1].LastError != "" {
			t.Fatalf("got %v, %+v", ids(got), got[1].Task)
		}
		settle(t, c, end(got[1], snooze, time.Hour, ""))
		if info := get(t, c, id); info.State != Delayed || info.Attempts != 0 || time.Until(info.Due) < 50*time.Minute {
			t.Errorf("got %+v", info)
		}
		if s := stats(t, c); s.Failed != 0 || s.Crashed != 0 {
			t.Errorf("got %+v", s)
		}
	})
}

func TestProgressDemandsTheToken(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		ctx := context.Background()
		c := newClient(t, o)
		progress := func(r *running, done, total int64) error {
			r.ctx.parent, r.ctx.run = ctx, r
			return SetProgress(&r.ctx, done, total)
		}
		id, first := inState(t, c, Leased, Task{})
		if err := progress(first, 3, 10); err != nil {
			t.Fatal(err)
		}
		if got := get(t, c, id); got.Progress != (Progress{3, 10}) || got.Attempts != 0 {
			t.Errorf("got %+v", got)
		}
		settle(t, c, end(first, retry, 0, "x"))
		second := claimOne(t, c, 0, testTerms)
		if err := progress(first, 9, 10); !errors.Is(err, ErrLeaseLost) {
			t.Errorf("with a stale token: %v", err)
		}
		if got := get(t, c, id); got.Progress != (Progress{3, 10}) || got.Attempts != 1 || got.LastError != "x" {
			t.Errorf("got %+v", got)
		}
		if err := progress(second, 1<<53, 1<<53); err != nil {
			t.Fatal(err)
		}
		listed, _, err := c.List(ctx, ListQuery{State: Leased})
		if err != nil || len(listed) != 1 || listed[0].Progress != (Progress{1 << 53, 1 << 53}) {
			t.Errorf("listed %+v, %v", listed, err)
		}
		for _, bad := range [][2]int64{{-1, 1}, {1, -1}, {1<<53 + 1, 1}} {
			if err := progress(second, bad[0], bad[1]); !errors.Is(err, ErrInvalid) {
				t.Errorf("%v: %v", bad, err)
			}
		}
		if err := SetProgress(ctx, 1, 2); !errors.Is(err, errNoRun) {
			t.Errorf("outside of a handler: %v", err)
		}
		settle(t, c, end(second, complete, 0, ""))
		if n, err := o.Client.Exists(ctx, c.keys[0].Of("runs"), c.keys[0].Of("tasks")).Result(); n != 0 || err != nil {
			t.Errorf("%d keys are left behind, %v", n, err)
		}
	})
}

func TestListPagesThroughEachState(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		ctx := context.Background()
		c := newClient(t, o)
		const n = 60
		var tasks []Task
		for i := range n {
			tasks = append(tasks, Task{Kind: "k", ID: NewID(i % o.Partitions), Priority: priorities[i*4/n]})
		}
		add := func(prepare func(i int, task *Task)) {
			t.Helper()
			for i := range tasks {
				tasks[i].ID = NewID(i % o.Partitions)
				prepare(i, &tasks[i])
			}
			if ok, err := c.EnqueueAll(ctx, tasks); err != nil || slices.Contains(ok, false) {
				t.Fatal(ok, err)
			}
		}
		claimAll := func() (all []*running) {
			for p := range o.Partitions {
				all = append(all, step(t, c, p, claimMax, 0, testTerms).runs...)
			}
			return all
		}
		pages := func(state State, limit int) (ids []string) {
			t.Helper()
			cursor := ""
			for range n + 2 {
				infos, next, err := c.List(ctx, ListQuery{State: state, Cursor: cursor, Limit: limit})
				if err != nil || len(infos) > limit {
					t.Fatalf("%d of %d, %v", len(infos), limit, err)
				}
				for _, info := range infos {
					if info.State != state || info.Kind != "k" {
						t.Errorf("got %+v", info)
					}
					ids = append(ids, info.ID)
				}
				if cursor = next; cursor == "" {
					return ids
				}
			}
			t.Fatalf("%s: pages without end", state)
			return nil
		}
		check := func(state State) {
			t.Helper()
			var want []string
			for _, task := range tasks {
				want = append(want, task.ID)
			}
			all := pages(state, listMax)
			if got := slices.Sorted(slices.Values(all)); !slices.Equal(got, slices.Sorted(slices.Values(want))) {
				t.Errorf("%s: got %d, want %d", state, len(got), len(want))
			}
			for _, limit := range []int{1, 7, n / 4, n} {
				if got := pages(state, limit); !slices.Equal(got, all) {
					t.Errorf("%s: by %d: %d listed, want %d in the same order", state, limit, len(got), len(all))
				}
			}
		}
		add(func(i int, task *Task) { task.Delay = time.Hour + time.Duration(i/20)*time.Second }) // many with the same due time
		check(Delayed)
		add(func(i int, task *Task) { task.Delay = 0 })
		check(Ready)
		leased := claimAll()
		check(Leased)
		for i, r := range leased {
			leased[i] = end(r, bury, 0, fmt.Sprint(i))
		}
		settle(t, c, leased...)
		check(Dead)
	})
}

// A task that stays is on a page even if its neighbours leave between two pages.
func TestListMissesNothingThatStays(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		ctx := context.Background()
		c := newClient(t, o)
		for _, state := range []State{Delayed, Ready, Leased} {
			tasks := make([]Task, 40)
			for i := range tasks {
				tasks[i] = Task{Kind: "k", ID: NewID(0)}
				if state == Delayed {
					tasks[i].Due = time.UnixMilli(2e12) // a score whose shortest form has an exponent
				}
			}
			if _, err := c.EnqueueAll(ctx, tasks); err != nil {
				t.Fatal(err)
			}
			if state == Leased {
				step(t, c, 0, claimMax, 0, testTerms)
			}
			left, seen := make(map[string]bool), make(map[string]bool)
			pages(t, func(cursor string) string {
				infos, next, err := c.List(ctx, ListQuery{State: state, Cursor: cursor, Limit: 7})
				if err != nil {
					t.Fatal(err)
				}
				for i, info := range infos {
					seen[info.ID] = true
					if i%2 == 0 || i == len(infos)-1 { // the last one takes the anchor with it
						if _, err := c.Cancel(ctx, info.ID); err != nil {
							t.Fatal(err)
						}
						left[info.ID] = true
					}
				}
				return next
			})
			for _, task := range tasks {
				if !seen[task.ID] {
					t.Errorf("%s: %s was on no page", state, task.ID)
				}
				if !left[task.ID] {
					if _, err := c.Cancel(ctx, task.ID); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
	})
}

func TestListRefusesWhatItCannotRead(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		c := newClient(t, o)
		for _, q := range []ListQuery{
			{}, {State: "done"}, {State: Dead, Cursor: "?"}, {State: Dead, Cursor: makeCursor(Ready, 0, "1 1 p00-x")},
			{State: Ready, Cursor: makeCursor(Ready, 0, "5 1 p00-x")}, {State: Ready, Cursor: makeCursor(Ready, 0, "1 x p00-x")},
			{State: Dead, Cursor: makeCursor(Dead, 99, "")}, {State: Dead, Cursor: makeCursor(Dead, 0, "nan p00-x")},
			{State: Dead, Cursor: makeCursor(Dead, 0, "12")},
		} {
			if _, _, err := c.List(context.Background(), q); !errors.Is(err, ErrInvalid) {
				t.Errorf("%+v: got %v", q, err)
			}
		}
	})
}

func TestOldestIsTheAgeOfWhatIsReady(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		c := newClient(t, o)
		enqueue(t, c, Task{Kind: "k", Delay: time.Hour})
		if got := stats(t, c).Oldest; got != 0 {
			t.Errorf("nothing is ready: got %v", got)
		}
		id := enqueue(t, c, Task{Kind: "k", ID: NewID(0), Priority: Low})
		enqueue(t, c, Task{Kind: "k", ID: NewID(0), Priority: High})
		// As if it had been waiting for a minute.
		poke(t, o.Client, c.keys[0].Of("tasks"), "HSET", id, fmt.Sprintf("low 0 0 %d 0 k \n", time.Now().Add(-time.Minute).UnixMilli()))
		if got := stats(t, c).Oldest; got < 50*time.Second || got > 5*time.Minute {
			t.Errorf("got %v, want a minute", got)
		}
		// It ran and has just come back.
		until(t, "both to be snoozed", func() bool {
			for _, r := range step(t, c, 0, 2, 0, testTerms).runs {
				settle(t, c, end(r, snooze, 0, ""))
			}
			return stats(t, c).Oldest < 50*time.Second
		})
	})
}

// A full Redis accepts no new tasks; running ones keep their leases and end, and calls that free memory work.
func TestFullRedis(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	o := options(connect(t, startRedis(t)), 1)
	c := newClient(t, o)
	for range 2 {
		enqueue(t, c, Task{Kind: "k"})
	}
	held := step(t, c, 0, 2, 0, testTerms).runs
	if err := o.Client.(*redis.Client).ConfigSet(ctx, "maxmemory", "1").Err(); err != nil {
		t.Fatal(err)
	}
	if _, _, err := c.Enqueue(ctx, Task{Kind: "k"}); err == nil {
		t.Error("a task was put in")
	}
	if lost, _ := renew(t, c, time.Hour, held...); len(lost) != 0 {
		t.Errorf("%d leases are lost", len(lost))
	}
	if err := errors.Join(c.Pause(ctx), c.Resume(ctx)); err != nil {
		t.Error(err)
	}
	settle(t, c, end(held[0], complete, 0, ""), end(held[1], retry, 0, "no"))
	if got := step(t, c, 0, 2, overdueMax, testTerms).runs; len(got) != 1 {
		t.Errorf("%d claimed", len(got))
	}
	if _, err := c.Cancel(ctx, held[1].ID); err != nil {
		t.Error(err)
	}
	if got := stats(t, c); got.Done != 1 || got.Deleted != 1 {
		t.Errorf("got %+v", got)
	}
}

// A server that waits on a paused queue goes on when it is resumed, before its next poll.
func TestResumeWakesTheWorkers(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		ctx := context.Background()
		s := newServer(t, o)
		ran := make(chan string, 10)
		s.Handle("k", func(_ context.Context, task Task) error { ran <- task.ID; return nil })
		if err := s.Pause(ctx); err != nil {
			t.Fatal(err)
		}
		start(t, s)
		id := enqueue(t, s.Client, Task{Kind: "k"})
		if got := stats(t, s.Client); got.ReadyAll() != 1 || !got.Paused {
			t.Errorf("got %+v", got)
		}
		if err := s.Resume(ctx); err != nil {
			t.Fatal(err)
		}
		if got := receive(t, "the task to run", ran); got != id {
			t.Errorf("ran %s", got)
		}
	})
}
