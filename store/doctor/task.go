package doctor

import (
	"context"
	"fmt"
	"strconv"

	"github.com/chatd/chatd/chat"
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

// queues examines the tasks of the queues.
type queues struct{ *exam }

// queues checks that the tasks of every queue add up: each enqueued task is in one state, or finished.
func (d *queues) queues(ctx context.Context) error {
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

func (d *queues) queue(ctx context.Context, k queue.Keys) error {
	r, err := d.run.do(ctx, queueScript.On(k.Work()))
	if err != nil {
		if wrongType(err) {
			return nil // the walk names the key
		}
		return err
	}
	kept, inState, over, enqueued := r.Number(0), r.Number(1), r.Number(2), r.Number(3)
	if kept != inState {
		err := d.found(ctx, Finding{Kind: KindQueue, Key: k.Of("tasks"),
			Message: fmt.Sprintf("holds %d tasks, but %d are ready, delayed, leased or dead", kept, inState)})
		if err != nil {
			return err
		}
	}
	if enqueued == inState+over {
		return nil
	}
	return d.found(ctx, Finding{Kind: KindQueue, Key: k.Of("counts"),
		Message: fmt.Sprintf("counts %d tasks as enqueued, but %d are stored or finished", enqueued, inState+over), Repair: "recount",
		fix: d.runs(fixQueueScript.On(k.Work()))})
}

// deadLetters checks that the bytes of dead letters, which are bounded, are counted as what they are.
func (d *queues) deadLetters(ctx context.Context, k queue.Keys) error {
	for range windowTries {
		bytes, counted, sure, err := d.deadBytes(ctx, k)
		if err != nil || sure && bytes == counted {
			return err
		}
		if !sure {
			continue
		}
		return d.found(ctx, Finding{Kind: KindQueue, Key: k.Of("counts"),
			Message: fmt.Sprintf("counts %d bytes of dead letters, and they have %d", counted, bytes), Repair: "count them",
			fix: func(ctx context.Context) error {
				return d.corrected(ctx, fixDeadScript.On(k.Work()).Arg("counted", strconv.FormatInt(counted, 10)).Arg("bytes", strconv.FormatInt(bytes, 10)))
			}})
	}
	return nil // they change all the time: the next examination may find them at rest
}

// deadBytes sums up the bytes of all dead letters. sure: none came or went meanwhile.
func (d *queues) deadBytes(ctx context.Context, k queue.Keys) (bytes, counted int64, sure bool, err error) {
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
