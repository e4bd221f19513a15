package queue

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/chatd/chatd/internal/redistest"
)

// severalOf returns options with n queues of two workers each.
func severalOf(o Options, n int) Options {
	for i := range n {
		o.Queues = append(o.Queues, QueueOptions{Name: fmt.Sprint(o.Queue, "-", i), Workers: 2})
	}
	return o
}

func clientsOf(t testing.TB, o Options) (clients []*Client) {
	for _, q := range o.Queues {
		mine := o
		mine.Queue = q.Name
		clients = append(clients, newClient(t, mine))
	}
	return clients
}

// TestOneStepServesSeveralQueues checks one answer: each queue has its own claims, promotions and expired leases.
func TestOneStepServesSeveralQueues(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		clients := clientsOf(t, severalOf(o, 3))
		set := newQueueSet(clients...)
		for i, c := range clients {
			for range 2 * (i + 1) {
				enqueue(t, c, Task{Kind: "k", ID: NewID(0), Priority: priorities[i]})
			}
		}
		enqueue(t, clients[1], Task{Kind: "k", ID: NewID(0), Delay: time.Hour})
		demand := func(n ...int) stepDemand {
			w := stepDemand{overdue: overdueMax}
			for _, n := range n {
				w.claims = append(w.claims, claimDemand{n, turns(0, n)})
			}
			return w
		}
		brief := testTerms
		brief.lease = time.Millisecond
		got := stepAll(t, set, demand(1, 0, 4), brief)
		for i, want := range []struct {
			claimed int
			left    int64
		}{{1, 1}, {0, 4}, {4, 2}} {
			if q := got.queues[i]; len(q.runs) != want.claimed || q.left != want.left {
				t.Errorf("queue %d: %d claimed, %d left, want %+v", i, len(q.runs), q.left, want)
			}
			for _, r := range got.queues[i].runs {
				if r.Queue != clients[i].name || r.queue.index != i || r.Priority != priorities[i] {
					t.Errorf("queue %d: got %+v", i, r.Task)
				}
			}
		}
		reaped := make([]int64, 3)
		until(t, "the leases to be taken back", func() bool {
			for i, q := range stepAll(t, set, demand(0, 0, 0), testTerms).queues {
				reaped[i] += q.reaped
			}
			return reaped[0]+reaped[2] == 5
		})
		if !slices.Equal(reaped, []int64{1, 0, 4}) {
			t.Errorf("reaped %v", reaped)
		}
		if wait := stepAll(t, set, demand(0, 0, 0), testTerms).wait; wait < 50*time.Minute {
			t.Errorf("wait %v, want that of the only delayed one", wait)
		}
		// The outcomes of several queues are stored in one round trip.
		all := stepAll(t, set, demand(9, 9, 9), testTerms)
		var ended []*running
		for _, q := range all.queues {
			for _, r := range q.runs {
				ended = append(ended, end(r, complete, 0, ""))
			}
		}
		if got, err := set.settle(context.Background(), ended, testTerms.dead); err != nil || len(got.stale) != 0 {
			t.Errorf("stale %v, %v", ids(got.stale), err)
		}
		for i, c := range clients {
			if s := stats(t, c); s.Done != int64(2*(i+1)) || s.Leased != 0 {
				t.Errorf("queue %d: %+v", i, s)
			}
		}
	})
}

// One server runs the tasks of all its queues, and a queue whose workers are all busy does not hold up the others.
func TestServerOfSeveralQueues(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		o = severalOf(o, 3)
		s := newServer(t, o)
		clients := clientsOf(t, o)
		release := make(chan struct{})
		var blocked atomic.Int64
		s.Handle("blocks", func(ctx context.Context, _ Task) error {
			blocked.Add(1)
			select {
			case <-release:
			case <-ctx.Done():
			}
			return nil
		})
		ran := make(chan string, 200)
		s.Handle("k", func(_ context.Context, task Task) error { ran <- task.Queue; return nil })
		start(t, s)
		for range 6 {
			enqueue(t, clients[1], Task{Kind: "blocks"})
		}
		until(t, "the workers to be busy", func() bool { return blocked.Load() == 2 })
		for range 50 {
			enqueue(t, clients[0], Task{Kind: "k"})
			enqueue(t, clients[2], Task{Kind: "k", Delay: 10 * time.Millisecond})
		}
		count := make(map[string]int)
		for range 100 {
			count[receive(t, "a run", ran)]++
		}
		if count[o.Queues[0].Name] != 50 || count[o.Queues[2].Name] != 50 || blocked.Load() != 2 {
			t.Errorf("got %v, %d blocked", count, blocked.Load())
		}
		if got := stats(t, s.Client); s.Client.name != o.Queues[0].Name || got.Enqueued != 50 {
			t.Errorf("the server's own client: %+v", got)
		}
		close(release)
		until(t, "the rest", func() bool { return stats(t, clients[1]).Done == 6 })
	})
}

func TestServerRefusesWhatItCannotServe(t *testing.T) {
	rdb := redis.NewClient(&redis.Options{Addr: "127.0.0.1:1", MaxRetries: -1})
	defer func() { _ = rdb.Close() }()
	for _, o := range []Options{
		{}, {Client: rdb, Partitions: -1}, {Client: rdb, Prefix: "a:b"}, {Client: rdb, Queue: "{x}"},
		{Client: rdb, Queues: []QueueOptions{{Name: "a"}, {Name: "a"}}}, {Client: rdb, Queues: []QueueOptions{{Name: ""}}},
	} {
		if s, err := New(o); err == nil {
			t.Errorf("%+v was taken: %v", o, s)
		}
	}
}

// A worker whose connections are cut, while it waits and while its handlers run, recovers by itself: the run in
// progress counts, and later tasks run.
func TestCutConnections(t *testing.T) {
	server := redistest.Start(t)
	proxy := redistest.StartProxy(t, server.Addr, 0)
	direct := connect(t, server.Addr)
	o := severalOf(options(connect(t, proxy.Addr), 4), 2)
	s := newServer(t, o)
	mine := o
	mine.Client, mine.Queue = direct, o.Queues[1].Name
	c := newClient(t, mine)
	started, release := make(chan struct{}, 1), make(chan struct{})
	s.Handle("blocks", func(context.Context, Task) error { started <- struct{}{}; <-release; return nil })
	ran := make(chan string, 1)
	s.Handle("k", func(_ context.Context, task Task) error { ran <- task.ID; return nil })
	start(t, s)
	for round := range 3 {
		until(t, "the subscription", func() bool { return subscribed(t, s) })
		enqueue(t, c, Task{Kind: "blocks"})
		receive(t, "the handler to start", started)
		for _, kind := range []string{"normal", "pubsub"} {
			if n, err := direct.ClientKillByFilter(context.Background(), "TYPE", kind, "SKIPME", "yes").Result(); err != nil || n < 1 {
				t.Fatalf("killed %d of %s, %v", n, kind, err)
			}
		}
		want := enqueue(t, c, Task{Kind: "k"})
		if got := receive(t, "the task to run", ran); got != want {
			t.Errorf("ran %s, want %s", got, want)
		}
		release <- struct{}{}
		until(t, "both to be done", func() bool { return stats(t, c).Done == int64(2*round+2) })
	}
	if got := stats(t, c); got.Crashed != 0 || got.Failed != 0 {
		t.Errorf("got %+v", got)
	}
}

// A Redis that stops answering for a while, with its connections open, costs only that time.
func TestHangingRedis(t *testing.T) {
	server := redistest.Start(t)
	impatient := clientOptions(server.Addr)
	impatient.ReadTimeout = 100 * time.Millisecond
	o := options(connectWith(t, impatient), 1)
	o.Lease = time.Second
	noticed := make(chan struct{}, 1)
	o.Logger = slog.New(slog.NewTextHandler(writer(func(line []byte) {
		if strings.Contains(string(line), "retrying") {
			select {
			case noticed <- struct{}{}:
			default:
			}
		}
	}), nil))
	s := newServer(t, o)
	ran := make(chan string, 10)
	s.Handle("k", func(_ context.Context, task Task) error { ran <- task.ID; return nil })
	start(t, s)
	before := map[string]bool{} // one whose outcome the server did not take in time may run again
	for range 2 {
		server.Signal(syscall.SIGSTOP)
		receive(t, "the failure to be noticed", noticed)
		server.Signal(syscall.SIGCONT)
		until(t, "Redis to answer", func() bool { return o.Client.Ping(context.Background()).Err() == nil })
		id := enqueue(t, newClient(t, withClient(o, connect(t, server.Addr))), Task{Kind: "k"})
		for got := receive(t, "the task to run", ran); got != id; got = receive(t, "the task to run", ran) {
			if !before[got] {
				t.Errorf("ran %s, want %s", got, id)
			}
		}
		before[id] = true
	}
}

func withClient(o Options, rdb Redis) Options {
	o.Client = rdb
	return o
}

type writer func([]byte)

func (w writer) Write(b []byte) (int, error) {
	w(b)
	return len(b), nil
}

// TestEnqueueAndCancelStandInOneScript tests the contract with scripts of other packages: both functions in one step,
// and a leased task stays.
func TestEnqueueAndCancelStandInOneScript(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		ctx := context.Background()
		c := newClient(t, o)
		script := redis.NewScript(EnqueueLua + "\n" + CancelLua + `
local t = redis.call('TIME')
local now_ms = math.floor((tonumber(t[1]) * 1000000 + tonumber(t[2])) / 1000)
local gone = task_cancel(1, ARGV[1])
if gone == 1 then task_enqueue(1, ARGV[2], 'k', 'anew', 'low', 0, now_ms, 'u', {attempts_max = 4, deadline_ms = now_ms + 1000}) end
return gone`)
		swap := func(old, anew string) int64 {
			t.Helper()
			n, err := script.Run(ctx, o.Client, c.keys[0].Work(), old, anew).Int64()
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		for _, state := range states {
			id, _ := inState(t, c, state, Task{Unique: "u"})
			before, anew := stats(t, c), NewID(0)
			taken := state == Delayed || state == Ready
			if got := swap(id, anew); got == 1 != taken {
				t.Errorf("%s: got %d", state, got)
			}
			after := stats(t, c)
			if taken {
				if got := claimOne(t, c, 0, testTerms); got.ID != anew || got.AttemptsMax != 4 || got.Deadline.IsZero() || got.Unique != "u" {
					t.Errorf("%s: got %+v", state, got.Task)
				}
			} else if info := get(t, c, id); info.State != state || after.Deleted != before.Deleted {
				t.Errorf("%s: got %+v", state, info)
			}
		}
		if got := swap(NewID(0), NewID(0)); got != 0 {
			t.Errorf("nothing was cancelled: %d", got)
		}
		if _, err := c.Get(ctx, NewID(0)); !errors.Is(err, ErrNotFound) {
			t.Error(err)
		}
	})
}

// A partition that fails (here because its keys have other types) does not affect the others: their callers get their
// answers.
func TestOnePartitionFails(t *testing.T) {
	t.Parallel()
	for _, b := range backends {
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			ctx := context.Background()
			o := options(connectWith(t, b.start(t)), 4)
			c := newClient(t, o)
			set := newQueueSet(c)
			var held []*running
			for p := range o.Partitions {
				enqueue(t, c, Task{Kind: "k", ID: NewID(p)})
				held = append(held, end(claimOne(t, c, p, testTerms), complete, 0, ""))
			}
			poke(t, o.Client, c.keys[1].Of("leased"), "DEL")
			poke(t, o.Client, c.keys[1].Of("leased"), "SET", "x")
			poke(t, o.Client, c.keys[1].Of("tasks"), "DEL")
			poke(t, o.Client, c.keys[1].Of("tasks"), "SET", "x")

			renewed, err := set.renew(ctx, held, time.Hour)
			if err == nil || len(renewed.answered) != 3 || !slices.Equal(ids(renewed.failed), ids(held[1:2])) || len(renewed.stale) != 0 {
				t.Errorf("renew: %+v, %v", renewed, err)
			}
			settled, err := set.settle(ctx, held, testTerms.dead)
			if err == nil || len(settled.answered) != 3 || !slices.Equal(ids(settled.failed), ids(held[1:2])) || len(settled.stale) != 0 {
				t.Errorf("settle: %+v, %v", settled, err)
			}

			tasks := make([]Task, 4*enqueueMax*2)
			for i := range tasks {
				tasks[i] = Task{Kind: "k", ID: NewID(i % 4)}
			}
			outcomes := c.put(ctx, tasks)
			for i := range tasks {
				if bad := i%4 == 1; outcomes[i].ok == bad || (outcomes[i].err != nil) != bad {
					t.Fatalf("%s: enqueued %v, %v", tasks[i].ID, outcomes[i].ok, outcomes[i].err)
				}
			}
			if _, err := c.EnqueueAll(ctx, []Task{{Kind: "k", ID: NewID(0)}, {Kind: "k", ID: NewID(1)}}); err == nil {
				t.Error("no error")
			}
		})
	}
}

// No script call grows with the size of the payloads.
func TestLargePayloads(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		c := newClient(t, o)
		if _, _, err := c.Enqueue(context.Background(), Task{Kind: "k", Payload: make([]byte, payloadBytesMax+1)}); !errors.Is(err, ErrInvalid) {
			t.Errorf("too large: got %v", err)
		}
		tasks := make([]Task, 5)
		for i := range tasks {
			tasks[i] = Task{Kind: "k", ID: NewID(0), Payload: bytes.Repeat([]byte{byte(i), 0, '\r', '\n'}, payloadBytesMax/4)}
		}
		partitions := []int{0, 1, 2, 3, 4}
		if n := together(tasks, partitions); n != 1 {
			t.Errorf("%d of them at once", n)
		}
		if _, err := c.EnqueueAll(context.Background(), tasks); err != nil {
			t.Fatal(err)
		}
		got := step(t, c, 0, 5, 0, testTerms).runs
		for i := range tasks {
			if !bytes.Equal(got[i].Payload, tasks[i].Payload) {
				t.Errorf("the payload of %s is another", got[i].ID)
			}
		}
	})
}
