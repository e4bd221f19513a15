package queue

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// usedKey is a unique key that a task took for an hour.
type usedKey struct {
	id      string
	untilMs int64
}

// takeKey notes the unique key that a task was enqueued with. One that is taken for an hour stays so until the clock is moved beyond its end.
func (w *queueModel) takeKey(t *Task) {
	if t.Unique == "" {
		return
	}
	p, _ := PartitionOf(t.ID)
	key := fmt.Sprint(p, " ", t.Unique)
	if first, ok := w.taken[key]; ok {
		w.t.Errorf("%s was enqueued although %s has taken the key", t.ID, first.id)
	}
	if t.UniqueFor == time.Hour {
		nowMs, _ := w.clock.now(w.t, w.c.keys[p])
		w.taken[key] = usedKey{t.ID, nowMs + t.UniqueFor.Milliseconds()}
	}
}

// holders returns the tasks of a partition that have unique keys while they wait, or until they end. It checks that those
// that are taken for a time are noted with that time, and no others, and that the task that took one for an hour has it still.
func (w *queueModel) holders(k Keys) (tasks []string) {
	ctx := context.Background()
	held, err := w.c.rdb.HGetAll(ctx, k.Of("unique")).Result()
	if err != nil {
		w.t.Fatal(err)
	}
	expiring, err := w.c.rdb.ZRangeWithScores(ctx, k.Of("expiring"), 0, -1).Result()
	if err != nil {
		w.t.Fatal(err)
	}
	for _, z := range expiring {
		key, _ := z.Member.(string)
		if _, end, _ := strings.Cut(held[key], " "); end != fmt.Sprintf("%.0f", z.Score) {
			w.t.Errorf("key %s ends at %.0f, but is held by %q", key, z.Score, held[key])
		}
	}
	timed := 0
	for _, holder := range held {
		if strings.Contains(holder, " ") {
			timed++
		} else {
			tasks = append(tasks, holder)
		}
	}
	if timed != len(expiring) {
		w.t.Errorf("%d keys are taken for a time, %d ends are noted", timed, len(expiring))
	}
	for key, u := range w.taken {
		p, unique, _ := strings.Cut(key, " ")
		if k == w.c.keys[int(p[0]-'0')] && !strings.HasPrefix(held[unique], u.id+" ") {
			w.t.Errorf("%s took key %s for an hour, but %q has it", u.id, unique, held[unique])
		}
	}
	return tasks
}
