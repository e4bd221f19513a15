package doctor

import (
	"context"
	"fmt"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/store/queue"
	"github.com/chatd/chatd/store/script"
)

// queueNames are what scripts call the keys that queue.Keys.Work lists.
var queueNames = script.Names[[]string]{Groups: map[string]func([]string) []string{
	"queue:work": func(keys []string) []string { return keys },
}}

var (
	queueScript    = newReader("queue", queueNames)
	fixQueueScript = newScript("fix_queue", queueNames)
)

// queues looks whether the tasks of every queue add up: each that was enqueued is in one state, or over.
func (d *Doctor) queues(ctx context.Context) error {
	for _, name := range []string{chat.QueueCore, chat.QueueEgress} {
		for p := range d.keys.partitions {
			if err := d.queue(ctx, queue.NewKeys(d.keys.prefix, p, name)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (d *Doctor) queue(ctx context.Context, k queue.Keys) error {
	r, err := d.run.do(ctx, queueScript.On(k.Work()))
	if err != nil {
		if wrongType(err) {
			return nil // the walk names the key
		}
		return err
	}
	kept, inState, over, enqueued := r.number(0), r.number(1), r.number(2), r.number(3)
	if kept != inState {
		err := d.found(ctx, Finding{Kind: KindQueue, Key: k.Tasks(),
			Message: fmt.Sprintf("keeps %d tasks, and %d are ready, delayed, leased or dead", kept, inState)})
		if err != nil {
			return err
		}
	}
	if enqueued == inState+over {
		return nil
	}
	return d.found(ctx, Finding{Kind: KindQueue, Key: k.Counts(),
		Message: fmt.Sprintf("counts %d tasks as enqueued, and %d are waiting or over", enqueued, inState+over), Repair: "count them",
		fix: func(ctx context.Context) error {
			_, err := d.run.do(ctx, fixQueueScript.On(k.Work()))
			return err
		}})
}
