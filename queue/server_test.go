package queue

import (
	"context"
	"errors"
	"fmt"
	"net"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// onlyDead returns the only dead task.
func onlyDead(t testing.TB, c *Client) Info {
	t.Helper()
	dead, _, err := c.List(context.Background(), ListQuery{State: Dead})
	if err != nil || len(dead) != 1 {
		t.Fatalf("%d tasks are dead, %v", len(dead), err)
	}
	return dead[0]
}

func TestServerRunsEverything(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		s := newServer(t, o)
		var mu sync.Mutex
		seen := make(map[string]int)
		s.Handle("k", func(_ context.Context, task Task) error {
			mu.Lock()
			defer mu.Unlock()
			seen[task.ID]++
			return nil
		})
		stop := start(t, s)
		tasks := make([]Task, 1000)
		for i := range tasks {
			tasks[i] = Task{Kind: "k", Priority: priorities[i%4], Delay: time.Duration(i%3) * 20 * time.Millisecond}
		}
		if _, err := s.EnqueueAll(context.Background(), tasks); err != nil {
			t.Fatal(err)
		}
		until(t, "all to be done", func() bool { return stats(t, s.Client).Done == 1000 })
		if err := stop(); err != nil {
			t.Error(err)
		}
		for _, task := range tasks {
			if seen[task.ID] != 1 {
				t.Errorf("%s ran %d times", task.ID, seen[task.ID])
			}
		}
		for p := range o.Partitions {
			k := s.keys[p]
			if n, err := o.Client.Exists(context.Background(), k.Of("tasks"), k.Of("runs"), k.Of("unique"), k.Of("leased"), k.Of("delayed")).Result(); n != 0 || err != nil {
				t.Errorf("%d keys are left behind, %v", n, err)
			}
		}
	})
}

func TestHowHandlersFail(t *testing.T) {
	boom := errors.New("boom")
	cases := []struct {
		name       string
		handler    Handler
		runs       int64
		wantReason string
	}{
		{"error", func(context.Context, Task) error { return boom }, 3, "boom"},
		{"panic", func(context.Context, Task) error { panic("oh no") }, 3, "panic: oh no"},
		{"goexit", func(context.Context, Task) error { runtime.Goexit(); return nil }, 3, errGoexit.Error()},
		{"bury", func(context.Context, Task) error { return fmt.Errorf("wrapped: %w", Bury(boom)) }, 1, "wrapped: boom"},
		{"bury nothing", func(context.Context, Task) error { return Bury(nil) }, 1, "no reason given"},
		{"retry nothing", func(context.Context, Task) error { return RetryAfter(0, nil) }, 3, "no reason given"},
		{"error that panics", func(context.Context, Task) error { return (*net.OpError)(nil) }, 3,
			"panic: runtime error: invalid memory address or nil pointer dereference"},
		{"timeout", func(ctx context.Context, _ Task) error { <-ctx.Done(); return ctx.Err() }, 3, "context deadline exceeded"},
		{"long error", func(context.Context, Task) error { return errors.New(strings.Repeat("ü", 1000)) }, 3, strings.Repeat("ü", 512)},
	}
	each(t, func(t *testing.T, o Options) {
		o.AttemptsMax = 3
		for _, test := range cases {
			t.Run(test.name, func(t *testing.T) {
				o := options(o.Client, o.Partitions)
				s := newServer(t, o)
				var runs atomic.Int64
				s.HandlePolicy("k", Policy{AttemptsMax: 3, Timeout: 20 * time.Millisecond}, func(ctx context.Context, task Task) error {
					if n := runs.Add(1); int64(task.Attempt) != n {
						t.Errorf("run %d is attempt %d", n, task.Attempt)
					}
					return test.handler(ctx, task)
				})
				start(t, s)
				enqueue(t, s.Client, Task{Kind: "k"})
				until(t, "the task to be buried", func() bool { return stats(t, s.Client).Dead == 1 })
				if got := runs.Load(); got != test.runs {
					t.Errorf("%d runs, want %d", got, test.runs)
				}
				if got := onlyDead(t, s.Client).LastError; got != test.wantReason {
					t.Errorf("reason %q, want %q", got, test.wantReason)
				}
				if got := stats(t, s.Client); got.Failed != test.runs || got.Crashed != 0 {
					t.Errorf("got %+v", got)
				}
			})
		}
	})
}

var errDeaf = errors.New("the answer is lost")

func TestUnknownKindIsBuried(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		s := newServer(t, o)
		start(t, s)
		enqueue(t, s.Client, Task{Kind: "nobody"})
		until(t, "the task to be buried", func() bool { return stats(t, s.Client).Dead == 1 })
		if got, want := onlyDead(t, s.Client).LastError, `unknown kind "nobody"`; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

func TestUnreadableTaskIsBuried(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		s := newServer(t, o)
		id := NewID(0)
		poke(t, o.Client, s.keys[0].Of("tasks"), "HSET", id, "normal x")
		poke(t, o.Client, s.keys[0].Of("counts"), "HSET", "enqueued", 1)
		poke(t, o.Client, s.keys[0].Of("ready:normal"), "RPUSH", id)
		start(t, s)
		until(t, "the task to be buried", func() bool { return stats(t, s.Client).Dead == 1 })
	})
}

func TestTaskSetsItsOwnLimit(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		s := newServer(t, o)
		s.Handle("k", func(context.Context, Task) error { return errors.New("no") })
		start(t, s)
		enqueue(t, s.Client, Task{Kind: "k", AttemptsMax: 2})
		until(t, "the task to be buried", func() bool { return stats(t, s.Client).Dead == 1 })
		if got := stats(t, s.Client).Failed; got != 2 {
			t.Errorf("failed %d times, want 2", got)
		}
	})
}

func TestLongHandlerKeepsItsLease(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		o.Lease = 4 * time.Second // a busy machine holds a process up for seconds
		s := newServer(t, o)
		var runs atomic.Int64
		s.Handle("k", func(ctx context.Context, _ Task) error {
			runs.Add(1)
			timer := time.NewTimer(9 * time.Second) // the work: longer than two leases
			defer timer.Stop()
			select {
			case <-ctx.Done():
				return context.Cause(ctx)
			case <-timer.C:
				return nil
			}
		})
		start(t, s)
		enqueue(t, s.Client, Task{Kind: "k"})
		until(t, "it to be done", func() bool { return stats(t, s.Client).Done == 1 })
		if got := stats(t, s.Client); runs.Load() != 1 || got.Crashed != 0 {
			t.Errorf("%d runs, %+v", runs.Load(), got)
		}
	})
}

func TestHandlerIsCancelledWhenItsLeaseIsLost(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		o.Lease = 3 * time.Second
		s := newServer(t, o)
		started, causes, checked := make(chan Task, 1), make(chan error, 1), make(chan struct{})
		s.Handle("k", func(ctx context.Context, task Task) error {
			if task.Attempt > 1 {
				<-checked // until then the task belongs to another worker
				return nil
			}
			started <- task
			<-ctx.Done()
			causes <- context.Cause(ctx)
			return nil // too late: has no effect
		})
		start(t, s)
		id := enqueue(t, s.Client, Task{Kind: "k"})
		receive(t, "the handler to start", started)
		p, _ := PartitionOf(id)
		// As after a long pause of this process: the lease has ended, and another worker sees that before this one
		// renews it.
		until(t, "the lease to be taken back", func() bool {
			members, err := o.Client.ZRange(context.Background(), s.keys[p].Of("leased"), 0, 0).Result()
			if err != nil || len(members) != 1 {
				t.Fatalf("leased: %v, %v", members, err)
			}
			poke(t, o.Client, s.keys[p].Of("leased"), "ZADD", 1, members[0])
			return step(t, s.Client, p, 0, overdueMax, s.terms).reaped == 1
		})
		if got := receive(t, "the context to end", causes); !errors.Is(got, ErrLeaseLost) {
			t.Errorf("cause %v", got)
		}
		close(checked)
		until(t, "the second run to end", func() bool { return stats(t, s.Client).Done == 1 })
	})
}

func TestStopWaitsForHandlers(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		s := newServer(t, o)
		started, finish := make(chan struct{}), make(chan struct{})
		s.Handle("k", func(ctx context.Context, _ Task) error {
			close(started)
			<-finish
			return ctx.Err()
		})
		stop := start(t, s)
		enqueue(t, s.Client, Task{Kind: "k"})
		receive(t, "the handler to start", started)
		stopped := make(chan error)
		go func() { stopped <- stop() }()
		close(finish)
		if err := receive(t, "Run to end", stopped); err != nil {
			t.Error(err)
		}
		if got := stats(t, s.Client); got.Done != 1 {
			t.Errorf("got %+v", got)
		}
	})
}

func TestStopGivesBackWhatDoesNotEnd(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		o.StopTimeout = 10 * time.Millisecond
		s := newServer(t, o)
		started, finish := make(chan struct{}, 2), make(chan struct{})
		s.Handle("obeys", func(ctx context.Context, _ Task) error {
			started <- struct{}{}
			<-ctx.Done()
			return ctx.Err()
		})
		s.Handle("deaf", func(context.Context, Task) error {
			started <- struct{}{}
			<-finish
			return nil
		})
		stop := start(t, s)
		enqueue(t, s.Client, Task{Kind: "obeys"})
		enqueue(t, s.Client, Task{Kind: "deaf"})
		receive(t, "a handler to start", started)
		receive(t, "a handler to start", started)
		if err := stop(); err == nil || !strings.Contains(err.Error(), "1 handlers did not stop") {
			t.Errorf("got %v", err)
		}
		close(finish)
		s.workers.Wait()
		if got := stats(t, s.Client); got.ReadyAll() != 2 || got.Failed != 0 || got.Crashed != 0 {
			t.Errorf("got %+v", got)
		}
	})
}

// With nothing to do, the claim loop sleeps for a second at most.
func TestClaimLoopSleepsASecond(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		c := newClaimer(newServer(t, o))
		sleep := c.exec(t.Context())
		for sleep == 0 { // the first steps look at everything
			sleep = c.exec(t.Context())
		}
		if sleep > time.Second || c.again.Failing() {
			t.Errorf("it sleeps for %v (failing: %v), want a second at most", sleep, c.again.Failing())
		}
	})
}

// Of many partitions, some are looked at every second, and each within as many seconds as it takes to look at all.
func TestLooksAreSpread(t *testing.T) {
	for partitions, most := range map[int]time.Duration{1: 1, 16: 1, 17: 2, 64: 4, 1000: 63} {
		o := Options{Partitions: partitions}
		o.setDefaults()
		c := &claimer{Server: &Server{o: o, set: queueSet{partitions: partitions}}}
		*c = *newClaimer(c.Server)
		for _, since := range []time.Duration{0, time.Millisecond, 999 * time.Millisecond, 12345 * time.Millisecond} {
			looks := map[int64]int{} // by the second in which they come
			for p := range partitions {
				wait := c.nextLook(p, c.began.Add(since))
				if wait <= 0 || wait > most*time.Second {
					t.Errorf("partition %d of %d is looked at in %v, want %d s at most", p, partitions, wait, most)
				}
				looks[int64((since+wait)/time.Second)]++
			}
			for second, n := range looks {
				if n > looksMax {
					t.Errorf("%d partitions: %d are looked at in second %d, want %d at most", partitions, n, second, looksMax)
				}
			}
		}
	}
}

// Partitions with many tasks make large claims, a few at a time, and each gets its turn, as does one that has just been
// signalled.
func TestPartitionsClaimInTurn(t *testing.T) {
	o := options(connect(t, startRedis(t)), 16)
	o.Workers = 50
	c := newClaimer(newServer(t, o))
	now := time.Now()
	for p := range c.shards {
		c.shards[p].ready[0], c.shards[p].left[0], c.shards[p].overdueAt = true, 1000, now.Add(time.Hour)
	}
	c.shards[7].left[0] = 0
	claimed := map[int]int{}
	for range 16 {
		demands := c.plan(now)
		for _, d := range demands {
			claimed[d.partition] += d.claims[0].n
		}
		if len(demands) > 2 {
			t.Errorf("50 workers claim from %d partitions in one step, want 2 at most", len(demands))
		}
	}
	for p := range c.shards {
		if claimed[p] == 0 || claimed[p] > 100 {
			t.Errorf("partition %d: %d tasks claimed in 16 steps of 50", p, claimed[p])
		}
	}
}

// TestEnqueueLuaStandsInOtherScripts tests the contract with scripts of other packages.
func TestEnqueueLuaStandsInOtherScripts(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		s := newServer(t, o)
		ran := make(chan Task, 1)
		s.Handle("fanout", func(_ context.Context, task Task) error { ran <- task; return nil })
		start(t, s)
		p := o.Partitions - 1
		script := redis.NewScript(EnqueueLua + `
local t = redis.call('TIME')
local now_ms = math.floor((tonumber(t[1]) * 1000000 + tonumber(t[2])) / 1000)
redis.call('SET', KEYS[1], 'a message')
return task_enqueue(2, ARGV[1], 'fanout', 'of g', 'high', now_ms + tonumber(ARGV[2]), now_ms, 'fanout g')`)
		keys := append([]string{"test:{" + tag(p) + "}:g:g:msgs"}, s.keys[p].Enqueue()...)
		id := NewID(p)
		for i, want := range []int64{1, 0} {
			got, err := script.Run(context.Background(), o.Client, keys, []string{id, NewID(p)}[i], 500).Int64()
			if err != nil || got != want {
				t.Fatalf("call %d: got %d, %v", i, got, err)
			}
		}
		got := receive(t, "the task to run", ran)
		if got.ID != id || got.Priority != High || string(got.Payload) != "of g" || got.Unique != "fanout g" || got.Due.IsZero() {
			t.Errorf("got %+v", got)
		}
	})
}
