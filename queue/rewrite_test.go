package queue

import (
	"bytes"
	"context"
	"fmt"
	"testing"
	"time"
)

// TestRewrite: a payload is replaced in every state of a task, if it is the one that was read, and what is counted of it too.
func TestRewrite(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		c := newClient(t, o)
		ctx := context.Background()
		claimed := enqueue(t, c, Task{Kind: "k", ID: WithAccount(NewID(0), "a"), Payload: []byte("old")})
		run := claimOne(t, c, 0, testTerms)
		died := enqueue(t, c, Task{Kind: "k", ID: WithAccount(NewID(0), "a"), Payload: []byte("old")})
		set := newQueueSet(c)
		if _, err := set.settle(ctx, []*running{end(claimOne(t, c, 0, testTerms), bury, 0, "no")}, deadBounds{9, 1 << 20}); err != nil {
			t.Fatal(err)
		}
		ready := enqueue(t, c, Task{Kind: "k", ID: WithAccount(NewID(0), "a"), Payload: []byte("old")})
		later := enqueue(t, c, Task{Kind: "k", ID: WithAccount(NewID(0), "a"), Payload: []byte("old"), Delay: time.Hour})
		for _, id := range []string{claimed, died, ready, later} {
			for _, payload := range [][2]string{{"old", "line 1\nline 2"}, {"old", "not this"}, {"line 1\nline 2", ""}, {"", "new"}} {
				done, err := c.Rewrite(ctx, Payload{ID: id, Data: []byte(payload[0])}, []byte(payload[1]))
				if err != nil || done != (payload[1] != "not this") {
					t.Errorf("%s: %q: got %v, %v", id, payload, done, err)
				}
			}
			if info, err := c.Get(ctx, id); err != nil || string(info.Payload) != "new" || info.Kind != "k" {
				t.Errorf("got %+v, %v", info, err)
			}
		}
		if done, err := c.Rewrite(ctx, Payload{ID: NewID(0)}, nil); err != nil || done {
			t.Errorf("a task that does not exist: got %v, %v", done, err)
		}
		if n, err := c.rdb.HGet(ctx, c.keys[0].Of("counts"), "dead_bytes").Int64(); err != nil || n != deadBytes(t, c) {
			t.Errorf("%d bytes of dead letters are counted, want %d, %v", n, deadBytes(t, c), err)
		}
		found, err := c.Payloads(ctx, []string{claimed, NewID(0), ready, later})
		if err != nil || len(found) != 3 || found[0].ID != claimed || string(found[2].Data) != "new" {
			t.Fatalf("got %+v, %v", found, err)
		}
		var bytes int64
		for _, one := range found {
			spec, err := c.rdb.HStrLen(ctx, c.keys[0].Of("tasks"), one.ID).Result()
			if err != nil {
				t.Fatal(err)
			}
			bytes += spec
		}
		if accounts, err := c.Accounts(ctx); err != nil || accounts["a"] != (Account{Tasks: 3, Bytes: bytes}) {
			t.Errorf("got %+v, %v, want 3 tasks of %d bytes", accounts, err, bytes)
		}
		if _, err := set.settle(ctx, []*running{end(run, complete, 0, "")}, deadBounds{9, 1 << 20}); err != nil {
			t.Fatal(err)
		}
		for _, id := range []string{ready, later} {
			if _, err := c.Cancel(ctx, id); err != nil {
				t.Fatal(err)
			}
		}
		if accounts, err := c.Accounts(ctx); err != nil || len(accounts) != 0 {
			t.Errorf("got %+v, %v after the end of all", accounts, err)
		}
	})
}

// TestWalk: every task is found, of one partition or of all.
func TestWalk(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		c := newClient(t, o)
		const n = 700
		want := map[string]bool{}
		for i := range n {
			id := fmt.Sprintf("p%02d-%d", i%c.partitions, i)
			enqueue(t, c, Task{ID: id, Kind: "k", Payload: bytes.Repeat([]byte("x"), i)})
			want[id] = true
		}
		for _, partition := range []int{-1, c.partitions - 1} {
			found := map[string]bool{}
			pages(t, func(cursor string) string {
				page, next, err := c.Walk(t.Context(), partition, cursor)
				if err != nil {
					t.Fatal(err)
				}
				for _, one := range page {
					if !want[one.ID] || one.Kind != "k" || one.ID != fmt.Sprintf("p%02d-%d", len(one.Data)%c.partitions, len(one.Data)) {
						t.Errorf("got %s with %d bytes", one.ID, len(one.Data))
					}
					found[one.ID] = true
				}
				return next
			})
			wanted := n
			if partition >= 0 {
				wanted = (n - partition + c.partitions - 1) / c.partitions
			}
			if len(found) != wanted {
				t.Errorf("partition %d: %d tasks found, want %d", partition, len(found), wanted)
			}
		}
		for _, cursor := range []string{"x", "-1 0", "99 0"} {
			if _, _, err := c.Walk(t.Context(), -1, cursor); err == nil {
				t.Errorf("the cursor %q is taken", cursor)
			}
		}
	})
}
