package queue

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"pgregory.net/rapid"

	"github.com/chatd/chatd/internal/redistest"
)

// queueModel is what the model test knows of a queue: which tasks must exist, and which leases were granted. It asks Redis
// for the state of each task, and then checks that everything fits.
type queueModel struct {
	t      *rapid.T
	c      *Client
	set    queueSet
	there  map[string]bool       // enqueued, and neither done nor cancelled nor dropped
	holds  map[string]bool       // keeps its unique key until it ends
	taken  map[string]usedKey    // "<partition> <unique key>" that is taken for an hour
	gone   map[string]bool       // done or cancelled: they must never show up again
	leases []*running            // every lease ever granted
	newest map[string]*running   // the last lease of a task
	void   map[*running]struct{} // leases that were reaped, or whose runs have ended
	paused bool
	batch  batchModel
	limits map[string]*Limit // of each task that has one
	// Of the rates: runs that were let begin, by partition and key, and tasks whose last one did not begin.
	keeps    map[string]int64 // has left a result behind -> until when it is there, ms; 0: it may be gone
	held     []*running       // slots that Hold takes, all that ever were
	fences   map[int]int64    // by partition: the highest one
	begun    map[string]int
	returned map[string]bool
	hurried  map[string]bool // may begin before it is due
	acts     []string
	clock    *movableClock
	periodic periodicModel
}

// TestNothingIsLostWhateverIsDone takes random steps with everything that moves tasks, and checks after each that every
// task is in exactly one place, that only the newest lease counts, and that completed or cancelled tasks
// never come back.
func TestNothingIsLostWhateverIsDone(t *testing.T) { each(t, randomSteps) }

// TestNothingIsLostOnACluster is TestNothingIsLostWhateverIsDone on three masters.
func TestNothingIsLostOnACluster(t *testing.T) {
	t.Parallel()
	cluster := redistest.StartCluster(t, 3, 0)
	rdb := redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{cluster.Nodes[0].Addr}, MaxRedirects: -1, DisableIdentity: true})
	t.Cleanup(func() { _ = rdb.Close() })
	randomSteps(t, options(rdb, 6))
}

func randomSteps(t *testing.T, o Options) {
	round, clock := 0, newMovableClock(t, o.Client)
	rapid.Check(t, func(rt *rapid.T) {
		round++
		mine := o
		mine.Queue = fmt.Sprint(o.Queue, "-", round)
		c := newClient(t, mine)
		w := &queueModel{
			t: rt, c: c, set: newQueueSet(c), there: map[string]bool{}, limits: map[string]*Limit{}, gone: map[string]bool{}, holds: map[string]bool{}, taken: map[string]usedKey{},
			newest: map[string]*running{}, void: map[*running]struct{}{}, keeps: map[string]int64{}, begun: map[string]int{}, fences: map[int]int64{}, returned: map[string]bool{}, hurried: map[string]bool{},
			batch: batchModel{carriers: map[string]string{}, begun: map[string][]string{}}, clock: clock,
			periodic: periodicModel{server: newServer(t, mine), all: map[string]*modelPeriodic{}}, acts: allActs,
		}
		if rapid.IntRange(0, 2).Draw(rt, "periodic tasks") == 0 {
			w.acts = periodicActs
		}
		for range rapid.IntRange(1, 30).Draw(rt, "steps") {
			w.act()
			w.check()
		}
	})
}

// The acts of a run: all of them, or those that have to come one after the other, many times, around periodic tasks.
var (
	allActs = []string{"enqueue", "enqueue", "step", "step", "settle", "settle", "reap", "renew", "cancel", "retry", "pause", "progress",
		"batched", "batched", "take", "promote", "bulk", "limited", "limited", "rated", "hold", "hold", "clock", "clock", "periodic", "periodic", "fire"}
	periodicActs = []string{"step", "settle", "reap", "pause", "promote", "bulk", "clock", "clock", "clock", "periodic", "fire", "fire"}
)

func (w *queueModel) act() {
	ctx := context.Background()
	fatal := func(err error) {
		if err != nil {
			w.t.Fatal(err)
		}
	}
	switch rapid.SampledFrom(w.acts).Draw(w.t, "what") {
	case "clock":
		w.moveClock()
	case "periodic":
		w.actPeriodic()
	case "fire":
		w.firePeriodic()
	case "hold":
		w.hold()
	case "rated":
		w.enqueueRated()
	case "limited":
		w.enqueueLimited()
	case "batched":
		w.enqueueBatched()
	case "take":
		w.take()
	case "promote":
		w.promote()
	case "bulk":
		w.bulk()
	case "enqueue":
		tasks := make([]Task, rapid.IntRange(1, 5).Draw(w.t, "tasks"))
		for i := range tasks {
			tasks[i] = Task{ID: NewID(i % w.c.partitions), Kind: "k", Priority: priorities[rapid.IntRange(0, 3).Draw(w.t, "priority")]}
			tasks[i].Delay = rapid.SampledFrom([]time.Duration{0, 0, time.Hour}).Draw(w.t, "delay")
			tasks[i].Keep = rapid.SampledFrom([]time.Duration{0, 0, time.Hour}).Draw(w.t, "keep")
			if rapid.IntRange(0, 3).Draw(w.t, "then") == 0 {
				tasks[i].Then = []Task{{Kind: "k", Keep: tasks[i].Keep, Then: []Task{{Kind: "k"}}}, {Kind: "k", Delay: time.Hour}}
			}
			if rapid.Bool().Draw(w.t, "unique") {
				tasks[i].Unique = rapid.SampledFrom([]string{"a", "b"}).Draw(w.t, "key")
				tasks[i].UniqueFor = rapid.SampledFrom([]time.Duration{0, 0, 0, time.Millisecond, time.Hour}).Draw(w.t, "for")
				tasks[i].UniqueUntilEnd = tasks[i].UniqueFor == 0 && rapid.Bool().Draw(w.t, "until the end")
			}
		}
		ok, err := w.c.EnqueueAll(ctx, tasks)
		fatal(err)
		for i, put := range ok {
			if put {
				w.holds[tasks[i].ID] = tasks[i].UniqueUntilEnd
				w.there[tasks[i].ID] = true
				w.takeKey(&tasks[i])
			}
		}
	case "step":
		w.step(rapid.IntRange(0, 6).Draw(w.t, "claim"), modelTerms)
	case "reap":
		// Every lease expires and is reaped.
		before, passed := w.stats(), int64(0)
		for p, k := range w.c.keys {
			members, err := w.c.rdb.ZRange(ctx, k.Of("leased"), 0, -1).Result()
			fatal(err)
			for _, m := range members {
				fatal(w.c.rdb.Eval(ctx, "return redis.call('ZADD', KEYS[1], 1, ARGV[1])", []string{k.Of("leased")}, m).Err())
			}
			w.lapse(p)
			stepAll(w.t, w.set, stepDemand{partition: p, overdue: overdueMax, claims: []claimDemand{{}}}, modelTerms)
			passed += w.reapHeld(p, members)
		}
		if after := w.stats(); after.Crashed != before.Crashed+before.Leased || after.Leased != passed {
			w.t.Errorf("reaped: before %+v, after %+v", before, after)
		}
		for _, r := range w.leases {
			w.void[r] = struct{}{}
		}
	case "settle":
		w.settle()
	case "renew":
		if len(w.leases) == 0 {
			return
		}
		got, err := w.set.renew(ctx, w.leases, time.Hour)
		fatal(err)
		for _, r := range w.leases {
			if _, void := w.void[r]; void != slices.Contains(got.stale, r) {
				w.t.Errorf("%s: lost %v, want %v", r.ID, !void, void)
			}
		}
	case "cancel":
		id := w.any()
		if id == "" {
			return
		}
		_, err := w.c.Cancel(ctx, id)
		if errors.Is(err, ErrNotFound) == w.there[id] {
			w.t.Errorf("cancel %s: %v, there %v", id, err, w.there[id])
		}
		w.over(id)
	case "retry":
		id := w.any()
		if id == "" {
			return
		}
		if err := w.c.Retry(ctx, id); errors.Is(err, ErrNotFound) == w.there[id] {
			w.t.Errorf("retry %s: %v, there %v", id, err, w.there[id])
		}
		w.hurried[id] = true
	case "pause":
		if w.paused = !w.paused; w.paused {
			fatal(w.c.Pause(ctx))
		} else {
			fatal(w.c.Resume(ctx))
		}
	case "progress":
		if len(w.leases) == 0 {
			return
		}
		r := rapid.SampledFrom(w.leases).Draw(w.t, "lease")
		r.ctx.parent, r.ctx.run = ctx, r
		err := SetProgress(&r.ctx, 1, 2)
		if _, void := w.void[r]; void != errors.Is(err, ErrLeaseLost) || (!void && err != nil) {
			w.t.Errorf("progress of %s: %v, void %v", r.ID, err, void)
		}
	}
}

// any returns a task that was once enqueued, often one that carries a batch.
func (w *queueModel) any() string {
	if all := w.carriers(); len(all) > 0 && rapid.Bool().Draw(w.t, "carrier") {
		return rapid.SampledFrom(all).Draw(w.t, "task")
	}
	ids := make([]string, 0, len(w.there)+len(w.gone))
	for id := range w.there {
		if !w.firesPeriodic(id) {
			ids = append(ids, id)
		}
	}
	for id := range w.gone {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	if len(ids) == 0 {
		return ""
	}
	return rapid.SampledFrom(ids).Draw(w.t, "task")
}

// over notes that a task is done or cancelled.
func (w *queueModel) over(id string) {
	if w.there[id] {
		delete(w.there, id)
		w.gone[id] = true
		w.overBatch(id)
	}
	if r := w.newest[id]; r != nil {
		w.void[r] = struct{}{}
	}
}

func (w *queueModel) step(claim int, with terms) {
	for p := range w.c.partitions {
		w.lapse(p)
		got := stepAll(w.t, w.set, stepDemand{partition: p, overdue: overdueMax, claims: []claimDemand{{claim, turns(0, claim)}}}, with)
		runs := got.queues[0].runs
		if w.paused && len(runs) > 0 {
			w.t.Errorf("claimed %v while paused", ids(runs))
		}
		for _, r := range runs {
			if !w.there[r.ID] {
				w.t.Errorf("claimed %s, which is gone", r.ID)
			}
			if old := w.newest[r.ID]; old != nil {
				if _, void := w.void[old]; !void {
					w.t.Errorf("%s is leased twice", r.ID)
				}
			}
			w.leases, w.newest[r.ID] = append(w.leases, r), r
			w.noteRate(r)
			if _, latestMs := w.clock.now(w.t, w.c.keys[p]); r.Due.UnixMilli() > latestMs && !w.hurried[r.ID] && r.Batch == nil {
				w.t.Errorf("%s is due at %v and was claimed %d ms before", r.ID, r.Due, r.Due.UnixMilli()-latestMs)
			}
		}
	}
}

// settle ends some runs, among them some that have lost their leases.
func (w *queueModel) settle() {
	if len(w.leases) == 0 {
		return
	}
	var some, want []*running
	for range rapid.IntRange(1, 6).Draw(w.t, "runs") {
		r := rapid.SampledFrom(w.leases).Draw(w.t, "lease")
		v := rapid.SampledFrom([]verdict{complete, complete, retry, bury, expire, snooze, giveBack}).Draw(w.t, "verdict")
		delay := rapid.SampledFrom([]time.Duration{0, time.Hour}).Draw(w.t, "delay")
		if slices.ContainsFunc(some, func(one *running) bool { return one.ID == r.ID && one.token == r.token }) {
			continue // a run has one outcome
		}
		if w.firesPeriodic(r.ID) && v == complete {
			v = giveBack // it is never just complete, see firePeriodic
		}
		if _, void := w.void[r]; void {
			want = append(want, r)
		}
		if _, void := w.void[r]; v == giveBack && r.Rate != nil && !void {
			w.returned[r.ID] = true
		}
		some = append(some, end(r, v, delay, "reason"))
		w.void[r] = struct{}{}
		if v == complete && !slices.Contains(want, r) {
			if r.Keep > 0 {
				nowMs, _ := w.clock.now(w.t, w.c.keys[r.partition])
				w.keeps[r.ID] = nowMs + r.Keep.Milliseconds()
			}
			for _, next := range r.Then {
				w.there[next.ID] = true
			}
			w.over(r.ID)
		}
	}
	answer, err := w.set.settle(context.Background(), some, testTerms.dead)
	if err != nil {
		w.t.Fatal(err)
	}
	stale := answer.stale
	if got, want := slices.Sorted(slices.Values(ids(stale))), slices.Sorted(slices.Values(ids(want))); !slices.Equal(got, want) {
		w.t.Errorf("stale %v, want %v", got, want)
	}
}

func (w *queueModel) stats() Stats {
	s, err := w.c.Stats(context.Background())
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

// check looks at every key: each task that must exist is in exactly one place, there are no others, and the totals add
// up.
func (w *queueModel) check() {
	ctx := context.Background()
	partitions := map[string]int{}
	for _, k := range w.c.keys {
		var all []string
		for _, p := range priorities {
			listed, err := w.c.rdb.LRange(ctx, k.Of("ready:"+p.String()), 0, -1).Result()
			if err != nil {
				w.t.Fatal(err)
			}
			all = append(all, listed...)
		}
		var dead []string
		for _, key := range []string{k.Of("parked"), k.Of("delayed"), k.Of("leased"), k.Of("dead")} {
			listed, err := w.c.rdb.ZRange(ctx, key, 0, -1).Result()
			if err != nil {
				w.t.Fatal(err)
			}
			all, dead = append(all, listed...), listed
		}
		waits := map[string]bool{}
		for _, member := range all {
			id, _, _ := strings.Cut(member, " ")
			partitions[id]++
			waits[id] = id == member
		}
		specs, err := w.c.rdb.HKeys(ctx, k.Of("tasks")).Result()
		if err != nil {
			w.t.Fatal(err)
		}
		records, err := w.c.rdb.HKeys(ctx, k.Of("runs")).Result()
		if err != nil {
			w.t.Fatal(err)
		}
		holders := w.holders(k)
		for _, id := range holders {
			if !waits[id] && !w.holds[id] || slices.Contains(dead, id) {
				w.t.Errorf("%s has a unique key and does not wait", id)
			}
		}
		for _, id := range slices.Concat(specs, records, holders) {
			if !w.there[id] {
				w.t.Errorf("%s is gone and something of it is left", id)
			}
		}
	}
	for id := range w.there {
		if partitions[id] != 1 {
			w.t.Errorf("%s is in %d places", id, partitions[id])
		}
	}
	if len(partitions) != len(w.there) {
		w.t.Errorf("%d tasks are somewhere, want %d", len(partitions), len(w.there))
	}
	w.checkBatches()
	w.checkLimits()
	w.checkRates()
	w.checkResults()
	w.checkPeriodic()
	s := w.stats()
	if got := s.ReadyAll() + s.Delayed + s.Parked + s.Leased + s.Dead + s.Done + s.Dropped + s.Deleted; got != s.Enqueued {
		w.t.Errorf("%d tasks add up, %d were enqueued: %+v", got, s.Enqueued, s)
	}
	if got := deadBytes(w.t, w.c); got != s.DeadBytes {
		w.t.Errorf("%d bytes of dead letters add up, %d are counted", got, s.DeadBytes)
	}
	if want := len(w.gone) + w.periodic.ended; int(s.Done+s.Deleted) != want {
		w.t.Errorf("%d done, %d cancelled, want %d", s.Done, s.Deleted, want)
	}
}
