package queue

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"pgregory.net/rapid"
)

// batchedMax and batchedWait bound the batches of the model.
const batchedMax, batchedWait = 3, time.Hour

// batchModel is what the model test knows of batches.
type batchModel struct {
	carriers map[string]string   // of each task that must be in a batch
	begun    map[string][]string // the tasks of each batch that a run has taken, in their order
}

// enqueueBatched puts tasks into batches, some of which are full at once. They may stand in one call with other tasks.
func (w *queueModel) enqueueBatched() {
	ctx := context.Background()
	tasks := make([]Task, rapid.IntRange(1, 5).Draw(w.t, "tasks"))
	for i := range tasks {
		tasks[i] = Task{ID: NewID(i % w.c.partitions), Kind: "k", Priority: priorities[rapid.IntRange(1, 2).Draw(w.t, "priority")]}
		if rapid.IntRange(0, 3).Draw(w.t, "plain") == 0 {
			continue
		}
		tasks[i].Payload = make([]byte, rapid.SampledFrom([]int{0, 100, 400}).Draw(w.t, "payload"))
		tasks[i].Batch = &Batch{
			Key: rapid.SampledFrom([]string{"", "a b"}).Draw(w.t, "key"), Max: rapid.SampledFrom([]int{1, batchedMax, batchedMax}).Draw(w.t, "max"),
			Bytes: rapid.SampledFrom([]int{0, 300}).Draw(w.t, "bytes"), MaxWait: batchedWait,
			Quiet: rapid.SampledFrom([]time.Duration{0, time.Minute, 2 * time.Hour}).Draw(w.t, "quiet"),
		}
	}
	if id := w.anyMember(); id != "" && rapid.Bool().Draw(w.t, "again") {
		again := tasks[0]
		again.ID, again.Batch = id, &Batch{MaxWait: time.Hour}
		tasks = append(tasks, again)
	}
	ok, err := w.c.EnqueueAll(ctx, tasks)
	if err != nil {
		w.t.Fatal(err)
	}
	for i, put := range ok {
		_, known := w.batch.carriers[tasks[i].ID]
		if put == known {
			w.t.Errorf("%s: enqueued %v, known %v", tasks[i].ID, put, known)
		}
		switch {
		case known:
		case tasks[i].Batch == nil:
			w.there[tasks[i].ID] = true
		default:
			w.batch.carriers[tasks[i].ID] = ""
		}
	}
	for carrier, members := range w.readBatches() {
		for _, id := range members {
			if w.batch.carriers[id] == "" {
				w.batch.carriers[id] = carrier
			}
		}
		if !w.there[carrier] && w.gone[carrier] {
			w.t.Errorf("%s takes tasks, and is gone", carrier)
		}
		w.there[carrier] = true
	}
}

func (w *queueModel) anyMember() string {
	var all []string
	for id, carrier := range w.batch.carriers {
		if carrier != "" {
			all = append(all, id)
		}
	}
	slices.Sort(all)
	if len(all) == 0 {
		return ""
	}
	return rapid.SampledFrom(all).Draw(w.t, "member")
}

// carriers returns the carriers of all batches that there must be.
func (w *queueModel) carriers() []string {
	return slices.Compact(slices.Sorted(maps.Values(w.batch.carriers)))
}

// take has a run, maybe one that has lost its task, take its batch.
func (w *queueModel) take() {
	var some []*running
	for _, r := range w.leases {
		if r.Batch != nil {
			some = append(some, r)
		}
	}
	if len(some) == 0 {
		return
	}
	r := rapid.SampledFrom(some).Draw(w.t, "lease")
	one := &call{Call: takeScript.On(w.c.work[r.partition]).Arg("id", r.ID).Arg("token", r.token)}
	if err := run(context.Background(), w.c.rdb, []*call{one}); err != nil {
		w.t.Fatal(err)
	}
	tasks, err := readBatch(one)
	if err != nil {
		w.t.Fatal(err)
	}
	var got []string
	for _, task := range tasks {
		got = append(got, task.ID)
	}
	if _, void := w.void[r]; void {
		if len(got) > 0 {
			w.t.Errorf("%s has lost its lease and takes %v", r.ID, got)
		}
		return
	}
	if len(got) == 0 {
		w.t.Errorf("%s has no tasks", r.ID)
	}
	for _, id := range got {
		if w.batch.carriers[id] != r.ID {
			w.t.Errorf("%s takes %s, which %q carries", r.ID, id, w.batch.carriers[id])
		}
	}
	w.batch.begun[r.ID] = got
}

// promote has every carrier that waits for its time be due.
func (w *queueModel) promote() {
	ctx := context.Background()
	for p, k := range w.c.keys {
		waiting, err := w.c.rdb.ZRange(ctx, k.Of("delayed"), 0, -1).Result()
		if err != nil {
			w.t.Fatal(err)
		}
		for _, id := range waiting {
			if strings.Contains(id, "-batch-") {
				if err := w.c.rdb.Eval(ctx, "return redis.call('ZADD', KEYS[1], 1, ARGV[1])", []string{k.Of("delayed")}, id).Err(); err != nil {
					w.t.Fatal(err)
				}
			}
		}
		w.lapse(p)
		stepAll(w.t, w.set, stepDemand{partition: p, overdue: overdueMax, claims: []claimDemand{{}}}, modelTerms)
	}
}

// overBatch notes that a carrier is done or cancelled, and its tasks with it.
func (w *queueModel) overBatch(carrier string) {
	for id, of := range w.batch.carriers {
		if of == carrier {
			delete(w.batch.carriers, id)
		}
	}
	delete(w.batch.begun, carrier)
}

// readBatches reads the tasks of all batches, by carrier, and checks that the records of each fit together.
func (w *queueModel) readBatches() map[string][]string {
	batches, total := map[string][]string{}, 0
	for _, k := range w.c.keys {
		all, err := w.c.rdb.HGetAll(context.Background(), k.Of("batches")).Result()
		if err != nil {
			w.t.Fatal(err)
		}
		carriers := map[string]bool{}
		fields := 0
		for name, value := range all {
			if !strings.ContainsAny(name, " #") {
				carriers[name] = true
				members, bytes := w.readBatch(all, name)
				if head := strings.Fields(value); len(head) != 3 || head[0] != strconv.Itoa(len(members)) || head[1] != strconv.Itoa(bytes) {
					w.t.Errorf("%s: record %q, has %v of %d bytes", name, value, members, bytes)
				}
				w.checkDue(k, name, value)
				if len(members) > batchedMax {
					w.t.Errorf("%s has %d tasks", name, len(members))
				}
				batches[name] = members
				fields += 1 + 2*len(members)
				total += len(members)
			}
		}
		for name, value := range all {
			if strings.HasPrefix(name, "= ") {
				fields++
				_, begun := w.batch.begun[value]
				_, err := w.c.rdb.ZScore(context.Background(), k.Of("dead"), value).Result()
				if dead := err == nil; begun || dead || !carriers[value] {
					w.t.Errorf("%s still takes tasks: begun %v, dead %v", value, begun, dead)
				}
			}
		}
		if fields != len(all) {
			w.t.Errorf("%d of %d fields belong to batches: %v", fields, len(all), all)
		}
	}
	if got := w.stats().Batched; got != int64(total) {
		w.t.Errorf("%d tasks are counted in batches, want %d", got, total)
	}
	return batches
}

func (w *queueModel) readBatch(all map[string]string, carrier string) (members []string, bytes int) {
	for n := 1; ; n++ {
		id, ok := all[carrier+" "+strconv.Itoa(n)]
		if !ok {
			return members, bytes
		}
		spec, ok := all["#"+id]
		if !ok {
			w.t.Errorf("%s has no specification", id)
		}
		members, bytes = append(members, id), bytes+len(spec)
	}
}

// checkDue checks that a carrier that no run has had yet does not wait longer than its first task may.
func (w *queueModel) checkDue(k Keys, carrier, record string) {
	due, err := w.c.rdb.ZScore(context.Background(), k.Of("delayed"), carrier).Result()
	if err != nil || w.newest[carrier] != nil {
		return
	}
	var n, bytes, since float64
	if _, err := fmt.Sscan(record, &n, &bytes, &since); err != nil || due > since+float64(batchedWait.Milliseconds()) {
		w.t.Errorf("%s is due at %.0f, record %q, %v", carrier, due, record, err)
	}
}

// checkBatches checks that each task of a batch is in that of its carrier and in no other, that a carrier exists as long as
// its tasks do, and that a batch that has begun is as it was.
func (w *queueModel) checkBatches() {
	carried := map[string]string{}
	for carrier, members := range w.readBatches() {
		if !w.there[carrier] {
			w.t.Errorf("%s is gone, and its batch is not", carrier)
		}
		if begun, ok := w.batch.begun[carrier]; ok && !slices.Equal(begun, members) {
			w.t.Errorf("%s began with %v and has %v", carrier, begun, members)
		}
		for _, id := range members {
			if of, twice := carried[id]; twice {
				w.t.Errorf("%s is carried by %s and %s", id, of, carrier)
			}
			carried[id] = carrier
			if of := w.batch.carriers[id]; of != carrier {
				w.t.Errorf("%s is carried by %s, want %q", id, carrier, of)
			}
		}
	}
	if len(carried) != len(w.batch.carriers) {
		w.t.Errorf("%d tasks are in batches, want %d", len(carried), len(w.batch.carriers))
	}
}
