package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/redis/go-redis/v9"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/schedule"
	"github.com/chatd/chatd/queue"
	"github.com/chatd/chatd/queue/script"
)

// queueNames are the names that scripts use for the keys of queue.Keys.Work.
var queueNames = script.Names[[]string]{Groups: map[string]func([]string) []string{
	"queue:work": func(keys []string) []string { return keys },
}}

var (
	queueScript    = newReader("queue", queueNames)
	fixQueueScript = newScript("fix_queue", queueNames)
	deadScript     = newReader("dead", queueNames)
	fixDeadScript  = newScript("fix_dead", queueNames)
)

// queues checks that the tasks of every queue add up: each enqueued task is in one state, or finished.
func (d *Doctor) queues(ctx context.Context) error {
	for _, name := range []string{chat.QueueCore, chat.QueueEgress} {
		for p := range d.keys.partitions {
			k := queue.NewKeys(d.keys.prefix, p, name)
			if err := d.queue(ctx, k); err != nil {
				return err
			}
			if err := d.deadLetters(ctx, k); err != nil && !wrongType(err) {
				return err
			}
		}
	}
	return nil
}

// scheduleTasks looks for delayed tasks of schedules that no longer exist: they would wait for nothing. One that has
// failed is left to the engine.
func (d *Doctor) scheduleTasks(ctx context.Context) error {
	for cursor := ""; ; {
		infos, next, err := d.core.List(ctx, queue.ListQuery{State: queue.Delayed, Cursor: cursor, Limit: keysStep})
		if err != nil {
			return err
		}
		for _, info := range infos {
			if info.Kind != schedule.TaskFire && info.Kind != schedule.TaskForget || info.Attempts+info.Crashes > 0 {
				continue
			}
			if err := d.scheduleTask(ctx, info); err != nil {
				return err
			}
		}
		if cursor = next; next == "" {
			return nil
		}
	}
}

func (d *Doctor) scheduleTask(ctx context.Context, info queue.Info) error {
	var p schedule.FireTask
	partition, ok := queue.PartitionOf(info.ID)
	if !ok || json.Unmarshal(info.Payload, &p) != nil {
		return nil // the engine turns it into a dead letter
	}
	keys := queue.NewKeys(d.keys.prefix, partition, chat.QueueCore)
	var waits *redis.FloatCmd
	var there *redis.IntCmd
	err := d.instant(ctx, func(pipe redis.Pipeliner) {
		waits, there = pipe.ZScore(ctx, keys.Delayed(), info.ID), pipe.Exists(ctx, d.keys.part(partition)+"s:"+p.Schedule)
	})
	if err != nil {
		return err
	}
	if waits.Err() != nil || there.Val() > 0 {
		return nil
	}
	return d.found(ctx, Finding{Kind: KindSchedule, Key: keys.Tasks(), Message: fmt.Sprintf("holds task %s of schedule %s, which is gone", info.ID, p.Schedule),
		Repair: "cancel the task", fix: func(ctx context.Context) error {
			_, err := d.core.Cancel(ctx, info.ID)
			if errors.Is(err, queue.ErrNotFound) {
				return nil
			}
			return err
		}})
}

func (d *Doctor) queue(ctx context.Context, k queue.Keys) error {
	r, err := d.run.do(ctx, queueScript.On(k.Work()))
	if err != nil {
		if wrongType(err) {
			return nil // the walk names the key
		}
		return err
	}
	kept, inState, over, enqueued := r.Number(0), r.Number(1), r.Number(2), r.Number(3)
	if kept != inState {
		err := d.found(ctx, Finding{Kind: KindQueue, Key: k.Tasks(),
			Message: fmt.Sprintf("holds %d tasks, but %d are ready, delayed, leased or dead", kept, inState)})
		if err != nil {
			return err
		}
	}
	if enqueued == inState+over {
		return nil
	}
	return d.found(ctx, Finding{Kind: KindQueue, Key: k.Counts(),
		Message: fmt.Sprintf("counts %d tasks as enqueued, but %d are stored or finished", enqueued, inState+over), Repair: "recount",
		fix: func(ctx context.Context) error {
			_, err := d.run.do(ctx, fixQueueScript.On(k.Work()))
			return err
		}})
}

// deadLetters checks that the bytes of dead letters, which are bounded, are counted as what they are.
func (d *Doctor) deadLetters(ctx context.Context, k queue.Keys) error {
	for range windowTries {
		bytes, counted, sure, err := d.deadBytes(ctx, k)
		if err != nil || sure && bytes == counted {
			return err
		}
		if !sure {
			continue
		}
		return d.found(ctx, Finding{Kind: KindQueue, Key: k.Counts(),
			Message: fmt.Sprintf("counts %d bytes of dead letters, and they have %d", counted, bytes), Repair: "count them",
			fix: func(ctx context.Context) error {
				r, err := d.run.do(ctx, fixDeadScript.On(k.Work()).Arg("counted", strconv.FormatInt(counted, 10)).Arg("bytes", strconv.FormatInt(bytes, 10)))
				if err == nil && r.Number(0) == 0 {
					err = errors.New("they have changed meanwhile")
				}
				return err
			}})
	}
	return nil // they change all the time: the next examination may find them at rest
}

// deadBytes sums up the bytes of all dead letters. sure: none came or went meanwhile.
func (d *Doctor) deadBytes(ctx context.Context, k queue.Keys) (bytes, counted int64, sure bool, err error) {
	before := ""
	for from := int64(0); ; {
		r, err := d.run.do(ctx, deadScript.On(k.Work()).Arg("from", from).Arg("limit", entriesStep))
		if err != nil {
			return 0, 0, false, err
		}
		if before != "" && before != r.Text(3) {
			return 0, 0, false, nil
		}
		before, counted = r.Text(3), r.Number(2)
		bytes += r.Number(1)
		if from = r.Number(0); from == 0 {
			return bytes, counted, true, nil
		}
	}
}
