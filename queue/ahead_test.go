package queue

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chatd/chatd/queue/batch"
)

func TestWorkersClaimAheadOnlyWhileQuick(t *testing.T) {
	now := time.Now()
	h := newPool(nil, QueueOptions{Workers: 10}, make(chan struct{}, 1))
	if got := h.room(); got != 10 {
		t.Errorf("at first: room for %d, want 10", got)
	}
	pass := func(d time.Duration, done int64) {
		now = now.Add(d)
		h.done.Add(done)
		h.measure(now)
	}
	h.measure(now)
	for range 20 {
		pass(10*time.Millisecond, 200) // 20,000 per second
	}
	if got := h.room(); got < 28 || got > 30 {
		t.Errorf("20,000 a second: room for %d, want about 30", got)
	}
	for range 20 {
		pass(10*time.Millisecond, 100_000)
	}
	if got := h.room(); got != 10+aheadMax {
		t.Errorf("beyond the bound: room for %d", got)
	}
	for range 20 {
		pass(time.Second, 10)
	}
	if got := h.room(); got != 10 {
		t.Errorf("slow ones: room for %d, want 10", got)
	}
	h.taken.Store(12)
	if got := h.room(); got != 0 {
		t.Errorf("with more than its workers take: room for %d", got)
	}
}

func TestWorkersGiveBackWhatWaits(t *testing.T) {
	now := time.Now()
	h := newPool(nil, QueueOptions{Workers: 1}, make(chan struct{}, 1))
	worker := func(n int) {
		for range n {
			h.handed++
			h.runs <- &running{}
		}
	}
	look := func(want int) {
		t.Helper()
		now = now.Add(aheadPatience)
		if got := len(h.overdue(now)); got != want {
			t.Errorf("%d given back, want %d", got, want)
		}
	}
	look(0)
	worker(5)
	look(0) // the waiting tasks are now seen for the first time
	<-h.runs
	look(4)
	worker(3)
	look(0)
	for range 3 {
		<-h.runs
	}
	worker(2)
	look(0) // all that were seen have begun
	look(2)
	look(0)
}

// When quick handlers become slow, the tasks claimed ahead are given back to others, in order.
func TestWhatWaitsTooLongGoesBack(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		o.Workers = 2
		s := newServer(t, o)
		for _, h := range s.pools {
			h.rate, h.rateAt = 1e6, time.Now().Add(time.Hour) // as if the handlers were quick, and stayed so
		}
		release := make(chan struct{})
		var mu sync.Mutex
		var order []string
		s.Handle("k", func(ctx context.Context, task Task) error {
			mu.Lock()
			order = append(order, task.ID)
			mu.Unlock()
			select {
			case <-release:
			case <-ctx.Done():
			}
			return nil
		})
		tasks := make([]Task, 600) // more than one call settles
		for i := range tasks {
			tasks[i] = Task{Kind: "k", ID: NewID(0)}
		}
		if _, err := s.EnqueueAll(context.Background(), tasks); err != nil {
			t.Fatal(err)
		}
		start(t, s)
		until(t, "the tasks to be given back", func() bool {
			got := stats(t, s.Client)
			return got.ReadyAll() == 598 && got.Leased == 2
		})
		listed, _, err := s.List(context.Background(), ListQuery{State: Ready, Limit: listMax})
		if err != nil {
			t.Fatal(err)
		}
		at := -1
		for _, info := range listed {
			next := slices.IndexFunc(tasks, func(task Task) bool { return task.ID == info.ID })
			if next <= at {
				t.Errorf("%s stands behind %s", tasks[next].ID, tasks[at].ID)
			}
			at = next
		}
		close(release)
		until(t, "all to be done", func() bool { return stats(t, s.Client).Done == 600 })
		if got := stats(t, s.Client); got.Failed != 0 || got.Crashed != 0 || len(order) != 600 {
			t.Errorf("%d runs, %+v", len(order), got)
		}
	})
}

// A task that is given back has not used up the turn of its priority.
func TestWhatGoesBackKeepsItsTurn(t *testing.T) {
	o := options(connectWith(t, startEmbedded(t)), 1)
	o.Workers = 9
	s := newServer(t, o)
	var tasks []Task
	for _, p := range priorities {
		tasks = append(tasks, slices.Repeat([]Task{{Kind: "k", Priority: p}}, 20)...)
	}
	if _, err := s.EnqueueAll(t.Context(), tasks); err != nil {
		t.Fatal(err)
	}
	c, h := newClaimer(s), s.pools[0]
	claim := func() (got []Priority) {
		c.exec(t.Context())
		for _, r := range h.takeBack() {
			got = append(got, r.Priority)
			h.runs <- r
		}
		return got
	}
	first := claim()
	h.checked, h.checkedAt = h.handed, time.Now().Add(-aheadPatience) // no worker has come for them
	second := claim()
	if len(s.ended) != o.Workers || len(first) != o.Workers || !slices.Equal(first, second) || c.shards[0].turn[0] != o.Workers {
		t.Errorf("%d went back; claimed %v, then %v; the next turn is %d", len(s.ended), first, second, c.shards[0].turn[0])
	}
}

// A task that was claimed ahead and is cancelled before a worker is free never runs.
func TestCancelledWhileItWaitsForAWorker(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		o.Workers = 1
		s := newServer(t, o)
		release := make(chan struct{})
		ran := make(chan string, 10)
		s.Handle("k", func(_ context.Context, task Task) error { ran <- task.ID; <-release; return nil })
		start(t, s)
		until(t, "the subscription", func() bool { return subscribed(t, s) })
		first := enqueue(t, s.Client, Task{Kind: "k", ID: NewID(0)})
		if got := receive(t, "the first", ran); got != first {
			t.Fatalf("ran %s", got)
		}
		// A second task is given to the worker as the claim loop would do it.
		enqueue(t, s.Client, Task{Kind: "k", ID: NewID(0)})
		var r *running
		until(t, "a claim", func() bool {
			got := stepAll(t, s.set, stepDemand{claims: []claimDemand{{1, "1"}}}, s.terms).queues[0].runs
			if len(got) == 1 {
				r = got[0]
			}
			return r != nil
		})
		r.ctx.parent, r.ctx.run = context.Background(), r
		s.pools[0].taken.Add(1)
		s.held.add([]*running{r})
		if state, err := s.Cancel(context.Background(), r.ID); state != Leased || err != nil {
			t.Fatalf("Cancel = %q, %v", state, err)
		}
		until(t, "the cancellation to be heard", r.ended.Load)
		s.pools[0].runs <- r
		third := enqueue(t, s.Client, Task{Kind: "k", ID: NewID(0)})
		close(release)
		if got := receive(t, "the third", ran); got != third {
			t.Errorf("ran %s, want %s", got, third)
		}
		until(t, "both to be done", func() bool { return stats(t, s.Client).Done == 2 })
	})
}

func TestArrangeFollowsTheTurns(t *testing.T) {
	make4 := func(text string) (runs []*running) {
		for i := range text {
			p := priorities[text[i]-'1']
			runs = append(runs, &running{Task: Task{ID: fmt.Sprint(i), Priority: p}})
		}
		return runs
	}
	for _, test := range []struct{ claimed, order, want string }{
		{"", "", ""}, {"1", "1", "1"}, {"222", "112", "222"}, {"1124", "1214", "1214"}, {"1124", "4211", "4211"},
		{"1224", "1112", "1224"}, {"112", "2114", "211"},
	} {
		runs := make4(test.claimed)
		arrange(runs, test.order)
		var got strings.Builder
		last := make(map[Priority]string)
		for _, r := range runs {
			got.WriteByte("1234"[slices.Index(priorities[:], r.Priority)])
			if r.ID < last[r.Priority] {
				t.Errorf("%+v: %s before %s", test, last[r.Priority], r.ID)
			}
			last[r.Priority] = r.ID
		}
		if got.String() != test.want {
			t.Errorf("%+v: got %s", test, got.String())
		}
	}
}

// TestEnqueueTogether: many concurrent callers; each gets its own answer.
func TestEnqueueTogether(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		c := newClient(t, o)
		const callers, each = 64, 20
		var all sync.Map
		var refused atomic.Int64
		var group sync.WaitGroup
		for i := range callers {
			group.Go(func() {
				for j := range each {
					task := Task{Kind: "k", Payload: fmt.Append(nil, i, " ", j)}
					if j%4 == 0 {
						task.Unique = fmt.Sprint("key ", j) // all callers use the same key
					}
					id, ok, err := c.Enqueue(context.Background(), task)
					if err != nil {
						t.Error(err)
					}
					if !ok {
						refused.Add(1)
						continue
					}
					if _, twice := all.LoadOrStore(id, string(task.Payload)); twice {
						t.Errorf("%s twice", id)
					}
				}
			})
		}
		group.Wait()
		want := int64(callers*each*3/4 + each/4)
		if got := stats(t, c); got.Enqueued != want || refused.Load() != callers*each-want {
			t.Errorf("%d enqueued, %d refused, want %d", got.Enqueued, refused.Load(), want)
		}
		all.Range(func(id, payload any) bool {
			if got := get(t, c, id.(string)); string(got.Payload) != payload {
				t.Errorf("%s: got %q, want %q", id, got.Payload, payload)
			}
			return true
		})
		if left := c.together.Load(); left != (batch.Load{}) {
			t.Errorf("left behind: %+v", left)
		}
	})
}
