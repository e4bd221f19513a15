package queue

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/chatd/chatd/internal/redistest"
)

// deaf loses answers: the calls that it drops have run, but the caller cannot know that.
type deaf struct {
	to   string
	on   atomic.Bool
	lost atomic.Int64
}

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

// runs reports whether a command runs the script.
func (d *deaf) runs(cmd redis.Cmder) bool {
	sha, ok := cmd.Args()[1].(*string)
	return ok && *sha == d.to
}

func (d *deaf) lose(err error, cmds ...redis.Cmder) error {
	if err != nil || !d.on.Load() || !d.runs(cmds[0]) {
		return err
	}
	d.lost.Add(1)
	for _, cmd := range cmds {
		cmd.SetErr(errDeaf)
	}
	return errDeaf
}

// While answers get lost, only the first call claims tasks for nobody: expired leases are counted, and too many of them
// would bury tasks that have never run.
func TestLostAnswersCostOneClaim(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		o.Lease = 5 * time.Second // a slow machine must not lose those that run
		hears := newClient(t, o)
		tasks := make([]Task, 200)
		for i := range tasks {
			tasks[i] = Task{Kind: "k"}
		}
		if _, err := hears.EnqueueAll(context.Background(), tasks); err != nil {
			t.Fatal(err)
		}
		rdb, d := another(o), &deaf{to: stepScript.SHA()}
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

// A worker dies by losing its connections: nothing that it does afterwards reaches Redis, and its handlers never end.
func TestDeadWorkersTasksAreRecovered(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		o.Lease = 3 * time.Second // one that is lost before the worker dies is claimed again, by itself
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

		o.Lease = time.Minute // a machine that stands still loses a short one, and the task runs once more
		s := newServer(t, o)
		again := make(chan Task, 1)
		s.Handle("k", func(_ context.Context, task Task) error { again <- task; return nil })
		start(t, s)
		got := receive(t, "the second claim", again)
		if claims := 1 + len(taken); got.ID != id || got.Attempt != claims+1 {
			t.Errorf("got %+v after %d claims", got, claims)
		}
		if took := time.Since(died); took > mortal.Lease+pollMax+8*time.Second {
			t.Errorf("recovered after %v", took)
		}
		until(t, "it to be done", func() bool { return stats(t, s.Client).Done == 1 })
		if st := stats(t, s.Client); st.Crashed != int64(got.Attempt)-1 || st.Failed != 0 {
			t.Errorf("got %+v after %d attempts", st, got.Attempt)
		}
		_ = stopVictim()
	})
}

func TestServerSurvivesARestartOfRedis(t *testing.T) {
	addr := redistest.FreeAddr(t)
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

// A worker that misses a signal polls, at the latest a second after its last step.
func TestLostWakeUpCostsASecond(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		s := newServer(t, o)
		done := make(chan struct{}, 1)
		s.Handle("k", func(context.Context, Task) error { done <- struct{}{}; return nil })
		start(t, s)
		// What makes it look at its start may hide the first loss, but not the next ones.
		for range 3 {
			// The state after an enqueue whose PUBLISH got lost.
			id, began := NewID(0), time.Now()
			poke(t, o.Client, s.keys[0].Of("counts"), "HINCRBY", "enqueued", 1)
			poke(t, o.Client, s.keys[0].Of("tasks"), "HSET", id, "normal 0 0 1 0 k \n")
			poke(t, o.Client, s.keys[0].Of("ready:normal"), "RPUSH", id)
			receive(t, "the task to run", done)
			if took := time.Since(began); took > 10*time.Second { // a busy machine may be late, but not that late
				t.Errorf("it took %v", took)
			}
			until(t, "the task to be settled", func() bool { return stats(t, s.Client).Leased == 0 })
		}
	})
}

// TestConservationUnderKills: no task is lost while workers start and die in the middle of handlers, which also
// fail now and then, while a counter checks the totals.
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
				_ = rdb.Close() // the kill: nothing that it does now reaches Redis
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
