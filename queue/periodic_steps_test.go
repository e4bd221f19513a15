package queue

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"
)

// periodicModel is what the model test knows of periodic tasks.
type periodicModel struct {
	server *Server                   // whose handler fires them
	all    map[string]*modelPeriodic // by ID; a deleted one stays, and its ID is not used again
	ended  int                       // tasks that fire and were done or removed: the next one has the same id
}

// modelPeriodic is one periodic task of the model.
type modelPeriodic struct {
	Periodic
	gone, paused bool
	last         int64 // its last occurrence that was fired, ms
	next         int64 // that is planned, ms; 0: none
	fired        int64
}

func (w *queueModel) firesPeriodic(id string) bool {
	return len(id) > 14 && strings.HasPrefix(id[3:], "-periodic-")
}

// firingID is the id of the task that fires a periodic one.
func (w *queueModel) firingID(name string) string {
	_, id := w.c.periodicAt(name)
	return id
}

// overPeriodic notes that a task which fires is gone.
func (w *queueModel) overPeriodic(id string) {
	if w.there[id] {
		delete(w.there, id)
		w.periodic.ended++
	}
	if r := w.newest[id]; r != nil {
		w.void[r] = struct{}{}
	}
}

// actPeriodic declares, changes, pauses, resumes, runs or deletes a periodic task.
func (w *queueModel) actPeriodic() {
	ctx := context.Background()
	all := slices.Sorted(maps.Keys(w.periodic.all))
	what := rapid.SampledFrom([]string{"put", "put", "put again", "pause", "resume", "resume", "run", "delete", "cancel"}).Draw(w.t, "periodic")
	var p *modelPeriodic
	if len(all) > 0 && what != "put" {
		p = w.periodic.all[rapid.SampledFrom(all).Draw(w.t, "which")]
	}
	if p == nil {
		what, p = "put", &modelPeriodic{Periodic: Periodic{ID: fmt.Sprint("r", len(all)), Kind: "k"}}
		p.Misfire = rapid.SampledFrom([]Misfire{MisfireAll, MisfireAll, MisfireOnce, MisfireSkip}).Draw(w.t, "misfire")
		w.periodic.all[p.ID] = p
	}
	id := w.firingID(p.ID)
	_, notDead := w.c.rdb.ZScore(ctx, w.c.keys[Partition(p.ID, w.c.partitions)].Of("dead"), id).Result()
	waits := w.there[id] && notDead != nil
	var err error
	switch what {
	case "put", "put again":
		if p.gone {
			return
		}
		was := p.Every
		p.Every = rapid.SampledFrom([]time.Duration{time.Hour, 2 * time.Hour}).Draw(w.t, "every")
		p.Payload = []byte(rapid.SampledFrom([]string{"a", "b"}).Draw(w.t, "payload"))
		err = w.c.PutPeriodic(ctx, p.Periodic)
		if !waits || was != p.Every {
			w.planned(p, id)
		}
	case "pause":
		if err = w.c.PausePeriodic(ctx, p.ID); !p.gone {
			p.paused, p.next = true, 0
			w.overPeriodic(id)
		}
	case "resume":
		if err = w.c.ResumePeriodic(ctx, p.ID); p.paused || !waits {
			p.paused = false
			w.planned(p, id)
		}
	case "run":
		var task string
		if task, err = w.c.RunPeriodic(ctx, p.ID); err == nil {
			w.there[task] = true
		}
	case "delete":
		if err = w.c.DeletePeriodic(ctx, p.ID); !p.gone {
			w.overPeriodic(id)
			p.gone, p.paused, p.next = true, false, 0
			return
		}
	case "cancel":
		if _, got := w.c.Cancel(ctx, id); waits != errors.Is(got, ErrConflict) || !w.there[id] != errors.Is(got, ErrNotFound) {
			w.t.Errorf("cancelled %s, there %v, waits %v: %v", id, w.there[id], waits, got)
		} else if !waits {
			w.overPeriodic(id)
		}
	}
	if p.gone != errors.Is(err, ErrNotFound) && what != "cancel" || err != nil && !p.gone {
		w.t.Errorf("%s of %s, gone %v: %v", what, p.ID, p.gone, err)
	}
}

// planned notes that a periodic task was planned again: for the first of its times that is neither past nor fired.
func (w *queueModel) planned(p *modelPeriodic, id string) {
	w.overPeriodic(id)
	if p.gone || p.paused {
		return
	}
	info, err := w.c.GetPeriodic(context.Background(), p.ID)
	if err != nil {
		w.t.Fatal(err)
	}
	nowMs, _ := w.clock.now(w.t, w.c.keys[Partition(p.ID, w.c.partitions)])
	next, every := info.Next.UnixMilli(), p.Every.Milliseconds()
	if from := max(nowMs, p.last); next <= from-time.Minute.Milliseconds() || next > from+every || next <= p.last {
		w.t.Errorf("%s is planned for %d: it is %d, and it was fired for %d", p.ID, next, nowMs, p.last)
	}
	p.next, w.there[id] = next, true
}

// firePeriodic lets runs that fire periodic tasks end as their handler says.
func (w *queueModel) firePeriodic() {
	switch rapid.IntRange(0, 2).Draw(w.t, "claim") {
	case 1: // the clock is set back while they are ready
		w.moveClocks(-1, 20*clockStep)
		w.step(0, modelTerms)
		w.moveClocks(-1, rapid.SampledFrom([]time.Duration{-1, -11, -22}).Draw(w.t, "back")*clockStep)
		w.step(6, modelTerms)
	case 2:
		w.step(6, modelTerms)
	}
	for _, r := range slices.Clone(w.leases) {
		name, ok := strings.CutPrefix(r.ID, tag(r.partition)+"-periodic-")
		if _, void := w.void[r]; !ok || void && rapid.Bool().Draw(w.t, "not again") {
			continue
		}
		err := w.periodic.server.firePeriodic(context.WithValue(context.Background(), runKey{}, r), r.Task)
		var f *firing
		if !errors.As(err, &f) {
			w.t.Fatalf("%s: %v", r.ID, err)
		}
		one := end(r, complete, 0, "")
		one.outcome.fires = f
		got, err := w.set.settle(context.Background(), []*running{one}, testTerms.dead)
		if err != nil {
			w.t.Fatal(err)
		}
		if _, void := w.void[r]; void {
			if len(got.stale) != 1 {
				w.t.Errorf("%s has lost its lease and fires", r.ID)
			}
			continue
		}
		if len(got.stale) > 0 {
			w.t.Errorf("%s does not fire", r.ID)
		}
		w.fired(w.periodic.all[name], r, f)
	}
}

// fired compares what a firing enqueued with what was due.
func (w *queueModel) fired(p *modelPeriodic, r *running, f *firing) {
	w.overPeriodic(r.ID)
	_, latestMs := w.clock.now(w.t, w.c.keys[r.partition])
	every := p.Every.Milliseconds()
	for i, ms := range f.occurrences {
		switch {
		case ms <= p.last:
			w.t.Errorf("%s fires %d after %d", p.ID, ms, p.last)
		case ms < p.next || (ms-p.next)%every != 0 || ms > latestMs:
			w.t.Errorf("%s fires %d: planned is %d, it is %d", p.ID, ms, p.next, latestMs)
		case p.Misfire == MisfireAll && ms != p.next+int64(i)*every:
			w.t.Errorf("%s leaves out what is due between %d and %d", p.ID, p.next, ms)
		}
		w.there[tag(r.partition)+"-"+p.ID+fmt.Sprint("@", ms)] = true
		p.last, p.fired = ms, p.fired+1
	}
	if want := p.next + int64(len(f.occurrences))*every; f.nextMs <= p.last || p.Misfire == MisfireAll && f.nextMs != want {
		w.t.Errorf("%s was planned for %d, fired %d and is planned for %d", p.ID, p.next, f.occurrences, f.nextMs)
	}
	p.next, w.there[r.ID] = f.nextMs, true
}

// checkPeriodic compares the records of periodic tasks with what the model knows.
func (w *queueModel) checkPeriodic() {
	for _, p := range w.periodic.all {
		info, err := w.c.GetPeriodic(context.Background(), p.ID)
		if p.gone {
			if !errors.Is(err, ErrNotFound) {
				w.t.Errorf("%s was deleted: %v", p.ID, err)
			}
			continue
		}
		if err != nil || info.Paused != p.paused || info.Fired != p.fired || msOf(info.Next) != p.next || msOf(info.Last) != p.last {
			w.t.Errorf("%+v, %v, want %+v", info, err, p)
		}
	}
}
