package queue

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// inBatch is a task of a batch that only its size completes.
func inBatch(key string, n, maximum int) Task {
	return Task{Kind: "k", ID: fmt.Sprintf("p00-%s%d", key, n), Payload: fmt.Append(nil, n), Batch: &Batch{Key: key, Max: maximum, MaxWait: time.Hour}}
}

// take reads the batch of a claimed carrier, as a worker does.
func take(t testing.TB, c *Client, r *running) []string {
	t.Helper()
	one := &call{Call: takeScript.On(c.work[r.partition]).Arg("id", r.ID).Arg("token", r.token)}
	if err := run(context.Background(), c.rdb, []*call{one}); err != nil {
		t.Fatal(err)
	}
	members, err := readBatch(one)
	if err != nil {
		t.Fatal(err)
	}
	return memberIDs(members)
}

func memberIDs(tasks []Task) (all []string) {
	for _, task := range tasks {
		all = append(all, task.ID)
	}
	return all
}

// noBatches fails if anything of a batch is left.
func noBatches(t testing.TB, c *Client) {
	t.Helper()
	left, err := c.rdb.HKeys(context.Background(), c.keys[0].Of("batches")).Result()
	if err != nil || len(left) > 0 {
		t.Errorf("left of the batches: %q, %v", left, err)
	}
	s := stats(t, c)
	conserved(t, s)
	if s.Batched != 0 {
		t.Errorf("%d tasks are counted in batches", s.Batched)
	}
}

// A batch runs when it is full, when nothing more came for a while, and when its first task has waited long enough.
func TestBatchRunsWhenFullQuietOrOld(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		s := newServer(t, o)
		got := make(chan []Task, 10)
		s.HandleBatch("k", Policy{}, func(_ context.Context, tasks []Task) error {
			got <- tasks
			return nil
		})
		start(t, s)
		large := strings.Repeat("x", 400)
		for _, test := range []struct {
			name  string
			batch Batch
			tasks []string
			want  int
		}{
			{"full", Batch{Max: 3, MaxWait: time.Hour}, []string{"a", "b", "c"}, 3},
			{"one", Batch{Max: 1, MaxWait: time.Hour}, []string{"a"}, 1},
			{"bytes", Batch{Bytes: 1000, MaxWait: time.Hour}, []string{large, large, large}, 2},
			{"larger than a batch", Batch{Bytes: 100, MaxWait: time.Hour}, []string{large}, 1},
			{"quiet", Batch{Quiet: 100 * time.Millisecond}, []string{"a", "b"}, 2},
			{"quiet although it may wait", Batch{Quiet: 100 * time.Millisecond, MaxWait: time.Hour}, []string{"a", "b"}, 2},
			{"old", Batch{MaxWait: 100 * time.Millisecond}, []string{"a", "b"}, 2},
			{"old although others come", Batch{Quiet: time.Hour, MaxWait: 100 * time.Millisecond}, []string{"a", "b"}, 2},
		} {
			tasks := make([]Task, len(test.tasks))
			for i, payload := range test.tasks {
				own := test.batch
				own.Key = test.name
				tasks[i] = Task{Kind: "k", Payload: []byte(payload), Batch: &own}
			}
			if _, err := s.EnqueueAll(context.Background(), tasks); err != nil {
				t.Fatal(err)
			}
			batch := receive(t, test.name, got)
			if !slices.Equal(memberIDs(batch), memberIDs(tasks)[:test.want]) {
				t.Errorf("%s: %d tasks ran together, want the first %d", test.name, len(batch), test.want)
			}
			for i, task := range batch {
				if string(task.Payload) != test.tasks[i] || task.Kind != "k" || task.Attempt != 1 || task.Queue != s.name || task.Enqueued.IsZero() {
					t.Errorf("%s: got %+v", test.name, task)
				}
			}
		}
	})
}

// What has begun stays as it is: tasks that come later are in the next batch, and a worker's death, a failure, a dead
// letter and its retry all leave the same tasks together.
func TestBatchStaysTogether(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		ctx := context.Background()
		c := newClient(t, o)
		with := testTerms
		with.lease = time.Millisecond
		n := 0
		add := func(maximum int) {
			n++
			enqueue(t, c, inBatch("a", n, maximum))
		}
		add(3)
		carrier, _, err := c.List(ctx, ListQuery{State: Delayed})
		if err != nil || len(carrier) != 1 || carrier[0].Kind != "k" {
			t.Fatalf("got %+v, %v", carrier, err)
		}
		if err := c.Retry(ctx, carrier[0].ID); err != nil { // an operator does not wait for more
			t.Fatal(err)
		}
		dies := claimOne(t, c, 0, with) // and never takes the batch, so another task still joins
		add(1000)
		until(t, "the lease to end", func() bool { return step(t, c, 0, 0, overdueMax, with).reaped == 1 })
		if left := take(t, c, dies); len(left) != 0 {
			t.Errorf("a worker without a lease got %q", left)
		}
		want := []string{"p00-a1", "p00-a2"}
		dies = claimOne(t, c, 0, with)
		if got := take(t, c, dies); !slices.Equal(got, want) {
			t.Fatalf("got %q", got)
		}
		add(1000) // the next batch
		until(t, "the second lease to end", func() bool { return step(t, c, 0, 0, overdueMax, with).reaped == 1 })
		if err := c.Retry(ctx, dies.ID); err != nil { // it waits after two crashes
			t.Fatal(err)
		}
		for i, verdict := range []verdict{retry, snooze, giveBack, bury} {
			r := claimOne(t, c, 0, testTerms)
			if got := take(t, c, r); !slices.Equal(got, want) {
				t.Fatalf("run %d got %q", i, got)
			}
			settle(t, c, end(r, verdict, 0, "no"))
		}
		if s := stats(t, c); s.Dead != 1 || s.Batched != 3 || s.DeadBytes < 2*50 {
			t.Errorf("got %+v", s)
		}
		if members, err := c.Batch(ctx, dies.ID); err != nil || !slices.Equal(memberIDs(members), want) {
			t.Errorf("the dead letter carries %+v, %v", members, err)
		}
		if err := c.Retry(ctx, dies.ID); err != nil {
			t.Fatal(err)
		}
		last := claimOne(t, c, 0, testTerms)
		if got := take(t, c, last); !slices.Equal(got, want) {
			t.Errorf("after a manual retry: %q", got)
		}
		settle(t, c, end(last, complete, 0, ""))
		if s := stats(t, c); s.Batched != 1 || s.Done != 1 || s.DeadBytes != 0 || s.Delayed != 1 {
			t.Errorf("got %+v", s)
		}
	})
}

// However a batch ends, nothing is left of it, and a task that comes then begins a new one.
func TestNothingIsLeftOfABatch(t *testing.T) {
	for name, ends := range map[string]func(t *testing.T, c *Client, carrier string){
		"cancelled while it waits": func(*testing.T, *Client, string) {},
		"cancelled while it is ready": func(t *testing.T, c *Client, carrier string) {
			if err := c.Retry(context.Background(), carrier); err != nil {
				t.Fatal(err)
			}
		},
		"cancelled while it runs": func(t *testing.T, c *Client, carrier string) {
			if err := c.Retry(context.Background(), carrier); err != nil {
				t.Fatal(err)
			}
			claimOne(t, c, 0, testTerms)
		},
		"cancelled when it is dead": func(t *testing.T, c *Client, carrier string) {
			if err := c.Retry(context.Background(), carrier); err != nil {
				t.Fatal(err)
			}
			settle(t, c, end(claimOne(t, c, 0, testTerms), bury, 0, "no"))
			enqueue(t, c, inBatch("a", 9, 1)) // it does not join the dead ones
			settle(t, c, end(claimOne(t, c, 0, testTerms), complete, 0, ""))
		},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, o Options) {
				ctx := context.Background()
				c := newClient(t, o)
				for n := range 3 {
					enqueue(t, c, inBatch("a", n, 10))
				}
				carrier, _, err := c.List(ctx, ListQuery{State: Delayed})
				if err != nil || len(carrier) != 1 {
					t.Fatalf("got %+v, %v", carrier, err)
				}
				ends(t, c, carrier[0].ID)
				if _, err := c.Cancel(ctx, carrier[0].ID); err != nil {
					t.Fatal(err)
				}
				noBatches(t, c)
				if enqueue(t, c, inBatch("a", 0, 10)); stats(t, c).Batched != 1 {
					t.Errorf("got %+v", stats(t, c))
				}
			})
		})
	}
}

// Dead letters that carry batches are dropped whole, and their bytes count.
func TestDeadBatchesAreBounded(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		c := newClient(t, o)
		for n := range 10 {
			task := inBatch(fmt.Sprint("b", n), 0, 2)
			task.Payload = make([]byte, 10_000)
			enqueue(t, c, task)
			task.ID += "x"
			enqueue(t, c, task)
			r := claimOne(t, c, 0, testTerms)
			set := newQueueSet(c)
			if _, err := set.settle(context.Background(), []*running{end(r, bury, 0, "no")}, deadBounds{1000, 50_000}); err != nil {
				t.Fatal(err)
			}
		}
		s := stats(t, c)
		if conserved(t, s); s.Dead != 2 || s.Batched != 4 || s.DeadBytes < 40_000 || s.DeadBytes > 50_000 {
			t.Errorf("got %+v", s)
		}
		dead, _, err := c.List(context.Background(), ListQuery{State: Dead})
		if err != nil {
			t.Fatal(err)
		}
		for _, info := range dead {
			if _, err := c.Cancel(context.Background(), info.ID); err != nil {
				t.Fatal(err)
			}
		}
		if noBatches(t, c); stats(t, c).DeadBytes != 0 {
			t.Errorf("%d bytes of no dead letter", stats(t, c).DeadBytes)
		}
	})
}

// An id is known as long as its batch, whatever became of that, and so is that of a task beside it.
func TestSameIDIsInOneBatchOnce(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		ctx := context.Background()
		c := newClient(t, o)
		enqueue(t, c, Task{Kind: "k", ID: "p00-plain"})
		tasks := []Task{
			inBatch("a", 1, 2), inBatch("a", 1, 2), {Kind: "k", ID: "p00-other"}, inBatch("a", 2, 2), inBatch("a", 1, 2),
			{Kind: "k", ID: "p00-plain", Batch: &Batch{MaxWait: time.Hour}},
		}
		enqueued, err := c.EnqueueAll(ctx, tasks)
		if want := []bool{true, false, true, true, false, false}; err != nil || !slices.Equal(enqueued, want) {
			t.Errorf("got %v, want %v, %v", enqueued, want, err)
		}
		for _, r := range step(t, c, 0, 10, 0, testTerms).runs {
			if r.Batch != nil {
				if got := take(t, c, r); !slices.Equal(got, []string{"p00-a1", "p00-a2"}) {
					t.Errorf("got %q", got)
				}
				if _, ok, err := c.Enqueue(ctx, inBatch("a", 2, 2)); ok || err != nil {
					t.Errorf("a task of a running batch is there twice, %v", err)
				}
			}
			settle(t, c, end(r, complete, 0, ""))
		}
		noBatches(t, c)
	})
}

// A handler that takes no batches loses none: the batch is a dead letter, which a handler that does takes later.
func TestBatchWithoutItsHandler(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		s := newServer(t, o)
		s.Handle("k", func(context.Context, Task) error { t.Error("it ran"); return nil })
		stop := start(t, s)
		enqueue(t, s.Client, inBatch("a", 1, 2))
		enqueue(t, s.Client, inBatch("a", 2, 2))
		until(t, "a dead letter", func() bool { return stats(t, s.Client).Dead == 1 })
		dead := onlyDead(t, s.Client)
		if !strings.Contains(dead.LastError, "HandleBatch") {
			t.Errorf("it says %q", dead.LastError)
		}
		if err := stop(); err != nil {
			t.Fatal(err)
		}
		later, got := newServer(t, o), make(chan []int, 1)
		number := Kind[int]{Name: "k"}
		number.HandleBatch(later, func(_ context.Context, tasks []Task, payloads []int) error {
			if len(tasks) == 2 && tasks[0].Attempts == 0 {
				got <- payloads
			}
			return nil
		})
		start(t, later)
		if err := later.Retry(context.Background(), dead.ID); err != nil {
			t.Fatal(err)
		}
		if payloads := receive(t, "the batch", got); !slices.Equal(payloads, []int{1, 2}) {
			t.Errorf("got %v", payloads)
		}
		until(t, "its end", func() bool { return stats(t, later.Client).Batched == 0 })
		noBatches(t, later.Client)
	})
}

// A kind that takes batches also takes tasks that are in none, and middleware goes around both.
func TestBatchOfOne(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		s := newServer(t, o)
		got, around := make(chan int, 2), make(chan string, 2)
		var mux Mux
		mux.HandleBatch("k", Policy{}, func(_ context.Context, tasks []Task) error {
			got <- len(tasks)
			return nil
		})
		mux.Use(func(next Handler) Handler {
			return func(ctx context.Context, task Task) error {
				around <- task.Kind
				return next(ctx, task)
			}
		})
		s.Mount("m.", &mux)
		start(t, s)
		enqueue(t, s.Client, Task{Kind: "m.k"})
		if n := receive(t, "the task", got); n != 1 {
			t.Errorf("%d tasks", n)
		}
		for range 2 {
			enqueue(t, s.Client, Task{Kind: "m.k", Batch: &Batch{Max: 2, MaxWait: time.Hour}})
		}
		if n := receive(t, "the batch", got); n != 2 {
			t.Errorf("%d tasks", n)
		}
		if a, b := receive(t, "a run", around), receive(t, "a run", around); a != "m.k" || b != "m.k" {
			t.Errorf("around %q and %q", a, b)
		}
	})
}

// TestBatchesLoseAndDoubleNothing enqueues into a few batches while workers die, fail, give up and operators cancel:
// each task is in one batch, which is the same at each of its runs, and is completed once with it, dead, or cancelled.
func TestBatchesLoseAndDoubleNothing(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		seed := uint64(time.Now().UnixNano())
		t.Logf("seed %d", seed)
		random := rand.New(rand.NewPCG(seed, 1))
		c := newClient(t, o)
		run := batchRun{t: t, c: c, rand: random, of: map[string]string{}, taken: map[string][]string{}}
		for range 600 {
			run.act()
		}
		for stats(t, c).Done < run.ended+1 { // the rest, until nothing waits
			if infos, _, err := c.List(context.Background(), ListQuery{State: Delayed}); err != nil {
				t.Fatal(err)
			} else {
				for _, info := range infos {
					if err := c.Retry(context.Background(), info.ID); err != nil {
						t.Fatal(err)
					}
				}
			}
			runs := step(t, c, 0, 10, overdueMax, testTerms).runs
			if len(runs) == 0 && stats(t, c).Delayed+stats(t, c).Leased == 0 {
				break
			}
			for _, r := range runs {
				run.finish(r, complete)
			}
		}
		run.check()
	})
}

// batchRun is what is known of a random run.
type batchRun struct {
	t     *testing.T
	c     *Client
	rand  *rand.Rand
	n     int
	of    map[string]string   // task -> carrier that took it
	taken map[string][]string // carrier -> tasks, as first taken
	ended int64
	put   int
	over  int // tasks of batches that are complete or cancelled
}

// act does one random thing.
func (b *batchRun) act() {
	b.t.Helper()
	short := testTerms
	short.lease = time.Millisecond
	switch pick := b.rand.IntN(10); {
	case pick < 6:
		b.n++
		task := inBatch(fmt.Sprint("b", b.rand.IntN(3)), b.n, 4)
		task.Batch.Quiet = time.Duration(1+b.rand.IntN(5)) * time.Millisecond
		task.Priority = Priority(b.rand.IntN(2))
		enqueue(b.t, b.c, task)
		b.put++
	case pick < 9:
		verdicts := []verdict{complete, complete, retry, snooze, giveBack, bury, ""}
		for _, r := range step(b.t, b.c, 0, 1+b.rand.IntN(3), overdueMax, short).runs {
			if b.rand.IntN(5) > 0 { // or the worker dies before it takes the batch
				b.finish(r, verdicts[b.rand.IntN(len(verdicts))])
			}
		}
	default:
		state := []State{Delayed, Ready, Leased, Dead}[b.rand.IntN(4)]
		infos, _, err := b.c.List(context.Background(), ListQuery{State: state, Limit: 1})
		if err != nil {
			b.t.Fatal(err)
		}
		for _, info := range infos {
			if state == Dead && b.rand.IntN(2) == 0 {
				if err := b.c.Retry(context.Background(), info.ID); err != nil {
					b.t.Fatal(err)
				}
				continue
			}
			members, err := b.c.Batch(context.Background(), info.ID)
			if err != nil {
				b.t.Fatal(err)
			}
			if _, err := b.c.Cancel(context.Background(), info.ID); err != nil {
				b.t.Fatal(err)
			}
			b.over += len(members)
		}
	}
	s := stats(b.t, b.c)
	conserved(b.t, s)
	if int(s.Batched)+b.over != b.put {
		b.t.Fatalf("%d tasks were put in, %d are in batches, %d are over", b.put, s.Batched, b.over)
	}
}

// finish takes the batch of a run and ends the run; with no verdict its worker dies.
func (b *batchRun) finish(r *running, v verdict) {
	b.t.Helper()
	members := take(b.t, b.c, r)
	if len(members) == 0 {
		return // the lease, of a millisecond, has ended and was taken back
	}
	if before, known := b.taken[r.ID]; known && !slices.Equal(before, members) {
		b.t.Fatalf("%s carried %q, now %q", r.ID, before, members)
	}
	b.taken[r.ID] = members
	for _, id := range members {
		if other := b.of[id]; other != "" && other != r.ID {
			b.t.Fatalf("%s is in %s and in %s", id, other, r.ID)
		}
		b.of[id] = r.ID
	}
	if v == "" {
		return
	}
	if stale := settle(b.t, b.c, end(r, v, 0, "no")); len(stale) == 0 && v == complete {
		b.ended++
		b.over += len(members)
	}
}

// check holds the end against what was put in: what is not over is in dead letters.
func (b *batchRun) check() {
	b.t.Helper()
	s := stats(b.t, b.c)
	if int(s.Batched)+b.over != b.put || s.Done != b.ended || s.Leased+s.Delayed+s.ReadyAll() != 0 {
		b.t.Errorf("got %+v; %d put in, %d over, %d batches complete", s, b.put, b.over, b.ended)
	}
	if b.ended < 10 || len(b.taken) < 20 {
		b.t.Errorf("%d batches complete, %d taken: the run shows too little", b.ended, len(b.taken))
	}
	dead, _, err := b.c.List(context.Background(), ListQuery{State: Dead, Limit: listMax})
	if err != nil {
		b.t.Fatal(err)
	}
	for _, info := range dead {
		if _, err := b.c.Cancel(context.Background(), info.ID); err != nil {
			b.t.Fatal(err)
		}
	}
	noBatches(b.t, b.c)
}
