package queue

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"pgregory.net/rapid"
)

// enqueueLimited enqueues tasks with limits: few keys, of which each task may want another number to run.
func (w *queueModel) enqueueLimited() {
	tasks := make([]Task, rapid.IntRange(1, 6).Draw(w.t, "tasks"))
	for i := range tasks {
		tasks[i] = Task{ID: NewID(i % w.c.partitions), Kind: "k", Priority: priorities[rapid.IntRange(1, 2).Draw(w.t, "priority")]}
		tasks[i].Delay = rapid.SampledFrom([]time.Duration{0, 0, 0, time.Hour}).Draw(w.t, "delay")
		tasks[i].Limit = &Limit{
			Key: rapid.SampledFrom([]string{"a", "a b"}).Draw(w.t, "key"), Max: rapid.IntRange(1, 3).Draw(w.t, "max"),
			Busy: rapid.SampledFrom([]Busy{Wait, Wait, Wait, Fail, SnoozeFor(time.Hour)}).Draw(w.t, "busy"),
			Hold: rapid.Bool().Draw(w.t, "hold"),
		}
	}
	ok, err := w.c.EnqueueAll(context.Background(), tasks)
	if err != nil && !errors.Is(err, ErrBusy) {
		w.t.Fatal(err)
	}
	for i, put := range ok {
		if put {
			w.limits[tasks[i].ID] = tasks[i].Limit
			w.there[tasks[i].ID] = true
		} else if tasks[i].Limit.Busy != Fail {
			w.t.Errorf("%s was refused: %+v", tasks[i].ID, tasks[i].Limit)
		}
	}
}

// checkLimits compares the slots with the places of the tasks: who runs has one, nobody who ended has, no more have them
// than one of these allows, and nobody is parked who could run.
func (w *queueModel) checkLimits() {
	ctx := context.Background()
	for _, k := range w.c.keys {
		taken, err := slotsOf(w.c, k)
		if err != nil {
			w.t.Fatal(err)
		}
		members, err := w.c.rdb.ZRange(ctx, k.Of("lines"), 0, -1).Result()
		if err != nil {
			w.t.Fatal(err)
		}
		waiting, err := w.c.rdb.ZRangeWithScores(ctx, k.Of("parked"), 0, -1).Result()
		if err != nil {
			w.t.Fatal(err)
		}
		since := map[string]redis.Z{}
		for _, z := range waiting {
			since[z.Member.(string)] = z
		}
		holders, parked := map[string][]string{}, map[string][]string{}
		for key, value := range taken {
			ids, marked := strings.CutPrefix(value, "+ ")
			holders[key] = strings.Split(ids, " ")
			waits := slices.ContainsFunc(members, func(m string) bool { return strings.HasPrefix(m, key+"\n") })
			if marked != waits {
				w.t.Errorf("the slots of %q are %q, others wait: %v", key, value, waits)
			}
		}
		for _, m := range members {
			key, rest, _ := strings.Cut(m, "\n")
			id := rest[16:]
			parked[key] = append(parked[key], id)
			if _, ok := since[id]; !ok {
				w.t.Errorf("%s waits for a slot, and is not parked", id)
			}
			delete(since, id)
		}
		if len(since) > 0 {
			w.t.Errorf("parked, and wait for no slot: %v", since)
		}
		w.checkSlots(k, holders, parked)
	}
}

func (w *queueModel) checkSlots(k Keys, holders, parked map[string][]string) {
	ctx := context.Background()
	has := map[string]bool{}
	for key, ids := range holders {
		most := 0
		for _, id := range ids {
			l := w.limits[id]
			if !w.there[id] || l.Key != key {
				w.t.Fatalf("%s has a slot of %q, there %v, %+v", id, key, w.there[id], l)
			}
			has[id], most = true, max(most, l.Max)
			info, err := w.c.Get(ctx, id)
			if err != nil || info.State == Dead || info.State == Parked || info.State == Delayed && !l.Hold && l.Busy != Fail {
				w.t.Errorf("%s has a slot: %s, %v, %+v", id, info.State, err, l)
			}
		}
		if len(ids) > most {
			w.t.Errorf("%d tasks have slots of %q, the most that one of them allows is %d", len(ids), key, most)
		}
	}
	for key, ids := range parked {
		if first := w.limits[ids[0]]; len(holders[key]) < first.Max {
			w.t.Errorf("%s is parked, %d slots of %q are taken: %+v", ids[0], len(holders[key]), key, first)
		}
	}
	leased, err := w.c.rdb.ZRange(ctx, k.Of("leased"), 0, -1).Result()
	if err != nil {
		w.t.Fatal(err)
	}
	for _, m := range leased {
		id, _, _ := strings.Cut(m, " ")
		if w.limits[id] != nil && !has[id] {
			w.t.Errorf("%s runs without a slot", id)
		}
	}
}

// The rates of the model: the first runs of each key begin, and nobody's turn comes unless the clock is moved.
var modelRates = []Rate{{Key: "r", N: 2, Per: time.Hour}, {Key: "r 1", N: 3, Per: time.Hour, Burst: 1}}

// enqueueRated enqueues tasks with rates, some of which have limits too.
func (w *queueModel) enqueueRated() {
	tasks := make([]Task, rapid.IntRange(1, 4).Draw(w.t, "tasks"))
	for i := range tasks {
		r := rapid.SampledFrom(modelRates).Draw(w.t, "rate")
		tasks[i] = Task{ID: NewID(i % w.c.partitions), Kind: "k", Rate: &r}
		if rapid.Bool().Draw(w.t, "limited") {
			tasks[i].Limit = &Limit{Key: "a", Max: 1, Hold: rapid.Bool().Draw(w.t, "hold")}
		}
	}
	ok, err := w.c.EnqueueAll(context.Background(), tasks)
	if err != nil {
		w.t.Fatal(err)
	}
	for i, put := range ok {
		if !put {
			w.t.Errorf("%s was refused", tasks[i].ID)
		}
		if tasks[i].Limit != nil {
			w.limits[tasks[i].ID] = tasks[i].Limit
		}
		w.there[tasks[i].ID] = true
	}
}

// noteRate counts a run that was let begin, unless one that did not begin counted for it.
func (w *queueModel) noteRate(r *running) {
	if r.Rate == nil {
		return
	}
	if w.returned[r.ID] {
		delete(w.returned, r.ID)
		return
	}
	p, _ := PartitionOf(r.ID)
	key := fmt.Sprint(p, " ", r.Rate.Key)
	if w.begun[key]++; w.begun[key] > r.Rate.Burst {
		w.t.Errorf("%d runs of %q began", w.begun[key], key)
	}
}

// checkRates compares the turns with the tasks that wait for theirs: each has its own, and they are as far apart as
// the rate says.
func (w *queueModel) checkRates() {
	ctx := context.Background()
	for _, k := range w.c.keys {
		turns := map[string][]float64{}
		all, err := w.c.rdb.ZRangeWithScores(ctx, k.Of("rates"), 0, -1).Result()
		if err != nil {
			w.t.Fatal(err)
		}
		for _, z := range all {
			id, ok := strings.CutPrefix(z.Member.(string), "\n")
			if !ok {
				continue
			}
			if !w.there[id] {
				w.t.Fatalf("%s has a turn and is gone", id)
			}
			info, err := w.c.Get(ctx, id)
			if err != nil || info.State == Leased || info.State == Dead {
				w.t.Errorf("%s has a turn: %s, %v", id, info.State, err)
			}
			if !w.returned[id] {
				turns[info.Rate.Key] = append(turns[info.Rate.Key], z.Score)
			}
		}
		for _, r := range modelRates {
			at := turns[r.Key]
			for i := 1; i < len(at); i++ {
				if apart := at[i] - at[i-1]; apart < float64(r.Per.Microseconds()/int64(r.N))-1 {
					w.t.Errorf("two turns of %q are %.0f us apart", r.Key, apart)
				}
			}
		}
	}
}

// hold takes, asks for or releases slots of code that is not a task.
func (w *queueModel) hold() {
	ctx := context.Background()
	w.c.lease = time.Hour
	what := rapid.SampledFrom([]string{"take", "take", "ask", "release"}).Draw(w.t, "hold")
	if what == "take" || len(w.held) == 0 {
		l := Limit{Key: rapid.SampledFrom([]string{"a", "a b"}).Draw(w.t, "key"), Max: rapid.IntRange(1, 3).Draw(w.t, "max"), Hold: true}
		p := Partition(l.Key, w.c.partitions)
		r := &running{Task: Task{ID: NewID(p), Limit: &l}, queue: w.set.queues[0], partition: p, token: newToken()}
		busy := rapid.SampledFrom([]string{busyWait, busyWait, busyFail}).Draw(w.t, "busy")
		fence, err := w.c.askForSlot(ctx, r, busy)
		if err != nil {
			w.t.Fatal(err)
		}
		if fence >= 0 {
			w.held, w.limits[r.ID], w.there[r.ID] = append(w.held, r), &l, true
		} else if busy == busyWait {
			w.t.Error("one that waits was refused")
		}
		w.fenced(p, fence)
		return
	}
	r := rapid.SampledFrom(w.held).Draw(w.t, "slot")
	var state State
	if w.there[r.ID] {
		info, err := w.c.Get(ctx, r.ID)
		if err != nil || info.State != Leased && info.State != Parked {
			w.t.Fatalf("%s: %s, %v", r.ID, info.State, err)
		}
		state = info.State
	}
	if what == "ask" {
		fence, err := w.c.askForSlot(ctx, r, busyAgain)
		if err != nil || fence > 0 != (state == Leased) || fence < 0 != (state == "") {
			w.t.Errorf("asked for %s, %q: %d, %v", r.ID, state, fence, err)
		}
		w.fenced(r.partition, fence)
		return
	}
	got, err := w.set.settle(ctx, []*running{end(r, complete, 0, "")}, testTerms.dead)
	if err != nil || len(got.stale) == 0 != (state == Leased) {
		w.t.Errorf("released %s, %q: stale %v, %v", r.ID, state, ids(got.stale), err)
	}
	if state == Leased {
		w.over(r.ID)
	}
}

func (w *queueModel) fenced(partition int, fence int64) {
	if fence > 0 && fence <= w.fences[partition] {
		w.t.Errorf("the fence %d after %d", fence, w.fences[partition])
	}
	w.fences[partition] = max(w.fences[partition], fence)
}

// reapHeld notes that the slots whose leases have ended are gone. It returns how many that waited have one now.
func (w *queueModel) reapHeld(partition int, leased []string) (passed int64) {
	for _, r := range w.held {
		if r.partition != partition {
			continue
		}
		if slices.Contains(leased, r.ID+" "+r.token) {
			w.over(r.ID)
		} else if w.there[r.ID] {
			if info, err := w.c.Get(context.Background(), r.ID); err != nil {
				w.t.Error(err)
			} else if info.State == Leased {
				passed++
			}
		}
	}
	return passed
}

// checkResults expects a result of each task that is complete and leaves one, and of no other.
func (w *queueModel) checkResults() {
	ctx := context.Background()
	found := 0
	for _, k := range w.c.keys {
		kept, err := w.c.rdb.ZRange(ctx, k.Of("kept"), 0, -1).Result()
		results, err2 := w.c.rdb.HLen(ctx, k.Of("results")).Result()
		if err != nil || err2 != nil || int(results) != len(kept) {
			w.t.Fatalf("%d kept, %d results, %v, %v", len(kept), results, err, err2)
		}
		for _, id := range kept {
			untilMs, ok := w.keeps[id]
			if !ok {
				w.t.Errorf("%s has left a result", id)
			}
			if untilMs > 0 {
				found++
			}
		}
	}
	want := 0
	for _, untilMs := range w.keeps {
		if untilMs > 0 {
			want++
		}
	}
	if found != want {
		w.t.Errorf("%d results, want %d", found, want)
	}
}
