package queue

import (
	"context"
	"maps"
	"testing"
	"time"
)

// TestAccounts takes a task of an account through every state, and out of it in every way.
func TestAccounts(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		c, ctx := newClient(t, o), context.Background()
		expect := func(what string, want map[string]int64) {
			t.Helper()
			accounts, err := c.Accounts(ctx)
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]int64{}
			for name, a := range accounts {
				got[name] = a.Tasks
				if a.Bytes < 1000*a.Tasks || a.Bytes > 1100*a.Tasks {
					t.Errorf("%s: %s has %d tasks of %d bytes, want about 1,000 each", what, name, a.Tasks, a.Bytes)
				}
			}
			if !maps.Equal(got, want) {
				t.Errorf("%s: got %v, want %v", what, got, want)
			}
		}
		put := func(account string, delay time.Duration) string {
			t.Helper()
			id := WithAccount(NewID(0), account)
			return enqueue(t, c, Task{Kind: "k", ID: id, Delay: delay, Payload: make([]byte, 1000)})
		}
		claim := func() *running { return claimOne(t, c, 0, testTerms) }
		cancel := func(id string) {
			t.Helper()
			if _, err := c.Cancel(ctx, id); err != nil {
				t.Fatal(err)
			}
		}
		enqueue(t, c, Task{Kind: "k", ID: NewID(0)})
		settle(t, c, end(claim(), complete, 0, ""))
		expect("a task without an account", map[string]int64{})

		ready, delayed := put("a", 0), put("b", time.Hour)
		put("a", 0)
		if _, ok, err := c.Enqueue(ctx, Task{Kind: "k", ID: ready}); ok || err != nil {
			t.Fatalf("the same id again: %v, %v", ok, err)
		}
		expect("enqueued", map[string]int64{"a": 2, "b": 1})
		run := claim()
		expect("claimed", map[string]int64{"a": 2, "b": 1})
		settle(t, c, end(run, complete, 0, ""))
		expect("complete", map[string]int64{"a": 1, "b": 1})
		cancel(delayed)
		expect("cancelled while delayed", map[string]int64{"a": 1})
		settle(t, c, end(claim(), retry, time.Hour, "no"))
		expect("failed", map[string]int64{"a": 1})

		dead := put("c", 0)
		settle(t, c, end(claim(), bury, 0, "no"))
		expect("buried", map[string]int64{"a": 1})
		if err := c.Retry(ctx, dead); err != nil {
			t.Fatal(err)
		}
		expect("retried", map[string]int64{"a": 1, "c": 1})
		run = claim()
		cancel(run.ID)
		settle(t, c, end(run, complete, 0, ""))
		expect("cancelled while it ran", map[string]int64{"a": 1})
		dead = put("c", 0)
		settle(t, c, end(claim(), bury, 0, "no"))
		cancel(dead)
		expect("cancelled when dead", map[string]int64{"a": 1})
	})
}
