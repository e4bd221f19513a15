package queue

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func limited(n int, l Limit) Task {
	return Task{ID: fmt.Sprintf("p00-%s%d", l.Key, n), Kind: "k", Payload: fmt.Append(nil, n), Limit: &l}
}

// TestLimitIsNeverExceeded: whatever the workers are, no more tasks of a key run than its limit says; with one at a
// time, they run in their order, and with Hold a task that fails holds up those behind it.
func TestLimitIsNeverExceeded(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		o.Workers, o.BackoffMin, o.BackoffMax = 12, time.Millisecond, time.Millisecond
		s := newServer(t, o)
		var mu sync.Mutex
		running, most, order := map[string]int{}, map[string]int{}, map[string][]string{}
		s.Handle("k", func(_ context.Context, task Task) error {
			key := task.Limit.Key
			mu.Lock()
			running[key]++
			most[key] = max(most[key], running[key])
			mu.Unlock()
			<-time.After(time.Millisecond)
			mu.Lock()
			defer mu.Unlock()
			running[key]--
			if task.Limit.Hold && len(task.Payload) == 1 && task.Attempt == 1 {
				return errors.New("once more")
			}
			order[key] = append(order[key], string(task.Payload))
			return nil
		})
		start(t, s)
		limits := []Limit{{Key: "one", Max: 1}, {Key: "held", Max: 1, Hold: true}, {Key: "three", Max: 3}, {Key: "later", Max: 2, Busy: SnoozeFor(time.Millisecond)}}
		const n = 25
		var tasks []Task
		var want []string
		for i := range n {
			for _, l := range limits {
				tasks = append(tasks, limited(i, l))
			}
			want = append(want, fmt.Sprint(i))
		}
		if _, err := s.EnqueueAll(context.Background(), tasks); err != nil {
			t.Fatal(err)
		}
		until(t, "all of them to be done", func() bool { return stats(t, s.Client).Done == int64(len(tasks)) })
		mu.Lock()
		defer mu.Unlock()
		for _, l := range limits {
			if most[l.Key] > l.Max {
				t.Errorf("%d of %q ran at once, want %d at most", most[l.Key], l.Key, l.Max)
			}
			if l.Max == 1 && !slices.Equal(order[l.Key], want) {
				t.Errorf("%q ran in the order %v", l.Key, order[l.Key])
			}
		}
		noSlots(t, s.Client)
	})
}

// noSlots fails if a slot is taken or a task parked.
func noSlots(t testing.TB, c *Client) {
	t.Helper()
	for _, k := range c.keys {
		if slots, err := slotsOf(c, k); err != nil || len(slots) > 0 {
			t.Errorf("slots %q are left, %v", slots, err)
		}
		for _, key := range []string{k.Of("lines"), k.Of("parked")} {
			if left, err := c.rdb.Exists(context.Background(), key).Result(); err != nil || left > 0 {
				t.Errorf("%s is left, %v", key, err)
			}
		}
	}
	conserved(t, stats(t, c))
}

// slotsOf returns the values of the keys of limits, without the mark.
func slotsOf(c *Client, k Keys) (map[string]string, error) {
	slots, err := c.rdb.HGetAll(context.Background(), k.Of("slots")).Result()
	delete(slots, "\n")
	return slots, err
}

// TestSlotsAreAHashTable: Redis would read a listpack from its beginning to find a key, in each claim and settle.
func TestSlotsAreAHashTable(t *testing.T) {
	t.Parallel()
	c := newClient(t, options(connect(t, startRedis(t)), 1))
	enqueue(t, c, limited(0, Limit{Key: "a", Max: 1}))
	settle(t, c, end(claimOne(t, c, 0, testTerms), complete, 0, ""))
	if got, err := c.rdb.ObjectEncoding(context.Background(), c.keys[0].Of("slots")).Result(); got != "hashtable" || err != nil {
		t.Errorf("slots are a %s, %v", got, err)
	}
	noSlots(t, c)
}

// TestSlotsOfLayout2: a blank in front of each id says the same.
func TestSlotsOfLayout2(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		c := newClient(t, o)
		for _, l := range []Limit{{Key: "a", Max: 1}, {Key: "b", Max: 2}} {
			for n := range l.Max {
				enqueue(t, c, limited(n, l))
			}
			first := step(t, c, 0, 5, 0, testTerms).runs
			old := " " + strings.Join(ids(first), " ")
			poke(t, c.rdb, c.keys[0].Of("slots"), "HSET", l.Key, old)
			for n := range 2 {
				enqueue(t, c, limited(l.Max+n, l))
			}
			if got := step(t, c, 0, 5, 0, testTerms).runs; len(got) > 0 {
				t.Errorf("%v were claimed beside %v", ids(got), ids(first))
			}
			poke(t, c.rdb, c.keys[0].Of("slots"), "HSET", l.Key, "+"+old)
			settle(t, c, end(first[0], complete, 0, ""))
			next := step(t, c, 0, 5, 0, testTerms).runs
			if want := fmt.Sprint("p00-", l.Key, l.Max); len(next) != 1 || next[0].ID != want {
				t.Fatalf("then %v, want %s", ids(next), want)
			}
			for _, r := range append(first[1:], next...) {
				settle(t, c, end(r, complete, 0, ""))
			}
			for _, r := range step(t, c, 0, 5, 0, testTerms).runs {
				settle(t, c, end(r, complete, 0, ""))
			}
		}
		noSlots(t, c)
	})
}

// TestTwiceTheSameKeyInAClaim: of the tasks of a key that one claim takes, as many run as may, in their order.
func TestTwiceTheSameKeyInAClaim(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		c := newClient(t, o)
		one, two := Limit{Key: "a", Max: 1}, Limit{Key: "b", Max: 2}
		for n := range 3 {
			enqueue(t, c, limited(n, one))
			enqueue(t, c, limited(n, two))
		}
		got := step(t, c, 0, 6, 0, testTerms).runs
		if !slices.Equal(ids(got), []string{"p00-a0", "p00-b0", "p00-b1"}) {
			t.Errorf("claimed %v", ids(got))
		}
		if taken, err := slotsOf(c, c.keys[0]); err != nil || len(taken) != 2 || taken["a"] != "+ p00-a0" || taken["b"] != "+ p00-b0 p00-b1" {
			t.Errorf("slots %q, %v", taken, err)
		}
	})
}

// TestNoWorkerWaitsForRoom: claims are large, and what they leave of the workers is used as well, though no handler ends.
func TestNoWorkerWaitsForRoom(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		o.Workers = 50
		s := newServer(t, o)
		var running atomic.Int64
		end := make(chan struct{})
		s.Handle("k", func(context.Context, Task) error {
			running.Add(1)
			<-end
			return nil
		})
		for i := range 100 * o.Partitions {
			id := fmt.Sprintf("p%02d-%d", i%o.Partitions, i)
			enqueue(t, s.Client, Task{ID: id, Kind: "k", Limit: &Limit{Key: fmt.Sprint("key", i%(40*o.Partitions)), Max: 1}})
		}
		start(t, s)
		defer close(end)
		until(t, "all workers to be busy", func() bool { return running.Load() == 50 || o.Partitions == 1 && running.Load() == 40 })
	})
}

// TestClaimSuitsTheSlots: a partition whose tasks wait for each other is asked for as many as can run.
func TestClaimSuitsTheSlots(t *testing.T) {
	p := newPortion()
	const begin, every = portionBegin, portionEvery
	for i, one := range []struct{ times, n, got, want int }{
		{1, begin, begin, 2 * begin}, {1, begin, begin, 2 * begin}, {1, 2 * begin, 2 * begin, claimMax}, {9, claimMax, claimMax, claimMax},
		{1, claimMax, 60, 60},                                     // as many as have slots
		{every, 20, 20, 60},                                       // says nothing about 60
		{every - 1, 60, 60, 60}, {1, 60, 60, 61}, {1, 61, 59, 59}, // feels its way
		{every, 59, 59, 60}, {every, 60, 60, 62}, {every, 62, 62, 66}, // and faster, the longer nobody has to wait
		{1, 66, 3, claimMax}, // who may run is far behind
		{every, claimMax, claimMax, claimMax},
		{1, claimMax, 1, claimMax},
	} {
		for range one.times {
			p.suit(one.n, one.got, 500)
		}
		if p.most != one.want {
			t.Errorf("%d: after %d of %d, %d times: %d, want %d", i, one.got, one.n, one.times, p.most, one.want)
		}
	}
	if p.suit(claimMax, 60, 0); p.most != claimMax {
		t.Errorf("got %d where there were no more tasks", p.most)
	}
}

// TestSlotIsPassedOn: whatever ends a run, the task that has waited longest is ready in the same step.
func TestSlotIsPassedOn(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		ctx := context.Background()
		c := newClient(t, o)
		one := Limit{Key: "a", Max: 1}
		for name, act := range map[string]func(r *running){
			"complete":    func(r *running) { settle(t, c, end(r, complete, 0, "")) },
			"retry":       func(r *running) { settle(t, c, end(r, retry, time.Hour, "x")) },
			"snooze":      func(r *running) { settle(t, c, end(r, snooze, time.Hour, "")) },
			"dead letter": func(r *running) { settle(t, c, end(r, bury, 0, "x")) },
			"cancel": func(r *running) {
				if _, err := c.Cancel(ctx, r.ID); err != nil {
					t.Error(err)
				}
			},
		} {
			for n := range 3 {
				enqueue(t, c, limited(n, one))
			}
			got := step(t, c, 0, 5, 0, testTerms).runs
			if len(got) != 1 || got[0].ID != "p00-a0" {
				t.Fatalf("%s: claimed %v", name, ids(got))
			}
			if s := stats(t, c); s.Parked != 2 || s.Leased != 1 {
				t.Errorf("%s: %+v", name, s)
			}
			info := get(t, c, "p00-a1")
			if info.State != Parked || info.ParkedSince.IsZero() || *info.Limit != one {
				t.Errorf("%s: %+v", name, info)
			}
			listed, _, err := c.List(ctx, ListQuery{State: Parked})
			if err != nil || len(listed) != 2 || listed[0].ID != "p00-a1" || !listed[0].ParkedSince.Equal(info.ParkedSince) {
				t.Errorf("%s: listed %+v, %v", name, listed, err)
			}
			if err := c.Retry(ctx, "p00-a1"); !errors.Is(err, ErrConflict) {
				t.Errorf("%s: retry of a parked one: %v", name, err)
			}
			act(got[0])
			if s := stats(t, c); s.ReadyAll() != 1 || s.Parked != 1 {
				t.Errorf("%s: %+v", name, s)
			}
			next := step(t, c, 0, 5, 0, testTerms).runs
			if len(next) != 1 || next[0].ID != "p00-a1" {
				t.Errorf("%s: then %v", name, ids(next))
			}
			for n := range 3 {
				_, _ = c.Cancel(ctx, fmt.Sprintf("p00-a%d", n))
			}
			noSlots(t, c)
		}
	})
}

// TestSlotOutlivesNoWorker: the slot of a worker that died is free when its lease ends, and held on to with Hold.
func TestSlotOutlivesNoWorker(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		ctx := context.Background()
		c := newClient(t, o)
		for _, hold := range []bool{false, true} {
			l := Limit{Key: "a", Max: 1, Hold: hold}
			for n := range 2 {
				enqueue(t, c, limited(n, l))
			}
			if got := step(t, c, 0, 5, 0, testTerms).runs; len(got) != 1 {
				t.Fatalf("claimed %v", ids(got))
			}
			members, err := c.rdb.ZRange(ctx, c.keys[0].Of("leased"), 0, -1).Result()
			if err != nil || len(members) != 1 {
				t.Fatal(members, err)
			}
			poke(t, c.rdb, c.keys[0].Of("leased"), "ZADD", 1, members[0])
			want := "p00-a1"
			if hold {
				want = "p00-a0"
			}
			if got := step(t, c, 0, 5, overdueMax, testTerms).runs; len(got) != 1 || got[0].ID != want {
				t.Errorf("hold %v: claimed %v", hold, ids(got))
			}
			for n := range 2 {
				if _, err := c.Cancel(ctx, fmt.Sprintf("p00-a%d", n)); err != nil {
					t.Error(err)
				}
			}
			noSlots(t, c)
		}
	})
}

// TestLimitThatFails: a task that is refused leaves nothing, and one that waits for its time has its slot.
func TestLimitThatFails(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		ctx := context.Background()
		c := newClient(t, o)
		l := Limit{Key: "a", Max: 2, Busy: Fail}
		later := limited(0, l)
		later.Delay = time.Hour
		enqueue(t, c, later)
		enqueue(t, c, limited(1, l))
		refused := limited(2, l)
		refused.Unique = "u"
		ok, err := c.EnqueueAll(ctx, []Task{refused, {Kind: "k", ID: NewID(0)}})
		if !errors.Is(err, ErrBusy) || !slices.Equal(ok, []bool{false, true}) {
			t.Errorf("got %v, %v", ok, err)
		}
		if _, ok, err := c.Enqueue(ctx, refused); ok || !errors.Is(err, ErrBusy) {
			t.Errorf("got %v, %v", ok, err)
		}
		enqueue(t, c, Task{Kind: "k", ID: NewID(0), Unique: "u"})
		if _, err := c.Cancel(ctx, later.ID); err != nil {
			t.Error(err)
		}
		r := step(t, c, 0, 1, 0, testTerms).runs[0]
		settle(t, c, end(r, retry, time.Hour, "x"))
		enqueue(t, c, limited(3, l))
		if _, _, err := c.Enqueue(ctx, limited(4, l)); !errors.Is(err, ErrBusy) {
			t.Errorf("a task that waits for its retry has lost its slot: %v", err)
		}
	})
}

// TestNobodyOvertakesAParkedTask: each task is judged by its own limit, but one that wants more to run does not overtake
// one that wants fewer. Without that one, it runs at once.
func TestNobodyOvertakesAParkedTask(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		ctx := context.Background()
		c := newClient(t, o)
		enqueue(t, c, limited(0, Limit{Key: "a", Max: 3}))
		enqueue(t, c, limited(1, Limit{Key: "a", Max: 1}))
		enqueue(t, c, limited(2, Limit{Key: "a", Max: 3}))
		enqueue(t, c, limited(3, Limit{Key: "a", Max: 2}))
		if got := step(t, c, 0, 5, 0, testTerms).runs; !slices.Equal(ids(got), []string{"p00-a0"}) {
			t.Errorf("claimed %v", ids(got))
		}
		if _, _, err := c.Enqueue(ctx, limited(4, Limit{Key: "a", Max: 3, Busy: Fail})); !errors.Is(err, ErrBusy) {
			t.Errorf("one that does not wait went ahead of those that do: %v", err)
		}
		if state, err := c.Cancel(ctx, "p00-a1"); state != Parked || err != nil {
			t.Errorf("cancelled %s, %v", state, err)
		}
		if got := step(t, c, 0, 5, 0, testTerms).runs; !slices.Equal(ids(got), []string{"p00-a2"}) {
			t.Errorf("then claimed %v", ids(got))
		}
		enqueue(t, c, limited(5, Limit{Key: "a", Max: 1}))
		if got := step(t, c, 0, 5, 0, testTerms).runs; len(got) > 0 {
			t.Errorf("claimed %v", ids(got))
		}
		if state, err := c.Cancel(ctx, "p00-a5"); state != Parked || err != nil {
			t.Errorf("cancelled %s, %v", state, err)
		}
		slots, err := slotsOf(c, c.keys[0])
		lines, linesErr := c.rdb.ZRange(ctx, c.keys[0].Of("lines"), 0, -1).Result()
		if err != nil || linesErr != nil || len(slots) != 1 || slots["a"] != "+ p00-a0 p00-a2" || len(lines) != 1 || !strings.HasSuffix(lines[0], "p00-a3") {
			t.Errorf("slots %q, %v; lines %q, %v", slots, err, lines, linesErr)
		}
	})
}

// A dead letter of a limit that fails has lost its slot. Retried, it waits for one.
func TestDeadLetterWaitsForASlot(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		ctx := context.Background()
		c := newClient(t, o)
		l := Limit{Key: "a", Max: 1, Busy: Fail}
		enqueue(t, c, limited(0, l))
		settle(t, c, end(claimOne(t, c, 0, testTerms), bury, 0, "x"))
		enqueue(t, c, limited(1, l))
		if err := c.Retry(ctx, "p00-a0"); err != nil {
			t.Fatal(err)
		}
		got := step(t, c, 0, 5, 0, testTerms).runs
		if len(got) != 1 || got[0].ID != "p00-a1" || get(t, c, "p00-a0").State != Parked {
			t.Errorf("claimed %v", ids(got))
		}
		settle(t, c, end(got[0], complete, 0, ""))
		settle(t, c, end(claimOne(t, c, 0, testTerms), complete, 0, ""))
		noSlots(t, c)
	})
}

// A task that tries again later counts no attempt, and holds up nobody.
func TestLimitSnoozes(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		c := newClient(t, o)
		l := Limit{Key: "a", Max: 1, Busy: SnoozeFor(time.Hour)}
		enqueue(t, c, limited(0, l))
		enqueue(t, c, limited(1, l))
		enqueue(t, c, limited(0, Limit{Key: "b", Max: 1}))
		got := step(t, c, 0, 5, 0, testTerms).runs
		if !slices.Equal(ids(got), []string{"p00-a0", "p00-b0"}) {
			t.Errorf("claimed %v", ids(got))
		}
		info := get(t, c, "p00-a1")
		if wait := time.Until(info.Due); info.State != Delayed || info.Attempts != 0 || wait < 59*time.Minute || wait > 61*time.Minute {
			t.Errorf("got %+v", info)
		}
	})
}
