package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"
	"time"

	"github.com/chatd/chatd/internal/harness"
	"github.com/chatd/chatd/queue"
)

const (
	tasksAll      = 5000
	taskWorkers   = 8 // of each of three workers
	tasksLease    = 3 * time.Second
	killEvery     = 2 * time.Second
	overdueWithin = time.Second // a worker looks for ended leases at least that often
)

// taskRun is a queue with three workers that are killed and stopped, and what is known of it in the end.
type taskRun struct {
	t        *testing.T
	rand     *rand.Rand
	client   *queue.Client
	receiver *receiver
	spec     workerSpec
	workers  []*worker
	started  int

	kills   int
	busy    int  // kills with a task in flight: in the end, what is left may wait for leases to end
	exposed int  // tasks in flight at a fault
	resumed bool // the stopped worker went on
	samples int
	overdue time.Duration // the longest that a lease was seen after its end
}

// start puts a new worker at a place.
func (r *taskRun) start(position int) {
	r.t.Helper()
	spec := r.spec
	spec.Name = fmt.Sprintf("w%d", r.started)
	r.started++
	r.workers[position] = startWorker(r.t, spec)
}

// leased lists the tasks that are leased now.
func (r *taskRun) leased(ctx context.Context) []queue.Info {
	infos, next, err := r.client.List(ctx, queue.ListQuery{State: queue.Leased, Limit: 1000})
	if err != nil || next != "" {
		r.t.Errorf("list of the leased tasks: next %q, %v", next, err)
	}
	return infos
}

// expose lists the tasks that a worker, which can do nothing any more, has begun and holds.
func (r *taskRun) expose(ctx context.Context, w *worker) (held []string) {
	r.t.Helper()
	leased := r.leased(ctx)
	r.receiver.mu.Lock()
	defer r.receiver.mu.Unlock()
	for _, info := range leased {
		if r.receiver.holder[info.ID] == w.name {
			held = append(held, info.ID)
		}
	}
	r.exposed += len(held)
	return held
}

// disturb kills a worker every two seconds and replaces it, and stops one past its lease once, until all is done. It spares
// a worker that has begun nothing yet: on a busy machine a start may take longer than three kills, and where all workers
// die before they look at the queue, nobody takes back a lease that has ended.
func (r *taskRun) disturb(ctx context.Context, done <-chan struct{}) {
	r.t.Helper()
	tick := time.NewTicker(killEvery)
	defer tick.Stop()
	stopped, held := -1, []string(nil)
	var resume <-chan time.Time
	for round := 1; ; {
		select {
		case <-done:
			if stopped >= 0 { // the run failed early
				r.workers[stopped].signal(syscall.SIGCONT)
			}
			return
		case <-resume:
			r.resume(ctx, r.workers[stopped], held)
			stopped, resume = -1, nil
		case <-tick.C:
			position := round % len(r.workers)
			round++
			w := r.workers[position]
			switch {
			case position == stopped || !r.receiver.hasBegun(w.name):
			case !r.resumed && stopped < 0 && round >= 3:
				w.signal(syscall.SIGSTOP)
				held = r.expose(ctx, w)
				stopped, resume = position, time.After(tasksLease*3/2)
				r.t.Logf("stopped %s with %d tasks in flight", w.name, len(held))
			default:
				w.kill()
				r.kills++
				if len(r.expose(ctx, w)) > 0 {
					r.busy++
				}
				r.start(position)
			}
		}
	}
}

// resume lets a worker go on once all its leases have ended and were taken from it.
func (r *taskRun) resume(ctx context.Context, w *worker, held []string) {
	r.t.Helper()
	harness.Eventually(r.t, 2*overdueWithin, "the leases of a stopped worker end", func() error {
		left := 0
		for _, id := range held {
			info, err := r.client.Get(ctx, id)
			switch {
			case err == nil && info.Crashes == 0:
				left++
			case err != nil && !errors.Is(err, queue.ErrNotFound):
				return fmt.Errorf("task %s: %w", id, err)
			}
		}
		if left > 0 {
			return fmt.Errorf("%d of %d have not", left, len(held))
		}
		return nil
	})
	r.receiver.mu.Lock()
	again := 0
	for _, id := range held {
		if r.receiver.holder[id] != w.name {
			again++
		}
	}
	r.receiver.mu.Unlock()
	w.signal(syscall.SIGCONT)
	r.resumed = len(held) > 0
	r.t.Logf("%s goes on; others have begun %d of its %d tasks", w.name, again, len(held))
}

// sample looks at the queue ten times a second until all is done: every task is in exactly one place, and no lease that
// has ended stays longer than until the next look at overdue ones.
func (r *taskRun) sample(ctx context.Context, rdb queue.Redis) error {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for ; ; r.samples++ {
		s, err := r.client.Stats(ctx)
		if err != nil {
			return fmt.Errorf("stats: %w", err)
		}
		if sum := s.ReadyAll() + s.Delayed + s.Leased + s.Done + s.Dead; s.Enqueued != sum {
			return fmt.Errorf("%d tasks were enqueued, %d are there or done: %+v", s.Enqueued, sum, s)
		}
		if s.Done == tasksAll {
			return nil
		}
		now, err := rdb.Time(ctx).Result()
		if err != nil {
			return fmt.Errorf("time: %w", err)
		}
		for _, info := range r.leased(ctx) {
			r.overdue = max(r.overdue, now.Sub(info.LeaseEnds))
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("not all is done in time: %+v", s)
		case <-tick.C:
		}
	}
}

// fill enqueues all tasks: three fifths ready at once, the rest in the course of ten seconds, of every priority, some of
// them failing at first. It returns which task has which number.
func (r *taskRun) fill(ctx context.Context) map[string]int {
	r.t.Helper()
	tasks := make([]queue.Task, tasksAll)
	for i := range tasks {
		e := effect{N: i, Takes: time.Duration(20+r.rand.IntN(120)) * time.Millisecond, Fails: i%50 == 0}
		t := queue.Task{Kind: effectKind, Payload: must(json.Marshal(e))(r.t), Priority: queue.Priority(i % 4)}
		if i%5 >= 3 {
			t.Delay = time.Duration(r.rand.IntN(10_000)) * time.Millisecond
		}
		tasks[i] = t
	}
	enqueued := must(r.client.EnqueueAll(ctx, tasks))(r.t)
	numbers := make(map[string]int, len(tasks))
	for i, t := range tasks {
		if !enqueued[i] {
			r.t.Fatalf("task %d was not put in", i)
		}
		numbers[t.ID] = i
	}
	return numbers
}

// TestTasksWhileWorkersDie has three worker processes do 5,000 tasks while one is killed every two seconds and one is
// stopped past its lease: each task has its effect, and has it again only where a lease of it ended. The engine says how
// often that was: a worker that the machine starves loses leases too, and the one that is stopped also holds tasks that it
// has not begun.
func TestTasksWhileWorkersDie(t *testing.T) {
	ctx := bounded(t, 2*time.Minute)
	on := deploy(t)
	o := must(taskOptions(on.url, 4))(t)
	t.Cleanup(func() { _ = o.Client.Close() })
	r := &taskRun{
		t: t, rand: random(t), client: must(queue.NewClient(o))(t), receiver: newReceiver(t),
		workers: make([]*worker, 3),
	}
	r.spec = workerSpec{Redis: on.url, Receiver: r.receiver.url, Partitions: 4, Workers: taskWorkers, Lease: tasksLease}
	for position := range r.workers {
		r.start(position)
	}
	numbers := r.fill(ctx)
	began := time.Now()
	done := make(chan struct{})
	var sampled error
	go func() {
		defer close(done)
		sampled = r.sample(ctx, o.Client)
	}()
	r.disturb(ctx, done)
	took := time.Since(began)
	if sampled != nil {
		t.Error(sampled)
	}
	for _, w := range r.workers {
		w.terminate()
	}
	end := must(r.client.Stats(ctx))(t) // what the drains still had to say changes nothing
	r.check(numbers, end)
	tasks, repeats := r.receiver.counts()
	t.Logf("%d effects and %d repeats in %v; %d kills, %d in flight at faults; %d leases ended, %d runs failed; %d samples, leases over by %v at most",
		tasks, repeats, took.Round(time.Millisecond), r.kills, r.exposed, end.Crashed, end.Failed, r.samples, r.overdue)
}

// check holds what the receiver got against what was enqueued, and sees that the run showed something.
func (r *taskRun) check(numbers map[string]int, end queue.Stats) {
	r.t.Helper()
	if end.Enqueued != tasksAll || end.Done != tasksAll || end.ReadyAll()+end.Delayed+end.Leased+end.Dead+end.Dropped+end.Deleted > 0 {
		r.t.Errorf("got %+v in the end, want %d enqueued, %d done and nothing left", end, tasksAll, tasksAll)
	}
	for id, n := range r.receiver.effects {
		if _, ours := numbers[id]; !ours {
			r.t.Errorf("an effect of %s, which nobody enqueued", id)
		}
		if n-1 > r.receiver.ended[id] {
			r.t.Errorf("task %s had its effect %d times, and %d of its leases ended", id, n, r.receiver.ended[id])
		}
	}
	// The last run of each task begins with the count of all its leases that ended.
	ended := int64(0)
	for _, n := range r.receiver.ended {
		ended += int64(n)
	}
	if ended != end.Crashed {
		r.t.Errorf("the tasks were run as if %d leases had ended, the queue counts %d", ended, end.Crashed)
	}
	if got := len(r.receiver.effects); got != tasksAll {
		r.t.Errorf("%d tasks had their effect, want %d", got, tasksAll)
	}
	if limit := harness.Slack * overdueWithin; r.overdue > limit {
		r.t.Errorf("a lease was over for %v, want its task taken back within %v", r.overdue, limit)
	}
	if r.busy < 5 || !r.resumed || r.samples < 50 || end.Crashed == 0 || end.Failed == 0 {
		r.t.Errorf("%d kills, %d of them with tasks in flight, stopped and resumed: %v, %d samples, %+v: the run shows too little",
			r.kills, r.busy, r.resumed, r.samples, end)
	}
}
