package queue

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

func hold(t testing.TB, c *Client, key string, most int) *Slot {
	t.Helper()
	s, err := c.Hold(patient(t), key, most)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func release(t testing.TB, s *Slot) {
	t.Helper()
	if err := s.Release(context.Background()); err != nil {
		t.Error(err)
	}
}

// TestHoldIsExclusive: tasks and other code never have more slots at once than there are, and fences grow.
func TestHoldIsExclusive(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		s := newServer(t, o)
		for _, most := range []int{1, 2} {
			key := fmt.Sprint("key", most)
			var inside, done atomic.Int64
			var mu sync.Mutex
			var fences []int64
			enter := func() {
				if n := inside.Add(1); n > int64(most) {
					t.Errorf("%d are inside, want %d at most", n, most)
				}
				<-time.After(100 * time.Microsecond)
				inside.Add(-1)
				done.Add(1)
			}
			s.Handle(key, func(context.Context, Task) error { enter(); return nil })
			var all sync.WaitGroup
			for i := range 4 {
				mine := o
				mine.Client = another(o)
				t.Cleanup(func() { _ = mine.Client.Close() })
				c := newClient(t, mine)
				all.Go(func() {
					for range 5 {
						slot := hold(t, c, key, most)
						enter()
						mu.Lock()
						fences = append(fences, slot.Fence())
						mu.Unlock()
						release(t, slot)
						if slot.Context().Err() == nil || !errors.Is(slot.Release(context.Background()), ErrLeaseLost) {
							t.Errorf("%d: released, and not over", i)
						}
						if _, _, err := c.Enqueue(context.Background(), Task{Kind: key, Limit: &Limit{Key: key, Max: most}}); err != nil {
							t.Error(err)
						}
					}
				})
			}
			finished(t, "all to have had their turn", &all)
			if sorted := slices.Sorted(slices.Values(fences)); most == 1 && !slices.Equal(fences, sorted) || len(slices.Compact(sorted)) != 20 {
				t.Errorf("fences %v", fences)
			}
		}
		start(t, s)
		until(t, "the tasks to be done", func() bool { return stats(t, s.Client).Done == 80 })
		noSlots(t, s.Client)
	})
}

// TestHoldWaitsInLine: behind tasks that wait already, in front of those that come later; not when the queue is paused.
func TestHoldWaitsInLine(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		ctx := context.Background()
		c := newClient(t, o)
		p := Partition("a", c.partitions)
		one := Limit{Key: "a", Max: 1}
		put := func() string { return enqueue(t, c, Task{Kind: "k", Limit: &one}) }
		put()
		first := claimOne(t, c, p, testTerms)
		before := put()
		step(t, c, p, 1, 0, testTerms)
		got := make(chan *Slot)
		go func() { got <- hold(t, c, "a", 1) }()
		until(t, "it to be parked", func() bool { return stats(t, c).Parked == 2 })
		put()
		step(t, c, p, 1, 0, testTerms)
		if _, err := c.TryHold(ctx, "a", 1); !errors.Is(err, ErrBusy) {
			t.Errorf("got %v, want ErrBusy", err)
		}
		soon, stop := context.WithTimeoutCause(ctx, time.Millisecond, errRow)
		defer stop()
		if _, err := c.Hold(soon, "a", 1); !errors.Is(err, errRow) && !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want the end of the context", err)
		}
		if s := stats(t, c); s.Parked != 3 {
			t.Errorf("it has not left the line: %+v", s)
		}
		settle(t, c, end(first, complete, 0, ""))
		second := claimOne(t, c, p, testTerms)
		if second.ID != before {
			t.Errorf("%s runs, want %s", second.ID, before)
		}
		if err := c.Pause(ctx); err != nil {
			t.Error(err)
		}
		settle(t, c, end(second, complete, 0, ""))
		slot := receive(t, "the slot", got)
		listed, _, err := c.List(ctx, ListQuery{State: Leased})
		if err != nil || len(listed) != 1 || listed[0].Kind != KindHold || *listed[0].Limit != (Limit{Key: "a", Max: 1, Hold: true}) {
			t.Errorf("listed %+v, %v", listed, err)
		}
		release(t, slot)
		if err := c.Resume(ctx); err != nil {
			t.Error(err)
		}
		settle(t, c, end(claimOne(t, c, p, testTerms), complete, 0, ""))
		noSlots(t, c)
	})
}

var errRow = errors.New("too late")

// TestHoldOutlivesNoProcess: the slot of a process that died is free when its lease ends, and the turn of one that died
// while it waited passes after a lease.
func TestHoldOutlivesNoProcess(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		c := newClient(t, o)
		p := Partition("a", c.partitions)
		dead := func(want bool) {
			t.Helper()
			r := &running{Task: Task{ID: NewID(p), Limit: &Limit{Key: "a", Max: 1, Hold: true}}, partition: p, token: newToken()}
			if fence, err := c.askForSlot(context.Background(), r, busyWait); err != nil || fence > 0 != want {
				t.Errorf("got %d, %v", fence, err)
			}
		}
		dead(true)
		dead(false)
		enqueue(t, c, Task{Kind: "k", Limit: &Limit{Key: "a", Max: 1}})
		if got := step(t, c, p, 1, overdueMax, testTerms).runs; len(got) > 0 {
			t.Errorf("claimed %v", ids(got))
		}
		for range 2 {
			members, err := c.rdb.ZRange(context.Background(), c.keys[p].Of("leased"), 0, -1).Result()
			if err != nil || len(members) != 1 {
				t.Fatal(members, err)
			}
			poke(t, c.rdb, c.keys[p].Of("leased"), "ZADD", 1, members[0])
			step(t, c, p, 0, overdueMax, testTerms)
		}
		settle(t, c, end(claimOne(t, c, p, testTerms), complete, 0, ""))
		noSlots(t, c)
		if s := stats(t, c); s.Deleted != 2 || s.Crashed != 2 || s.Done != 1 {
			t.Errorf("got %+v", s)
		}
	})
}

// TestHoldNoticesItsEnd: the context ends when someone cancels the slot, or when the lease cannot be renewed in time.
func TestHoldNoticesItsEnd(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		ctx := context.Background()
		ends := func(slot *Slot, want error) {
			t.Helper()
			receive(t, "the end", slot.Context().Done())
			if cause := context.Cause(slot.Context()); !errors.Is(cause, want) {
				t.Errorf("ended by %v, want %v", cause, want)
			}
		}
		o.Lease = 6 * time.Second
		c := newClient(t, o)
		var slot *Slot
		var first float64
		until(t, "the lease to be renewed twice", func() bool {
			ends := func() float64 {
				return o.Client.ZScore(ctx, c.keys[slot.run.partition].Of("leased"), slot.run.ID+" "+slot.run.token).Val()
			}
			// A machine that stands still for the length of a lease loses it, rightly: the slot is then taken again.
			if slot == nil || slot.Context().Err() != nil {
				slot = hold(t, c, "a", 1)
				first = ends()
			}
			return ends() > first+3500
		})
		if _, err := newClient(t, o).Cancel(ctx, slot.run.ID); err != nil {
			t.Error(err)
		}
		ends(slot, ErrCancelled)
		if err := slot.Release(ctx); !errors.Is(err, ErrLeaseLost) {
			t.Errorf("released: %v", err)
		}

		o.Lease = 200 * time.Millisecond
		rdb, deaf := another(o), &deaf{to: renewScript.SHA()}
		t.Cleanup(func() { _ = rdb.Close() })
		rdb.AddHook(deaf)
		deaf.on.Store(true)
		o.Client = rdb
		c = newClient(t, o)
		slot = hold(t, c, "a", 1)
		ends(slot, ErrLeaseLost)
		if err := slot.Release(ctx); err != nil {
			t.Error(err)
		}
		noSlots(t, c)
	})
}

// TestHoldKeepsTheOrder: nobody overtakes one that waits, fences grow though the clock is set back, and one whose slot
// has been passed on has it for a whole lease from the moment when it learns of that.
func TestHoldKeepsTheOrder(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		ctx := context.Background()
		c := newClient(t, o)
		p := Partition("a", c.partitions)
		for _, most := range []int{3, 1} {
			enqueue(t, c, Task{Kind: "k", Limit: &Limit{Key: "a", Max: most}})
		}
		first := step(t, c, p, 2, 0, testTerms).runs
		if len(first) != 1 {
			t.Fatalf("claimed %v", ids(first))
		}
		if _, err := c.TryHold(ctx, "a", 3); !errors.Is(err, ErrBusy) {
			t.Errorf("it overtook one that waits: %v", err)
		}
		const future = 1 << 51
		poke(t, c.rdb, c.keys[p].Of("counts"), "HSET", "fence", int64(future))
		r := &running{Task: Task{ID: NewID(p), Limit: &Limit{Key: "a", Max: 3, Hold: true}}, partition: p, token: newToken()}
		if fence, err := c.askForSlot(ctx, r, busyWait); fence != 0 || err != nil {
			t.Errorf("got %d, %v", fence, err)
		}
		settle(t, c, end(first[0], complete, 0, ""))
		settle(t, c, end(claimOne(t, c, p, testTerms), complete, 0, ""))
		member := r.ID + " " + r.token
		ends := c.rdb.ZScore(ctx, c.keys[p].Of("leased"), member).Val()
		poke(t, c.rdb, c.keys[p].Of("leased"), "ZADD", int64(ends)-5000, member)
		if fence, err := c.askForSlot(ctx, r, busyAgain); fence != future+1 || err != nil {
			t.Errorf("got %d, %v", fence, err)
		}
		if again := c.rdb.ZScore(ctx, c.keys[p].Of("leased"), member).Val(); again < ends {
			t.Errorf("the lease ends %v ms before", ends-again)
		}
	})
}

func TestHoldIsChecked(t *testing.T) {
	rdb := redis.NewClient(&redis.Options{Addr: "127.0.0.1:1", MaxRetries: -1})
	defer func() { _ = rdb.Close() }()
	c := newClient(t, Options{Client: rdb})
	for _, bad := range []Limit{{Max: 1}, {Key: "a\r", Max: 1}, {Key: "a"}, {Key: "a", Max: 1001}} {
		if _, err := c.Hold(context.Background(), bad.Key, bad.Max); !errors.Is(err, ErrInvalid) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
	if _, err := c.Hold(context.Background(), "a", 1); err == nil || errors.Is(err, ErrInvalid) {
		t.Errorf("no Redis: %v", err)
	}
	if _, _, err := c.Enqueue(context.Background(), Task{Kind: KindHold}); !errors.Is(err, ErrInvalid) {
		t.Errorf("a task of that kind: %v", err)
	}
}
