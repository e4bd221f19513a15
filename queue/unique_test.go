package queue

import (
	"context"
	"testing"
	"time"
)

// A key that is held until the end is not free while the task runs, waits for a retry, was given back or lost its worker, and it
// is free in the step that ends the task.
func TestUniqueUntilTheEnd(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		ctx := context.Background()
		c := newClient(t, o)
		one := func() Task { return Task{Kind: "k", ID: NewID(0), Unique: "u", UniqueUntilEnd: true} }
		held := func(when string) {
			t.Helper()
			if _, ok, err := c.Enqueue(ctx, one()); ok || err != nil {
				t.Errorf("%s: a second one was enqueued, %v", when, err)
			}
		}
		claim := func() *running {
			t.Helper()
			s := step(t, c, 0, 1, overdueMax, testTerms)
			if len(s.runs) != 1 {
				t.Fatalf("claimed %v", ids(s.runs))
			}
			return s.runs[0]
		}
		for name, last := range map[string]func(*running){
			"complete": func(r *running) { settle(t, c, end(r, complete, 0, "")) },
			"bury":     func(r *running) { settle(t, c, end(r, bury, 0, "no")) },
			"expire":   func(r *running) { settle(t, c, end(r, expire, 0, "late")) },
			"cancel while it runs": func(r *running) {
				if _, err := c.Cancel(ctx, r.ID); err != nil {
					t.Error(err)
				}
			},
			"cancel while it waits": func(r *running) {
				settle(t, c, end(r, retry, time.Hour, "no"))
				held("waiting for a retry")
				if _, err := c.Cancel(ctx, r.ID); err != nil {
					t.Error(err)
				}
			},
			"its worker dies too often": func(r *running) {
				poke(t, o.Client, c.keys[0].Of("leased"), "ZADD", "1", r.ID+" "+r.token)
				few := testTerms
				few.crashesMax = 1
				if s := step(t, c, 0, 0, overdueMax, few); s.buried != 1 {
					t.Errorf("buried %d", s.buried)
				}
			},
		} {
			enqueue(t, c, one())
			held("waiting")
			r := claim()
			held("running")
			settle(t, c, end(r, giveBack, 0, ""))
			held("given back")
			settle(t, c, end(claim(), retry, 0, "no"))
			held("to be retried")
			r = claim()
			held("running again")
			last(r)
			if n, err := o.Client.Exists(ctx, c.keys[0].Of("unique")).Result(); n != 0 || err != nil {
				t.Errorf("%s: the key is left, %v", name, err)
				o.Client.Del(ctx, c.keys[0].Of("unique"))
			}
		}
		if s := stats(t, c); s.Done != 1 || s.Deleted != 2 || s.Dead != 3 || s.Enqueued != 6 {
			t.Errorf("got %+v", s)
		}
	})
}

// A dead letter that is retried takes its key again, unless another task has it, and that one keeps it.
func TestRetriedDeadLetterTakesItsKeyAgain(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		ctx := context.Background()
		c := newClient(t, o)
		task := func() Task { return Task{Kind: "k", ID: NewID(0), Unique: "u", UniqueUntilEnd: true} }
		holder := func(want string) {
			t.Helper()
			if got, err := o.Client.HGet(ctx, c.keys[0].Of("unique"), "u").Result(); got != want || err != nil {
				t.Errorf("the key is held by %q, %v, want %q", got, err, want)
			}
		}
		first := enqueue(t, c, task())
		settle(t, c, end(claimOne(t, c, 0, testTerms), bury, 0, "no"))
		if err := c.Retry(ctx, first); err != nil {
			t.Fatal(err)
		}
		holder(first)
		settle(t, c, end(claimOne(t, c, 0, testTerms), bury, 0, "no"))
		second := enqueue(t, c, task())
		if err := c.Retry(ctx, first); err != nil {
			t.Fatal(err)
		}
		holder(second)
		if got := claimOne(t, c, 0, testTerms); got.ID != second {
			t.Fatalf("claimed %s", got.ID)
		}
		settle(t, c, end(claimOne(t, c, 0, testTerms), complete, 0, ""))
		holder(second)
	})
}
