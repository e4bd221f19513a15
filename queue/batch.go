package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/chatd/chatd/queue/option/batch"
)

// Batch has tasks run together: those with its Key wait until there are Max of them or so many Bytes, until none has come for
// Quiet, or until the first has waited for MaxWait.
type Batch = batch.Batch

// BatchHandler does the work of several tasks, in the order in which they were enqueued. What it returns is for all of
// them, as with a Handler: nil completes them, an error has them run again, together.
type BatchHandler func(ctx context.Context, tasks []Task) error

// enqueuedOptions are the options as enqueue.lua takes them: with a batch, the id of the carrier is added.
func (t *Task) enqueuedOptions() string {
	if t.Batch == nil {
		return t.optionLines()
	}
	p, _, _ := strings.Cut(t.ID, "-")
	return t.optionLines() + "\rcarrier " + batch.NewCarrier(p)
}

// takesBatches makes a handler of a batch handler: a task that is in no batch is a batch of one.
func takesBatches(p Policy, h BatchHandler) (Policy, Handler) {
	p.batches = true
	return p, func(ctx context.Context, t Task) error {
		if t.members == nil {
			return h(ctx, []Task{t})
		}
		return h(ctx, t.members)
	}
}

// HandleBatch registers the handler of a kind whose tasks may be in batches. A handler that is registered in another way
// takes none: a batch that it gets becomes a dead letter, whole.
func (s *Server) HandleBatch(pattern string, p Policy, h BatchHandler) {
	policy, handler := takesBatches(p, h)
	s.HandlePolicy(pattern, policy, handler)
}

// HandleBatch registers the handler of a kind whose tasks may be in batches, as Server.HandleBatch does.
func (m *Mux) HandleBatch(pattern string, p Policy, h BatchHandler) {
	policy, handler := takesBatches(p, h)
	m.HandlePolicy(pattern, policy, handler)
}

// HandleBatch registers the handler of the kind for tasks in batches; payloads has those of tasks, in their order. A
// batch with a payload that is no JSON of a T becomes a dead letter at once, and the handler does not see it.
func (k Kind[T]) HandleBatch(in Handlers, h func(ctx context.Context, tasks []Task, payloads []T) error) {
	policy, handler := takesBatches(k.Policy, func(ctx context.Context, tasks []Task) error {
		payloads := make([]T, len(tasks))
		for i, t := range tasks {
			if err := json.Unmarshal(t.Payload, &payloads[i]); err != nil {
				return Bury(fmt.Errorf("payload of task %s of kind %q: %w", t.ID, t.Kind, err))
			}
		}
		return h(ctx, tasks, payloads)
	})
	in.HandlePolicy(k.Name, policy, handler)
}

// errNoBatch is the error of a run whose carrier has no tasks: someone removed them by hand.
var errNoBatch = errors.New("the batch has no tasks")

// takeBatch closes the batch that a run carries and reads its tasks. It tries until the run has lost its task.
func (s *Server) takeBatch(r *running) error {
	one := &call{Call: takeScript.On(r.queue.work[r.partition]).Arg("id", r.ID).Arg("token", r.token)}
	err := s.insist(&r.ctx, "cannot read a batch, retrying", func() error {
		return run(context.WithoutCancel(s.parent), s.rdb, []*call{one})
	}, "queue", r.Queue, "task", r.ID)
	if err != nil {
		return fmt.Errorf("read the batch: %w", err)
	}
	if r.members, err = readBatch(one); err == nil && len(r.members) == 0 {
		err = errNoBatch
	}
	for i := range r.members {
		t := &r.members[i]
		t.Queue, t.Attempt, t.Attempts, t.LastError = r.Queue, r.Attempt, r.Attempts, r.LastError
	}
	return err
}

// readBatch parses what take.lua and batch.lua return.
func readBatch(one *call) ([]Task, error) {
	values, err := one.cmd.StringSlice()
	if err != nil {
		return nil, err
	}
	tasks := make([]Task, len(values)/2)
	for i := range tasks {
		tasks[i].ID = values[2*i]
		if err := parseSpec(&tasks[i], values[2*i+1]); err != nil {
			return nil, Bury(fmt.Errorf("task %s: %w", tasks[i].ID, err))
		}
	}
	return tasks, nil
}

// Batch returns the tasks that a task carries, in the order in which they were enqueued. None: it carries no batch, or
// it does not exist.
func (c *Client) Batch(ctx context.Context, id string) ([]Task, error) {
	p, err := c.partitionOf(id)
	if err != nil {
		return nil, err
	}
	one := &call{Call: batchScript.On(c.work[p]).Arg("id", id)}
	if err := c.run(ctx, []*call{one}); err != nil {
		return nil, fmt.Errorf("queue: batch: %w", err)
	}
	tasks, err := readBatch(one)
	if err != nil {
		return nil, fmt.Errorf("queue: batch: %w", err)
	}
	for i := range tasks {
		tasks[i].Queue = c.name
	}
	return tasks, nil
}
