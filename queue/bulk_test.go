package queue

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// bulk calls Bulk until it is through, and returns the sums and the number of calls.
func bulk(t *testing.T, c *Client, q BulkQuery) (sum BulkResult, calls int) {
	t.Helper()
	for {
		r, err := c.Bulk(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		if r.Looked > bulkLook {
			t.Errorf("one step looked at %d tasks", r.Looked)
		}
		calls++
		sum.Looked, sum.Changed = sum.Looked+r.Looked, sum.Changed+r.Changed
		if q.Cursor = r.Next; q.Cursor == "" {
			return sum, calls
		}
		if calls > 10_000 {
			t.Fatal("it does not end")
		}
	}
}

// enqueueMany enqueues tasks of two kinds in turn.
func enqueueMany(t *testing.T, c *Client, n int, task Task) {
	t.Helper()
	tasks := make([]Task, n)
	for i := range tasks {
		tasks[i] = task
		tasks[i].Kind = fmt.Sprintf("k%d", i%2)
	}
	if _, err := c.EnqueueAll(t.Context(), tasks); err != nil {
		t.Fatal(err)
	}
}

// TestBulkTakesEachTaskOfAKindOnce: in slices, every task of the state and kind is taken, and no other. The last slices end because
// of the bytes of their tasks, and of the members of batches.
func TestBulkTakesEachTaskOfAKindOnce(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		c := newClient(t, o)
		enqueueMany(t, c, 900, Task{Due: time.UnixMilli(4102444800000)})                                // all at one score
		enqueueMany(t, c, 10, Task{Payload: make([]byte, 100_000), Due: time.UnixMilli(4102444800001)}) // behind them
		enqueueMany(t, c, 7, Task{})
		sum, calls := bulk(t, c, BulkQuery{Act: BulkRetry, State: Delayed, Kind: "k0"})
		if sum.Changed != 455 || sum.Looked != 910 || calls < 10 {
			t.Errorf("retried: got %+v in %d calls", sum, calls)
		}
		if s := stats(t, c); s.Delayed != 455 || s.ReadyAll() != 462 {
			t.Errorf("got %+v", s)
		}
		if sum, _ = bulk(t, c, BulkQuery{Act: BulkDelete, State: Delayed}); sum.Changed != 455 {
			t.Errorf("deleted: got %+v", sum)
		}
		if s := stats(t, c); s.Delayed != 0 || s.ReadyAll() != 462 || s.Deleted != 455 {
			t.Errorf("got %+v", s)
		}
		members := make([]Task, 2*600)
		for n := range members {
			members[n] = inBatch([]string{"a", "b"}[n%2], n, 1000)
		}
		if _, err := c.EnqueueAll(t.Context(), members); err != nil {
			t.Fatal(err)
		}
		if sum, _ = bulk(t, c, BulkQuery{Act: BulkDelete, State: Delayed}); sum.Changed != 2 {
			t.Errorf("deleted with their batches: got %+v", sum)
		}
	})
}

// TestBulkStartsTheDeadOver: dead tasks get all their attempts again, or are gone with their bytes.
func TestBulkStartsTheDeadOver(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		c := newClient(t, o)
		const n = 30
		for range n {
			inState(t, c, Dead, Task{})
		}
		if sum, _ := bulk(t, c, BulkQuery{Act: BulkRetry, State: Dead, Kind: "other"}); sum.Changed != 0 || sum.Looked != n {
			t.Errorf("another kind: got %+v", sum)
		}
		if sum, _ := bulk(t, c, BulkQuery{Act: BulkRetry, State: Dead, Kind: "k"}); sum.Changed != n {
			t.Errorf("retried: got %+v", sum)
		}
		if s := stats(t, c); s.Dead != 0 || s.DeadBytes != 0 || s.ReadyAll() != n {
			t.Errorf("got %+v", s)
		}
		r := claimOne(t, c, 0, testTerms)
		if r.Attempts != 0 {
			t.Errorf("it begins with %d attempts", r.Attempts)
		}
		settle(t, c, end(r, bury, 0, "no"))
		if sum, _ := bulk(t, c, BulkQuery{Act: BulkDelete, State: Dead}); sum.Changed != 1 {
			t.Errorf("deleted: got %+v", sum)
		}
		if s := stats(t, c); s.Dead != 0 || s.DeadBytes != 0 || s.Deleted != 1 {
			t.Errorf("got %+v", s)
		}
	})
}

// TestBulkTakesWhatIsAskedFor: by the error of the last run, and by the time of death or the due time, which is not before
// itself.
func TestBulkTakesWhatIsAskedFor(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		c := newClient(t, o)
		for i, reason := range []string{"timeout of a", "timeout of b", "100% refused", "timeout of c"} {
			id := enqueue(t, c, Task{Kind: "k", ID: NewID(0)})
			settle(t, c, end(claimOne(t, c, 0, testTerms), bury, 0, reason))
			poke(t, c.rdb, c.keys[0].Of("dead"), "ZADD", 1000+i, id)
		}
		for i := range 3 {
			enqueue(t, c, Task{Kind: "k", Due: time.UnixMilli(int64(4102444800000 + i))})
		}
		at := func(ms int) time.Time { return time.UnixMilli(int64(ms)) }
		for _, test := range []struct {
			q               BulkQuery
			looked, changed int
		}{
			{BulkQuery{Act: BulkDelete, State: Dead, Before: at(1000)}, 0, 0},
			{BulkQuery{Act: BulkDelete, State: Dead, Before: at(1001), Error: "refused"}, 1, 0},
			{BulkQuery{Act: BulkDelete, State: Dead, Error: "100% r"}, 4, 1},
			{BulkQuery{Act: BulkRetry, State: Dead, Error: "timeout", Before: at(1003)}, 2, 2},
			{BulkQuery{Act: BulkRetry, State: Dead, Error: "time.ut"}, 1, 0},
			{BulkQuery{Act: BulkRun, State: Delayed, Before: at(4102444800000)}, 0, 0},
			{BulkQuery{Act: BulkRun, State: Delayed, Before: at(4102444800002)}, 2, 2},
			{BulkQuery{Act: BulkDelete, State: Delayed}, 1, 1},
		} {
			if sum, _ := bulk(t, c, test.q); sum.Looked != test.looked || sum.Changed != test.changed {
				t.Errorf("%+v: got %+v, want %d of %d", test.q, sum, test.changed, test.looked)
			}
		}
		if s := stats(t, c); s.Dead != 1 || s.ReadyAll() != 4 || s.Delayed != 0 || s.Deleted != 2 {
			t.Errorf("got %+v", s)
		}
	})
}

// TestBulkTakesThoseOfAList: each once, however often it is named and the call repeated, and none that is in another state, has
// died since, or does not exist. What one step may not read takes several.
func TestBulkTakesThoseOfAList(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		c := newClient(t, o)
		var dead []string
		for i := range 4 {
			id := enqueue(t, c, Task{Kind: "k", ID: NewID(i % c.partitions), Payload: make([]byte, 100_000)})
			settle(t, c, end(claimOne(t, c, i%c.partitions, testTerms), bury, 0, "no"))
			poke(t, c.rdb, c.keys[i%c.partitions].Of("dead"), "ZADD", 1000+i, id)
			dead = append(dead, id)
		}
		waits := enqueue(t, c, Task{Kind: "k", ID: NewID(0), Delay: time.Hour})
		q := BulkQuery{Act: BulkRetry, State: Dead, Before: time.UnixMilli(1003),
			IDs: []string{dead[0], dead[1], dead[0], waits, dead[3], "p00-none", "nonsense", "p63-none", dead[2]}}
		for _, want := range []int{3, 0} {
			if r, err := c.Bulk(t.Context(), q); err != nil || r.Changed != want || r.Next != "" {
				t.Errorf("got %+v, %v, want %d changed", r, err, want)
			}
		}
		if s := stats(t, c); s.Dead != 1 || s.ReadyAll() != 3 || s.Delayed != 1 {
			t.Errorf("got %+v", s)
		}
		q = BulkQuery{Act: BulkDelete, State: Dead, Error: "no", IDs: dead}
		if r, err := c.Bulk(t.Context(), q); err != nil || r.Changed != 1 {
			t.Errorf("deleted: got %+v, %v", r, err)
		}
		if s := stats(t, c); s.Dead != 0 || s.ReadyAll() != 3 || s.DeadBytes != 0 {
			t.Errorf("got %+v", s)
		}
	})
}

// TestBulkLeavesAloneWhatFailsAgain: workers that bury each task again, faster than it goes on, do not keep it busy for
// ever.
func TestBulkLeavesAloneWhatFailsAgain(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		const n = 250
		c := newClient(t, o)
		tasks := make([]Task, n)
		for i := range tasks {
			tasks[i] = Task{Kind: "k", ID: NewID(0)}
		}
		if _, err := c.EnqueueAll(t.Context(), tasks); err != nil {
			t.Fatal(err)
		}
		fail := func() {
			for range 100 {
				runs := step(t, c, 0, 100, overdueMax, testTerms).runs
				if len(runs) == 0 {
					return
				}
				for i, r := range runs {
					runs[i] = end(r, bury, 0, "no luck")
				}
				settle(t, c, runs...)
			}
		}
		fail()
		for i := range tasks { // some ms ago
			poke(t, c.rdb, c.keys[0].Of("dead"), "ZADD", 1000+i/90, tasks[i].ID)
		}
		q, changed, calls := BulkQuery{Act: BulkRetry, State: Dead, Error: "luck"}, 0, 0
		for first := stats(t, c); ; calls++ {
			r, err := c.Bulk(t.Context(), q)
			if err != nil || first.Dead != n || calls > 100 {
				t.Fatalf("%d calls, %d dead, %v", calls, first.Dead, err)
			}
			changed += r.Changed
			fail()
			if q.Cursor = r.Next; q.Cursor == "" {
				break
			}
		}
		if s := stats(t, c); changed != n || s.Dead != n || s.Buried != 2*n {
			t.Errorf("%d retried: %+v", changed, s)
		}
	})
}

func TestBulkRefusesWhatItCannotDo(t *testing.T) {
	t.Parallel()
	c := newClient(t, options(connectWith(t, startEmbedded(t)), 1))
	for _, q := range []BulkQuery{
		{}, {Act: BulkRetry}, {Act: BulkRetry, State: Ready}, {Act: BulkDelete, State: Leased}, {Act: "run", State: Dead},
		{Act: BulkRetry, State: Dead, Cursor: "x"}, {Act: BulkRetry, State: Dead, Cursor: makeCursor(Delayed, 0, "")},
		{Act: BulkRetry, State: Dead, Cursor: makeCursor(Dead, 1, "")}, {Act: BulkRetry, State: Dead, Kind: string(make([]byte, 257))},
		{Act: BulkRetry, State: Dead, Error: string(make([]byte, 1025))}, {Act: "bury", State: Delayed},
		{Act: BulkRetry, State: Dead, IDs: make([]string, 101)},
	} {
		if _, err := c.Bulk(t.Context(), q); !errors.Is(err, ErrInvalid) {
			t.Errorf("%+v: got error %v", q, err)
		}
	}
}

// bulk retries or deletes all tasks of a state.
func (w *queueModel) bulk() {
	q := BulkQuery{
		Act:   rapid.SampledFrom([]BulkAct{BulkRetry, BulkDelete}).Draw(w.t, "act"),
		State: rapid.SampledFrom([]State{Delayed, Dead}).Draw(w.t, "state"),
	}
	before, _, err := w.c.List(context.Background(), ListQuery{State: q.State, Limit: listMax})
	if err != nil {
		w.t.Fatal(err)
	}
	// What fires a periodic task and is not dead is nobody's to change.
	before = slices.DeleteFunc(before, func(info Info) bool { return q.State == Delayed && w.firesPeriodic(info.ID) })
	changed := 0
	pages(w.t, func(cursor string) string {
		q.Cursor = cursor
		r, err := w.c.Bulk(context.Background(), q)
		if err != nil {
			w.t.Fatal(err)
		}
		changed += r.Changed
		return r.Next
	})
	if changed != len(before) {
		w.t.Errorf("%s of what is %s: %d changed, there were %d", q.Act, q.State, changed, len(before))
	}
	for _, info := range before {
		w.hurried[info.ID] = true
	}
	if q.Act == BulkDelete {
		for _, info := range before {
			if w.firesPeriodic(info.ID) {
				w.overPeriodic(info.ID)
			} else {
				w.over(info.ID)
			}
		}
	}
}

// TestBulkIsBounded: however many tasks there are, one step looks at a hundred, and takes Redis a bounded number of commands.
func TestBulkIsBounded(t *testing.T) {
	t.Parallel()
	rdb := connect(t, startRedis(t))
	c := newClient(t, options(rdb, 1))
	enqueueMany(t, c, 20_000, Task{Delay: time.Hour})
	for _, act := range []BulkAct{BulkRetry, BulkDelete} {
		before := 0
		for _, n := range commandCalls(t, rdb) {
			before += n
		}
		r, err := c.Bulk(t.Context(), BulkQuery{Act: act, State: Delayed})
		if err != nil || r.Changed != bulkLook {
			t.Fatalf("%s: got %+v, %v", act, r, err)
		}
		after := 0
		for _, n := range commandCalls(t, rdb) {
			after += n
		}
		t.Logf("%s: %d commands for %d tasks", act, after-before, r.Changed)
		if most := 14 * bulkLook; after-before > most {
			t.Errorf("%s: %d commands, want at most %d", act, after-before, most)
		}
	}
}
