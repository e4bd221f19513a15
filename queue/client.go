package queue

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"math"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/chatd/chatd/queue/batch"
	"github.com/chatd/chatd/queue/option"
)

// Client enqueues tasks into one queue, shows them and moves them. It is safe for concurrent use.
type Client struct {
	*access
	Periodics
	lease    time.Duration
	together batch.Batcher[Task, enqueueOutcome]
}

// access is how the parts of a client reach the tasks of its queue.
type access struct {
	rdb        Redis
	prefix     string
	name       string
	partitions int
	keys       []Keys
	work       [][]string   // by partition: Keys.Work
	enqueue    [][]string   // by partition: Keys.Enqueue
	seed       maphash.Seed // of partitionAt
	checked    atomic.Bool  // the number of partitions matches the keys
}

// NewClient returns a client of Options.Queue. It uses the first four options, and Lease for Hold.
func NewClient(o Options) (*Client, error) {
	o.setDefaults()
	if o.Client == nil {
		return nil, errors.New("queue: no Redis client")
	}
	if _, can := o.Client.(subscriber); !can {
		return nil, fmt.Errorf("queue: a %T is not a Redis client: it has no method Subscribe", o.Client)
	}
	if repeats(o.Client) {
		return nil, errors.New("queue: the Redis client repeats calls by itself: set its MaxRetries to -1")
	}
	if o.Partitions < 1 || o.Partitions > PartitionsMax {
		return nil, fmt.Errorf("queue: %d partitions: must be 1 to %d", o.Partitions, PartitionsMax)
	}
	for _, name := range []string{o.Prefix, o.Queue} {
		if name == "" || strings.ContainsAny(name, "{}:") || strings.ContainsFunc(name, notPrintable) {
			return nil, fmt.Errorf("queue: %q is not allowed in a key", name)
		}
	}
	to := &access{rdb: o.Client, prefix: o.Prefix, name: o.Queue, partitions: o.Partitions, seed: maphash.MakeSeed()}
	for p := range o.Partitions {
		k := NewKeys(o.Prefix, p, o.Queue)
		to.keys, to.work, to.enqueue = append(to.keys, k), append(to.work, k.Work()), append(to.enqueue, k.Enqueue())
	}
	c := &Client{access: to, Periodics: Periodics{to}, lease: o.Lease}
	t := &c.together
	t.Run, t.Alone, t.Calls, t.Size = c.enqueueTogether, enqueueAlone, enqueueCalls, enqueueMax
	return c, nil
}

// Enqueue enqueues one task and returns its id. It returns false if nothing was enqueued, because its unique key is taken
// or a task with its id exists, and then the id of the one that took the key or has the id; with UniqueFor that may be
// over by now. Concurrent calls share round trips.
//
// After a network error, or if the context ends during the call, it is unknown whether the task was enqueued. If you
// set the id (NewID), you can repeat the call.
func (c *Client) Enqueue(ctx context.Context, t Task) (id string, ok bool, err error) {
	if err := c.prepare(&t, c.partitionAt(time.Now())); err != nil {
		return t.ID, false, err
	}
	out, err := c.together.Do(ctx, t)
	if err != nil {
		return t.ID, false, fmt.Errorf("queue: enqueue: %w", err)
	}
	return cmp.Or(out.holder, t.ID), out.ok, out.err
}

// enqueueOutcome is what Enqueue returns about one task.
type enqueueOutcome struct {
	ok     bool
	holder string // id of the task that took its unique key, if that is why it was not enqueued
	err    error
}

// enqueueTogether enqueues the tasks of one or more callers of Enqueue.
func (c *Client) enqueueTogether(ctx context.Context, tasks []Task) []enqueueOutcome {
	return c.put(ctx, tasks)
}

// prepare checks a task and gives it an id, in partition fallback if nothing about the task decides that.
func (c *Client) prepare(t *Task, fallback int) error {
	if err := t.check(c.partitions); err != nil {
		return err
	}
	if t.ID == "" {
		t.ID = NewID(c.partitionFor(t, fallback))
	}
	return t.nameThen(c.partitions)
}

// partitionAt picks the partition of a task that may go anywhere. All such tasks within spreadEvery go to the same one, so that
// concurrent callers share script calls. The order of partitions differs from client to client.
func (c *access) partitionAt(now time.Time) int {
	return int(maphash.Comparable(c.seed, now.UnixNano()/int64(spreadEvery)) % uint64(c.partitions))
}

// EnqueueAll enqueues many tasks, in the order given, and writes the ids it makes into them. It reports for each
// whether it was enqueued, as Enqueue does. Each 256 tasks of a partition, or 1 MiB of payloads, are one atomic step;
// the whole is not.
func (c *Client) EnqueueAll(ctx context.Context, tasks []Task) ([]bool, error) {
	fallback := 0
	for i := range tasks {
		if i%enqueueMax == 0 {
			fallback = rand.IntN(c.partitions)
		}
		if err := c.prepare(&tasks[i], fallback); err != nil {
			return nil, err
		}
	}
	enqueued := make([]bool, len(tasks))
	var failed error
	for i, out := range c.put(ctx, tasks) {
		enqueued[i], failed = out.ok, cmp.Or(failed, out.err)
	}
	return enqueued, failed
}

// put enqueues prepared tasks. It reports for each whether it was enqueued, or the error that leaves this unknown. A
// partition that cannot be reached does not hold up the others.
func (c *Client) put(ctx context.Context, tasks []Task) []enqueueOutcome {
	indexes := make([][]int, c.partitions)
	for i := range tasks {
		p, _ := PartitionOf(tasks[i].ID)
		indexes[p] = append(indexes[p], i)
	}
	outcomes := make([]enqueueOutcome, len(tasks))
	if err := c.checkPartitions(ctx); err != nil {
		for i := range outcomes {
			outcomes[i].err = fmt.Errorf("queue: enqueue: %w", err)
		}
		return outcomes
	}
	for {
		var calls []*call
		var sent [][]int
		for p := range indexes {
			if len(indexes[p]) == 0 {
				continue
			}
			n := together(tasks, indexes[p])
			calls = append(calls, c.enqueueCall(p, tasks, indexes[p][:n]))
			sent = append(sent, indexes[p][:n])
			indexes[p] = indexes[p][n:]
		}
		if len(calls) == 0 {
			return outcomes
		}
		_ = run(ctx, c.rdb, calls) // each has its own error
		for i, one := range calls {
			answers, err := one.cmd.Slice()
			if err == nil && len(answers) != len(sent[i]) {
				err = fmt.Errorf("unexpected answer %v", one.cmd)
			}
			if err != nil {
				p, _ := PartitionOf(tasks[sent[i][0]].ID)
				for _, j := range append(sent[i], indexes[p]...) {
					outcomes[j].err = fmt.Errorf("queue: enqueue: %w", err)
				}
				indexes[p] = nil
				continue
			}
			for j, answer := range answers {
				outcomes[sent[i][j]] = enqueueAnswer(answer)
			}
		}
	}
}

// enqueueAnswer reads what enqueue.lua answers about one task.
func enqueueAnswer(answer any) (out enqueueOutcome) {
	switch answer {
	case int64(1):
		out.ok = true
	case int64(2):
		out.err = ErrBusy
	default:
		out.holder, _ = answer.(string)
	}
	return out
}

// together returns how many of the tasks at the given indexes one script enqueues.
func together(tasks []Task, indexes []int) int {
	bytes := 0
	for n, i := range indexes {
		bytes += len(tasks[i].Payload)
		if n == enqueueMax || (n > 0 && bytes > enqueueBytesMax) {
			return n
		}
	}
	return len(indexes)
}

// partitionFor returns the partition of a task: that of its id or its subject, or else fallback. Tasks with the same unique
// key go to the same partition.
func (c *access) partitionFor(t *Task, fallback int) int {
	if p, ok := PartitionOf(t.ID); ok {
		return p
	}
	if t.Subject != "" {
		return Partition(t.Subject, c.partitions)
	}
	if t.Unique != "" {
		return Partition(t.Unique, c.partitions)
	}
	if t.Limit != nil {
		return Partition(t.Limit.Key, c.partitions)
	}
	if t.Rate != nil {
		return Partition(t.Rate.Key, c.partitions)
	}
	if t.Batch != nil {
		return Partition(t.Kind+" "+t.Batch.Key, c.partitions)
	}
	return fallback
}

func (c *access) enqueueCall(p int, tasks []Task, indexes []int) *call {
	one := enqueueScript.Sized(c.enqueue[p], 10*len(indexes)).Key("batches", c.keys[p].Of("batches"))
	for _, i := range indexes {
		t := &tasks[i]
		one = one.MoreArgs("batch", "id", t.ID, "kind", t.Kind, "payload", t.Payload, "priority", t.Priority.String(),
			"due_ms", msOf(t.Due), "delay_ms", option.CeilMs(t.Delay), "unique", t.Unique,
			"attempts_max", min(t.AttemptsMax, math.MaxInt32), "deadline_ms", msOf(t.Deadline),
			"options", t.enqueuedOptions())
	}
	return &call{Call: one}
}

// repeats reports whether a client retries calls by itself. go-redis treats MaxRetries 0 as 3, and -1 as none, which
// its options then show as 0, or as -1 for a cluster.
func repeats(c Redis) bool {
	switch c := c.(type) {
	case *redis.Client:
		return c.Options().MaxRetries > 0
	case interface{ Options() *redis.ClusterOptions }:
		return c.Options().MaxRetries > 0
	case *redis.Ring:
		return c.Options().MaxRetries > 0
	}
	return false
}
