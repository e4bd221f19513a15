package queue

import (
	"context"
	"slices"
	"testing"
	"time"
)

// TestLimitsAreReadFromHeads: a claim finds the key of a limit whatever else the head says, and none in a payload.
func TestLimitsAreReadFromHeads(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		c := newClient(t, o)
		one := func(name, payload string, l *Limit, keep time.Duration) Task {
			return Task{ID: "p00-" + name, Kind: "k", Payload: []byte(payload), Limit: l, Keep: keep}
		}
		const misleading = "x\rlimit 1 0 wait k\n"
		for _, task := range []Task{
			one("plain-1", misleading, nil, 0), one("plain-2", misleading, nil, 0),
			one("one-1", misleading, &Limit{Key: "a\tb c", Max: 1}, 0), one("one-2", "", &Limit{Key: "a\tb c", Max: 1}, 0),
			one("kept-1", "", &Limit{Key: "k", Max: 1}, time.Minute), one("kept-2", misleading, &Limit{Key: "k", Max: 1}, 0),
			one("two-1", "", &Limit{Key: "w", Max: 2}, 0), one("two-2", "", &Limit{Key: "w", Max: 2}, 0), one("two-3", "", &Limit{Key: "w", Max: 2}, 0),
			one("hold-1", "", &Limit{Key: "h", Max: 1, Hold: true}, 0), one("hold-2", "", &Limit{Key: "h", Max: 1, Hold: true}, 0),
		} {
			enqueue(t, c, task)
		}
		runs := step(t, c, 0, 20, 0, testTerms).runs
		want := []string{"p00-plain-1", "p00-plain-2", "p00-one-1", "p00-kept-1", "p00-two-1", "p00-two-2", "p00-hold-1"}
		if got := ids(runs); !slices.Equal(got, want) {
			t.Errorf("claimed %q, want %q", got, want)
		}
		for rounds := 0; len(runs) > 0 && rounds < 20; rounds++ {
			for i, r := range runs {
				runs[i] = end(r, complete, 0, "")
			}
			settle(t, c, runs...)
			runs = step(t, c, 0, 20, 0, testTerms).runs
		}
		if got := stats(t, c); got.Done != 11 {
			t.Errorf("%d are done, want 11", got.Done)
		}
		noSlots(t, c)
	})
}

// TestStaleAmongManyOutcomes: of the outcomes of two claims, with limits and without, those whose leases were lost have no
// effect and are named, and all others free their slots.
func TestStaleAmongManyOutcomes(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		c := newClient(t, o)
		var runs []*running
		for claim := range 2 {
			for i := range 4 {
				enqueue(t, c, limited(claim, Limit{Key: string(rune('a' + i)), Max: 2}))
				enqueue(t, c, Task{ID: NewID(0), Kind: "k"})
			}
			runs = append(runs, step(t, c, 0, 8, 0, testTerms).runs...)
		}
		var lost []*running
		for i, r := range runs {
			runs[i] = end(r, complete, 0, "")
			if i%5 == 1 || i == 12 {
				lost = append(lost, runs[i])
				poke(t, c.rdb, c.keys[0].Of("leased"), "ZREM", r.ID+" "+r.token)
			}
		}
		stale := ids(settle(t, c, runs...))
		want := ids(lost)
		slices.Sort(stale)
		slices.Sort(want)
		if !slices.Equal(stale, want) {
			t.Errorf("%q are stale, want %q", stale, want)
		}
		slots, err := slotsOf(c, c.keys[0])
		if err != nil {
			t.Fatal(err)
		}
		left := 0
		for _, r := range lost {
			if r.Limit == nil {
				continue
			}
			left++
			if got := slots[r.Limit.Key]; got != r.ID {
				t.Errorf("the slots of %q are of %q, want %q", r.Limit.Key, got, r.ID)
			}
		}
		if len(slots) != left || left == 0 || left == len(lost) {
			t.Errorf("slots %q are left, want %d of %d", slots, left, len(lost))
		}
		// The lost ones are nowhere now, so Stats would not add up.
		done, err := c.rdb.HGet(context.Background(), c.keys[0].Of("counts"), "done").Int()
		if err != nil || done != len(runs)-len(lost) {
			t.Errorf("%d are done, want %d, %v", done, len(runs)-len(lost), err)
		}
	})
}

// TestClaimsTakeSlotsHoweverTheyAreTaken: in one claim, slots that were passed on to tasks, free ones, and those of keys that
// come twice go to the first of each key, and the others wait.
func TestClaimsTakeSlotsHoweverTheyAreTaken(t *testing.T) {
	one := func(name, key string) Task {
		return Task{ID: "p00-" + name, Kind: "k", Limit: &Limit{Key: key, Max: 1}}
	}
	each(t, func(t *testing.T, o Options) {
		for _, then := range [][]Task{
			{},
			{one("b1", "b"), one("c1", "c")},
			{one("b1", "b"), one("b2", "b"), one("c1", "c")},
			{one("b1", "b"), one("a3", "a"), one("b2", "b"), one("a4", "a")},
		} {
			c := newClient(t, o)
			enqueue(t, c, one("a1", "a"))
			enqueue(t, c, one("a2", "a"))
			running := step(t, c, 0, 2, 0, testTerms).runs // parks a2
			settle(t, c, end(running[0], complete, 0, "")) // passes the slot on to it
			ran := map[string][]string{}
			for _, task := range then {
				enqueue(t, c, task)
			}
			for n := 0; n <= len(then); {
				runs := step(t, c, 0, 10, 0, testTerms).runs
				if len(runs) == 0 {
					t.Fatalf("%d of %d tasks can run", n, len(then)+1)
				}
				at := map[string]bool{}
				for i, r := range runs {
					if at[r.Limit.Key] {
						t.Errorf("two of the key %q run at once", r.Limit.Key)
					}
					at[r.Limit.Key] = true
					ran[r.Limit.Key] = append(ran[r.Limit.Key], r.ID)
					runs[i] = end(r, complete, 0, "")
				}
				n += len(runs)
				settle(t, c, runs...)
			}
			for key, order := range ran {
				if !slices.IsSorted(order) {
					t.Errorf("the tasks of the key %q ran as %q", key, order)
				}
			}
			noSlots(t, c)
		}
	})
}

// TestOutcomesWithAccountsAndSlots: tasks with an account, with the only slot of a key, with one that another waits for and
// without a limit are completed together.
func TestOutcomesWithAccountsAndSlots(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		c := newClient(t, o)
		for i, key := range []string{"a", "a", "b", "", ""} {
			task := Task{ID: NewID(0), Kind: "k"}
			if i%2 == 0 {
				task.ID += "~someone"
			}
			if key != "" {
				task.Limit = &Limit{Key: key, Max: 1}
			}
			enqueue(t, c, task)
		}
		for _, want := range []int{4, 1} {
			runs := step(t, c, 0, 10, 0, testTerms).runs
			if len(runs) != want {
				t.Fatalf("%d tasks run at once, want %d", len(runs), want)
			}
			for i, r := range runs {
				runs[i] = end(r, complete, 0, "")
			}
			settle(t, c, runs...)
		}
		counts, err := c.rdb.HGetAll(context.Background(), c.keys[0].Of("counts")).Result()
		if err != nil || counts["done"] != "5" || counts["tasks~someone"] != "" || counts["bytes~someone"] != "" {
			t.Errorf("counts are %v, %v", counts, err)
		}
		noSlots(t, c)
	})
}

// TestAccountOfATaskWithoutSpecification: the outcome of a task whose specification someone removed is taken like any other,
// with those beside it.
func TestAccountOfATaskWithoutSpecification(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		c := newClient(t, o)
		for range 3 {
			enqueue(t, c, Task{ID: NewID(0) + "~someone", Kind: "k"})
		}
		runs := step(t, c, 0, 2, 0, testTerms).runs
		if len(runs) != 2 {
			t.Fatalf("%d tasks run, want 2", len(runs))
		}
		drop := "return redis.call('HDEL', KEYS[1], ARGV[1])"
		if err := c.rdb.Eval(t.Context(), drop, []string{c.keys[0].Of("tasks")}, runs[0].ID).Err(); err != nil {
			t.Fatal(err)
		}
		settle(t, c, end(runs[0], complete, 0, ""), end(runs[1], complete, 0, ""))
		if got, err := c.rdb.HGet(t.Context(), c.keys[0].Of("counts"), "tasks~someone").Result(); err != nil || got != "1" {
			t.Errorf("the account has %q tasks (%v), want the one that waits", got, err)
		}
	})
}
