package doctor

import (
	"context"
	"fmt"
	"slices"

	"github.com/chatd/chatd/chat/archive"
	"github.com/chatd/chatd/chat/webhook"
	"github.com/chatd/chatd/queue"
)

var lagsScript = newReader("lags", groupNames)

// followers examines what follows the logs without a cursor of a member: the archive and the webhooks.
type followers struct {
	*exam
	tasks *taskList
}

// lags is the answer of lags.lua.
type lags struct {
	epoch               string
	last                int64
	archive             bool
	archived, published int64
	archives, publishes bool // a task that does so waits for its first run
	behind              []lagging
}

// lagging is a webhook that is behind in a group.
type lagging struct {
	webhook, task string
	there, dead   bool
}

func (d *followers) readLags(ctx context.Context, g groupKeys) (lags, error) {
	r, err := d.run.do(ctx, lagsScript.On(g).Arg("group", g.id))
	if err != nil || r.Text(0) == "" {
		return lags{}, err
	}
	l := lags{epoch: r.Text(0), last: r.Number(1), archive: r.Number(2) == 1, archived: r.Number(3), archives: r.Number(4) == 1,
		published: r.Number(5), publishes: r.Number(6) == 1}
	for one := range slices.Chunk(r[7:], 5) {
		l.behind = append(l.behind, lagging{one.Text(0), one.Text(2), one.Number(3) == 1, one.Number(4) == 1})
	}
	return l, nil
}

// lag checks that what follows the log of a group without a cursor of a member continues: if the archive or the
// webhooks have not had all entries, there is a task for the rest.
func (d *followers) lag(ctx context.Context, g groupKeys) error {
	l, err := d.readLags(ctx, g)
	if err != nil || l.epoch == "" {
		return err
	}
	for _, w := range l.behind {
		if err := d.behind(ctx, g, l, w); err != nil {
			return err
		}
	}
	if err := d.unserved(ctx, g, archive.TaskArchive, func(l lags) bool {
		return l.archive && l.archived != l.last && !l.archives
	}); err != nil {
		return err
	}
	return d.unserved(ctx, g, webhook.TaskEvents, func(l lags) bool {
		return l.published >= 0 && l.published < l.last && !l.publishes
	})
}

// behind checks that a webhook that is behind has the task that catches up. One script reads both, and another one writes
// both, so they always agree.
func (d *followers) behind(ctx context.Context, g groupKeys, l lags, w lagging) error {
	f := Finding{Kind: KindTask, Key: g.base + "meta"}
	switch {
	case w.dead:
		f.Message = fmt.Sprintf("the webhook %s is behind, and its task %s is dead: retry it with chatd tasks retry", w.webhook, w.task)
	case w.there:
		return nil
	default:
		f.Message, f.Repair = fmt.Sprintf("the webhook %s is behind, and has no task that catches up", w.webhook), "enqueue the task"
		f.fix = func(ctx context.Context) error {
			return d.enqueue(ctx, queue.Task{ID: w.task, Kind: webhook.TaskEvents}, webhook.EventsTask{Group: g.id, Epoch: l.epoch, Webhook: w.webhook})
		}
	}
	return d.found(ctx, f)
}

// unserved checks that a group with entries for a kind of task has such a task. One that is being run, or failed and
// waits for its retry, shows only in the lists of tasks.
func (d *followers) unserved(ctx context.Context, g groupKeys, kind string, lacks func(lags) bool) error {
	var l lags
	for range suspectTries {
		var err error
		if l, err = d.readLags(ctx, g); err != nil || !lacks(l) {
			return err
		}
		if kind == archive.TaskArchive && l.archived < 0 {
			// A group that the archive does not have yet may still get its task, while the groups are walked.
			if state, err := d.store.ArchiveState(ctx); err != nil || !state.Walked {
				return err
			}
		}
		waits, known, err := d.tasks.waitsFor(ctx, kind, g.id)
		if err != nil || waits {
			return err
		}
		if !known {
			return d.tasks.tooMany(ctx, g.id)
		}
	}
	f := Finding{Kind: KindTask, Key: g.base + "meta", Repair: "enqueue the task"}
	if kind == archive.TaskArchive {
		f.Message = fmt.Sprintf("is archived up to %d of %d, and has no task that archives the rest", l.archived, l.last)
		f.fix = func(ctx context.Context) error { return d.store.AlignArchive(ctx, []string{g.id}) }
	} else {
		f.Message = fmt.Sprintf("has events up to %d of %d, and no task that publishes the rest", l.published, l.last)
		f.fix = func(ctx context.Context) error {
			partition := queue.Partition(g.id, d.keys.partitions)
			return d.enqueue(ctx, queue.Task{ID: queue.NewID(partition), Kind: kind, Unique: kind + ":" + g.id + ":" + l.epoch},
				webhook.EventsTask{Group: g.id, Epoch: l.epoch})
		}
	}
	return d.found(ctx, f)
}
