package queue

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
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
			if n, err := o.Client.Exists(context.Background(), k.Tasks(), k.Runs(), k.Unique(), k.Leased(), k.Delayed()).Result(); n != 0 || err != nil {
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

// deaf loses answers: what it is told to lose runs, and its caller cannot know that.
type deaf struct {
	to   string
	on   atomic.Bool
	lost atomic.Int64
}

var errDeaf = errors.New("the answer is lost")

func (d *deaf) DialHook(next redis.DialHook) redis.DialHook { return next }

func (d *deaf) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		return d.lose(next(ctx, cmd), cmd)
	}
}

func (d *deaf) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		return d.lose(next(ctx, cmds), cmds...)
	}
}

func (d *deaf) lose(err error, cmds ...redis.Cmder) error {
	if err != nil || !d.on.Load() || cmds[0].Args()[1] != d.to {
		return err
	}
	d.lost.Add(1)
	for _, cmd := range cmds {
		cmd.SetErr(errDeaf)
	}
	return errDeaf
}

// While answers get lost, no more is claimed for nobody than the first call did: leases that
// end are counted, and too many of them would bury tasks that have never run.
func TestLostAnswersCostOneClaim(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		o.Lease = time.Second
		hears := newClient(t, o)
		tasks := make([]Task, 200)
		for i := range tasks {
			tasks[i] = Task{Kind: "k"}
		}
		if _, err := hears.EnqueueAll(context.Background(), tasks); err != nil {
			t.Fatal(err)
		}
		rdb, d := another(o), &deaf{to: stepScript.SHA}
		t.Cleanup(func() { _ = rdb.Close() })
		rdb.AddHook(d)
		d.on.Store(true)
		o.Client = rdb
		s := newServer(t, o)
		s.Handle("k", func(context.Context, Task) error { return nil })
		start(t, s)
		until(t, "answers to be lost", func() bool { return d.lost.Load() >= 5 })
		if got := stats(t, hears); got.Leased+got.Crashed == 0 || got.Leased+got.Crashed > int64(o.Workers) {
			t.Errorf("got %+v", got)
		}
		d.on.Store(false)
		until(t, "all to be done", func() bool { return stats(t, hears).Done == 200 })
		if got := stats(t, hears); got.Crashed > int64(o.Workers) || got.Buried != 0 {
			t.Errorf("got %+v", got)
		}
	})
}

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
		poke(t, o.Client, s.keys[0].Tasks(), "HSET", id, "normal x")
		poke(t, o.Client, s.keys[0].Counts(), "HSET", "enqueued", 1)
		poke(t, o.Client, s.keys[0].Ready(Normal), "RPUSH", id)
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

// A worker that dies is one whose connections end: nothing of what it does afterwards
// reaches Redis, and its handlers never end.
func TestDeadWorkersTasksAreRecovered(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		o.Lease = time.Second
		mortal := o
		dying := another(o)
		mortal.Client = dying
		mortal.StopTimeout = time.Millisecond
		victim := newServer(t, mortal)
		taken := make(chan string, 10)
		victim.Handle("k", func(ctx context.Context, task Task) error {
			taken <- task.ID
			<-ctx.Done()
			return nil
		})
		stopVictim := start(t, victim)
		id := enqueue(t, victim.Client, Task{Kind: "k"})
		if got := receive(t, "the first claim", taken); got != id {
			t.Fatalf("claimed %s", got)
		}
		died := time.Now()
		if err := dying.Close(); err != nil {
			t.Fatal(err)
		}

		s := newServer(t, o)
		again := make(chan Task, 1)
		s.Handle("k", func(_ context.Context, task Task) error { again <- task; return nil })
		start(t, s)
		got := receive(t, "the second claim", again)
		if got.ID != id || got.Attempt != 2 {
			t.Errorf("got %+v", got)
		}
		if took := time.Since(died); took > o.Lease+pollMax+2*time.Second {
			t.Errorf("recovered after %v", took)
		}
		until(t, "it to be done", func() bool { return stats(t, s.Client).Done == 1 })
		if got := stats(t, s.Client); got.Crashed != 1 || got.Failed != 0 {
			t.Errorf("got %+v", got)
		}
		_ = stopVictim()
	})
}

func TestLongHandlerKeepsItsLease(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		o.Lease = 2 * time.Second
		s := newServer(t, o)
		var runs atomic.Int64
		s.Handle("k", func(ctx context.Context, _ Task) error {
			runs.Add(1)
			timer := time.NewTimer(4500 * time.Millisecond) // the work: longer than two leases
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
				<-checked // until then the task is somebody's
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
		// As after a long stop of this process: the lease is over, and another one sees it
		// before this one renews.
		until(t, "the lease to be taken back", func() bool {
			members, err := o.Client.ZRange(context.Background(), s.keys[p].Leased(), 0, 0).Result()
			if err != nil || len(members) != 1 {
				t.Fatalf("leased: %v, %v", members, err)
			}
			poke(t, o.Client, s.keys[p].Leased(), "ZADD", 1, members[0])
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

func TestServerSurvivesARestartOfRedis(t *testing.T) {
	addr := freeAddr(t)
	stopRedis := startRedisAt(t, addr)
	t.Cleanup(func() { stopRedis() })
	s := newServer(t, options(connect(t, addr), 4))
	done := make(chan string, 100)
	s.Handle("k", func(_ context.Context, task Task) error { done <- task.ID; return nil })
	start(t, s)
	for range 3 {
		want := enqueue(t, s.Client, Task{Kind: "k"})
		if got := receive(t, "the task to run", done); got != want {
			t.Errorf("ran %s, want %s", got, want)
		}
		stopRedis() // without persistence: the scripts are gone too
		stopRedis = startRedisAt(t, addr)
		until(t, "Redis to answer", func() bool { return s.rdb.Ping(context.Background()).Err() == nil })
	}
}

// A worker that hears of nothing looks by itself, at the latest a second after it last did.
func TestLostWakeUpCostsASecond(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		s := newServer(t, o)
		done := make(chan struct{}, 1)
		s.Handle("k", func(context.Context, Task) error { done <- struct{}{}; return nil })
		start(t, s)
		// What makes it look at its start may hide the first loss, but not the next ones.
		for range 3 {
			// What an enqueue leaves whose PUBLISH nobody got.
			id, began := NewID(0), time.Now()
			poke(t, o.Client, s.keys[0].Counts(), "HINCRBY", "enqueued", 1)
			poke(t, o.Client, s.keys[0].Tasks(), "HSET", id, "normal 0 0 1 0 k \n")
			poke(t, o.Client, s.keys[0].Ready(Normal), "RPUSH", id)
			receive(t, "the task to run", done)
			if took := time.Since(began); took > 5*time.Second { // a busy machine may be late, but not that late
				t.Errorf("it took %v", took)
			}
			until(t, "the task to be settled", func() bool { return stats(t, s.Client).Leased == 0 })
		}
	})
}

// With nothing to do, the claim loop sleeps for a second at most.
func TestClaimLoopSleepsASecond(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		c := newClaimer(newServer(t, o))
		sleep := c.exec(t.Context())
		for sleep == 0 { // it has looked
			sleep = c.exec(t.Context())
		}
		if sleep > time.Second || c.again.Failing() {
			t.Errorf("it sleeps for %v (failing: %v), want a second at most", sleep, c.again.Failing())
		}
	})
}

// TestConservationUnderKills is Q1, Q2 and Q5 together: workers come and die in the middle
// of handlers, which also fail now and then, while somebody counts.
func TestConservationUnderKills(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		const total = 400
		o.Lease, o.CrashesMax, o.AttemptsMax, o.Workers = 500*time.Millisecond, 1000, 100, 8
		o.StopTimeout = time.Millisecond
		c := newClient(t, o)
		var effects sync.Map
		worker := func(ctx context.Context, life int64) {
			mine := o
			rdb := another(o)
			mine.Client = rdb
			s := newServer(t, mine)
			var begun atomic.Int64
			death := make(chan struct{})
			s.Handle("k", func(ctx context.Context, task Task) error {
				if begun.Add(1) == life {
					close(death)
				}
				if rand.IntN(10) == 0 {
					return errors.New("now and then")
				}
				timer := time.NewTimer(time.Duration(rand.IntN(5)) * time.Millisecond)
				defer timer.Stop()
				select {
				case <-ctx.Done():
					return ctx.Err()
				case <-timer.C:
				}
				effects.Store(task.ID, true)
				return nil
			})
			stop := start(t, s)
			select {
			case <-ctx.Done():
			case <-death:
				_ = rdb.Close() // kills it: whatever it does now reaches nobody
			}
			_ = stop()
			_ = rdb.Close()
		}
		ctx, cancel := context.WithCancel(context.Background())
		var workers sync.WaitGroup
		for range 3 {
			workers.Go(func() {
				for ctx.Err() == nil {
					worker(ctx, 20+rand.Int64N(60))
				}
			})
		}
		ids := make(map[string]bool)
		for range total / 20 {
			tasks := make([]Task, 20)
			for i := range tasks {
				tasks[i] = Task{Kind: "k", Priority: priorities[i%4], Delay: time.Duration(rand.IntN(300)) * time.Millisecond}
			}
			if _, err := c.EnqueueAll(context.Background(), tasks); err != nil {
				t.Fatal(err)
			}
			for _, task := range tasks {
				ids[task.ID] = true
			}
		}
		until(t, "all to be done", func() bool { return stats(t, c).Done == total })
		cancel()
		workers.Wait()
		for id := range ids {
			if _, ok := effects.Load(id); !ok {
				t.Errorf("%s has had no effect", id)
			}
		}
		got := stats(t, c)
		if got.Dead != 0 || got.Leased != 0 {
			t.Errorf("got %+v", got)
		}
		t.Logf("%d runs failed, %d ended with their worker", got.Failed, got.Crashed)
	})
}

func TestSubscriptionComesBack(t *testing.T) {
	rdb := connect(t, startRedis(t))
	s := newServer(t, options(rdb, 4))
	done := make(chan struct{}, 1)
	s.Handle("k", func(context.Context, Task) error { done <- struct{}{}; return nil })
	start(t, s)
	for range 3 {
		until(t, "the subscription", func() bool { return subscribed(t, s) })
		if n, err := rdb.ClientKillByFilter(context.Background(), "TYPE", "pubsub").Result(); err != nil || n != 1 {
			t.Fatalf("killed %d, %v", n, err)
		}
		enqueue(t, s.Client, Task{Kind: "k"})
		receive(t, "the task to run", done)
	}
	until(t, "the subscription", func() bool { return subscribed(t, s) })
}

// TestEnqueueLuaStandsInOtherScripts is the contract with scripts of other packages.
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
