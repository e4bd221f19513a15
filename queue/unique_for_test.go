package queue

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"
)

// ended has the time of a unique key come.
func ended(t testing.TB, o Options, k Keys, key, id string) {
	t.Helper()
	poke(t, o.Client, k.Of("unique"), "HSET", key, id+" 1")
	poke(t, o.Client, k.Of("expiring"), "ZADD", "1", key)
}

// A key that is taken for a time is so whatever happens to the task, and free when the time has come, although the task may still
// wait. Each refusal names the task that took it.
func TestUniqueForATime(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		ctx := context.Background()
		c := newClient(t, o)
		k := c.keys[0]
		one := func() Task { return Task{Kind: "k", ID: NewID(0), Unique: "u", UniqueFor: time.Hour} }
		for name, last := range map[string]func(*running){
			"complete":  func(r *running) { settle(t, c, end(r, complete, 0, "")) },
			"bury":      func(r *running) { settle(t, c, end(r, bury, 0, "no")) },
			"give back": func(r *running) { settle(t, c, end(r, giveBack, 0, "")) },
			"cancel": func(r *running) {
				if _, err := c.Cancel(ctx, r.ID); err != nil {
					t.Error(err)
				}
			},
			"cancel while it waits": func(r *running) {
				settle(t, c, end(r, retry, time.Hour, "no"))
				if _, err := c.Cancel(ctx, r.ID); err != nil {
					t.Error(err)
				}
			},
		} {
			first := enqueue(t, c, one())
			for _, second := range []Task{one(), {Kind: "k", ID: NewID(0), Unique: "u"}} {
				if holder, ok, err := c.Enqueue(ctx, second); holder != first || ok || err != nil {
					t.Errorf("%s: while it waits: got %s, %v, %v, want %s", name, holder, ok, err, first)
				}
			}
			r := claimOne(t, c, 0, testTerms)
			if r.UniqueFor != time.Hour {
				t.Errorf("claimed %+v", r.Task)
			}
			last(r)
			if holder, ok, err := c.Enqueue(ctx, one()); holder != first || ok || err != nil {
				t.Errorf("%s: afterwards: got %s, %v, %v, want %s", name, holder, ok, err, first)
			}
			ended(t, o, k, "u", first)
			if name == "give back" { // it waits, and does not take the key again
				settle(t, c, end(claimOne(t, c, 0, testTerms), giveBack, 0, ""))
			}
			plain := enqueue(t, c, Task{Kind: "k", ID: NewID(0), Unique: "u"})
			if n, err := o.Client.ZCard(ctx, k.Of("expiring")).Result(); n != 0 || err != nil {
				t.Errorf("%s: %d keys are noted, %v", name, n, err)
			}
			for _, id := range []string{first, plain} {
				if _, err := c.Cancel(ctx, id); err != nil && !errors.Is(err, ErrNotFound) {
					t.Error(err)
				}
			}
			if n, err := o.Client.Exists(ctx, k.Of("unique")).Result(); n != 0 || err != nil {
				t.Errorf("%s: the key is left, %v", name, err)
			}
		}
	})
}

// Enqueue names the task that holds a key, in whatever way it does, or the task itself if its id exists.
func TestEnqueueNamesWhoHasTheKey(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		ctx := context.Background()
		c := newClient(t, o)
		for _, first := range []Task{{Unique: "waits"}, {Unique: "end", UniqueUntilEnd: true}, {Unique: "time", UniqueFor: time.Hour}} {
			first.Kind = "k"
			id := enqueue(t, c, first)
			if got, ok, err := c.Enqueue(ctx, Task{Kind: "k", Unique: first.Unique}); got != id || ok || err != nil {
				t.Errorf("%s: got %s, %v, %v, want %s", first.Unique, got, ok, err, id)
			}
			if got, ok, err := c.Enqueue(ctx, Task{Kind: "k", ID: id, Unique: "other"}); got != id || ok || err != nil {
				t.Errorf("%s again: got %s, %v, %v", id, got, ok, err)
			}
		}
	})
}

// Keys whose time has come are removed in bounded steps: when such a task is enqueued, and when one is claimed.
func TestKeysWhoseTimeHasComeAreRemoved(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		ctx := context.Background()
		c := newClient(t, o)
		k := c.keys[0]
		for i := range 40 {
			ended(t, o, k, fmt.Sprint("old ", i), "p00-gone")
		}
		left := func(when string, want int64) {
			t.Helper()
			keys, err := o.Client.HLen(ctx, k.Of("unique")).Result()
			ends, endsErr := o.Client.ZCard(ctx, k.Of("expiring")).Result()
			if keys != want || ends != want || err != nil || endsErr != nil {
				t.Errorf("%s: %d keys and %d ends are left, want %d; %v, %v", when, keys, ends, want, err, endsErr)
			}
		}
		enqueue(t, c, Task{Kind: "k", ID: NewID(0), Unique: "u", UniqueFor: time.Hour})
		left("an enqueue", 40-16+1)
		claimOne(t, c, 0, testTerms)
		left("a claim", 40-32+1)
		enqueue(t, c, Task{Kind: "k", ID: NewID(0), Unique: "v", UniqueFor: time.Hour})
		left("another enqueue", 2)
	})
}

func TestMalformedUniqueForIsRefused(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		c := newClient(t, o)
		for _, bad := range []Task{
			{UniqueFor: time.Hour}, {Unique: "u", UniqueFor: -1}, {Unique: "u", UniqueFor: uniqueForMax + 1},
			{Unique: "u", UniqueFor: time.Hour, UniqueUntilEnd: true},
		} {
			bad.Kind = "k"
			if _, ok, err := c.Enqueue(context.Background(), bad); ok || !errors.Is(err, ErrInvalid) {
				t.Errorf("%+v: %v, %v", bad, ok, err)
			}
		}
	})
}
