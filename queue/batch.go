package queue

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/chatd/chatd/queue/backoff"
)

// Batch has tasks run together: those of one kind, priority and key wait until there are enough of them, until no
// further one has come for a while, or until the first has waited long enough, whichever is first. Then one run gets
// all of them, see HandleBatch. The bounds are those of the task that comes; how a batch is retried, and for how long it
// may run, is what its first task says.
//
// A batch is carried by a task of its own, which is what is claimed, retried, buried, listed and cancelled: its tasks
// go where it goes, in the same atomic step, and a batch that has begun stays as it is, whatever happens to its workers.
// A task in a batch has no unique key, due time or deadline of its own.
type Batch struct {
	// Key is what the tasks have in common, a recipient for example. It also selects the partition where neither id
	// nor Subject does. At most 256 bytes, no line breaks; it may be empty.
	Key string
	// Max is how many tasks make a full batch, at most 1,000, the default.
	Max int
	// Bytes is how many bytes, about 60 for each task and its payload, make a full batch: at most 1 MiB, the default. A
	// task that does not fit any more begins the next batch; one that is larger is a batch by itself.
	Bytes int
	// Quiet is how long no further task may have come. 0: that does not matter.
	Quiet time.Duration
	// MaxWait is how long the first task waits at most. 0: as long as others keep coming. One of the two must be set.
	MaxWait time.Duration
}

// BatchHandler does the work of several tasks, in the order in which they were enqueued. What it returns is for all of
// them, as with a Handler: nil completes them, an error has them run again, together.
type BatchHandler func(ctx context.Context, tasks []Task) error

func (b *Batch) max() int   { return orElse(b.Max, batchMax) }
func (b *Batch) bytes() int { return orElse(b.Bytes, batchBytesMax) }

func orElse(n, otherwise int) int {
	if n == 0 {
		return otherwise
	}
	return n
}

// checkBatch returns an error that says what is wrong with the batch of a task to be enqueued.
func (t *Task) checkBatch() error {
	b := t.Batch
	if b == nil {
		return nil
	}
	wrong := func(format string, args ...any) error {
		return fmt.Errorf("%w: batch: "+format, append([]any{ErrInvalid}, args...)...)
	}
	switch {
	case len(b.Key) > nameBytesMax || strings.ContainsAny(b.Key, "\r\n"):
		return wrong("key %q", b.Key)
	case b.Max < 0 || b.Max > batchMax:
		return wrong("Max is %d, must be 1 to %d", b.Max, batchMax)
	case b.Bytes < 0 || b.Bytes > batchBytesMax:
		return wrong("Bytes is %d, must be 1 to %d", b.Bytes, batchBytesMax)
	case b.Quiet < 0 || b.MaxWait < 0 || b.Quiet > pauseMax || b.MaxWait > pauseMax:
		return wrong("Quiet is %v and MaxWait %v, must be 0 to %v", b.Quiet, b.MaxWait, pauseMax)
	case b.Quiet == 0 && b.MaxWait == 0:
		return wrong("Quiet or MaxWait must be set")
	case t.Unique != "":
		return wrong("a task in a batch has no unique key")
	case !t.Due.IsZero() || t.Delay != 0:
		return wrong("a task in a batch has no due time or delay")
	case !t.Deadline.IsZero():
		return wrong("a task in a batch has no deadline")
	}
	return nil
}

// parseBatch parses "<max> <bytes> <quiet_ms> <wait_ms> <key>".
func parseBatch(value string) (*Batch, bool) {
	var n [4]int64
	for i := range n {
		var field string
		var ok bool
		var err error
		if field, value, ok = strings.Cut(value, " "); !ok {
			return nil, false
		}
		if n[i], err = strconv.ParseInt(field, 10, 64); err != nil || n[i] < 0 {
			return nil, false
		}
	}
	return &Batch{Key: value, Max: int(n[0]), Bytes: int(n[1]), Quiet: span(n[2]), MaxWait: span(n[3])}, true
}

// enqueuedOptions are the options as enqueue.lua takes them: with a batch, the id of the carrier is added.
func (t *Task) enqueuedOptions() string {
	if t.Batch == nil {
		return t.optionLines()
	}
	p, _, _ := strings.Cut(t.ID, "-")
	return t.optionLines() + "\rcarrier " + p + "-batch-" + rand.Text()
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
	again := backoff.Backoff{Min: errorPause, Max: pollMax}
	for {
		one := &call{Call: takeScript.On(r.queue.work[r.partition]).Arg("id", r.ID).Arg("token", r.token)}
		err := run(context.WithoutCancel(s.parent), s.rdb, []*call{one})
		if err == nil {
			if r.members, err = readBatch(one); err == nil && len(r.members) == 0 {
				err = errNoBatch
			}
			for i := range r.members {
				t := &r.members[i]
				t.Queue, t.Attempt, t.Attempts, t.LastError = r.Queue, r.Attempt, r.Attempts, r.LastError
			}
			return err
		}
		s.o.Logger.Warn("cannot read a batch, retrying", "queue", r.Queue, "task", r.ID, "error", err)
		pause := time.NewTimer(again.Next())
		select {
		case <-pause.C:
		case <-r.ctx.Done():
			pause.Stop()
			return fmt.Errorf("read the batch: %w", err)
		}
	}
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
