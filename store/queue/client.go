package queue

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/redis/go-redis/v9"
)

// Client enqueues tasks into one queue and counts them. It is safe for concurrent use.
type Client struct {
	rdb        redis.UniversalClient
	partitions int
	keys       []Keys
}

// NewClient returns a client of the queue that the first four options name.
func NewClient(o Options) (*Client, error) {
	o.setDefaults()
	if o.Client == nil {
		return nil, errors.New("queue: no Redis client")
	}
	if o.Partitions < 1 || o.Partitions > 1024 {
		return nil, fmt.Errorf("queue: %d partitions", o.Partitions)
	}
	for _, name := range []string{o.Prefix, o.Queue} {
		if name == "" || strings.ContainsAny(name, "{}:") || strings.ContainsFunc(name, notPrintable) {
			return nil, fmt.Errorf("queue: %q cannot stand in a key", name)
		}
	}
	c := &Client{rdb: o.Client, partitions: o.Partitions}
	for p := range o.Partitions {
		c.keys = append(c.keys, NewKeys(o.Prefix, p, o.Queue))
	}
	return c, nil
}

// Enqueue puts one task in. It returns the task's id, and false if nothing was put in
// because a task with its unique key is waiting or one with its id exists.
//
// An error of the network leaves open whether the task was put in; with an id of your own
// (NewID) you can repeat the call.
func (c *Client) Enqueue(ctx context.Context, t Task) (id string, ok bool, err error) {
	tasks := []Task{t}
	enqueued, err := c.EnqueueAll(ctx, tasks)
	return tasks[0].ID, err == nil && enqueued[0], err
}

// EnqueueAll puts many tasks in, in the order given, and writes the ids it makes into
// them. It says of each whether it was put in, as Enqueue does. Every 256 tasks of a
// partition are one atomic step, the whole is not.
func (c *Client) EnqueueAll(ctx context.Context, tasks []Task) ([]bool, error) {
	places := make([][]int, c.partitions)
	for i := range tasks {
		t := &tasks[i]
		if err := t.check(c.partitions); err != nil {
			return nil, err
		}
		p := c.place(t)
		if t.ID == "" {
			t.ID = NewID(p)
		}
		places[p] = append(places[p], i)
	}

	enqueued := make([]bool, len(tasks))
	for {
		var calls []*call
		var sent [][]int
		for p := range places {
			if len(places[p]) == 0 {
				continue
			}
			n := min(len(places[p]), enqueueMax)
			calls = append(calls, c.enqueueCall(p, tasks, places[p][:n]))
			sent = append(sent, places[p][:n])
			places[p] = places[p][n:]
		}
		if len(calls) == 0 {
			return enqueued, nil
		}
		if err := run(ctx, c.rdb, calls); err != nil {
			return enqueued, fmt.Errorf("queue: enqueue: %w", err)
		}
		for i, one := range calls {
			answers, err := one.cmd.Int64Slice()
			if err != nil || len(answers) != len(sent[i]) {
				return enqueued, fmt.Errorf("queue: enqueue: unexpected answer %v", one.cmd)
			}
			for j, answer := range answers {
				enqueued[sent[i][j]] = answer == 1
			}
		}
	}
}

// place returns the partition of a task: that of its id, or of its subject, or any. Tasks
// with a unique key meet in the partition of the key.
func (c *Client) place(t *Task) int {
	if p, ok := PartitionOf(t.ID); ok {
		return p
	}
	if t.Subject != "" {
		return Partition(t.Subject, c.partitions)
	}
	if t.Unique != "" {
		return Partition(t.Unique, c.partitions)
	}
	return rand.IntN(c.partitions)
}

func (c *Client) enqueueCall(p int, tasks []Task, places []int) *call {
	args := make([]any, 0, 9*len(places))
	for _, i := range places {
		t := &tasks[i]
		args = append(args, t.ID, t.Kind, t.Payload, t.Priority.String(), t.dueMs(), ceilMs(t.Delay),
			t.Unique, t.AttemptsMax, 0)
	}
	return &call{script: enqueueScript, keys: c.keys[p].Enqueue(), args: args}
}

// Stats counts the tasks of a queue: those that are there by state, and totals since the
// queue began. At every instant, and so in every answer,
//
//	Enqueued = Ready + Delayed + Leased + Dead + Done + Dropped
type Stats struct {
	Ready   map[Priority]int64
	Delayed int64
	Leased  int64
	Dead    int64
	Paused  bool // in any partition

	Enqueued int64 // tasks put in
	Done     int64 // tasks completed
	Failed   int64 // runs whose handler failed
	Crashed  int64 // runs whose lease ended
	Buried   int64 // tasks that became dead letters
	Dropped  int64 // dead letters dropped for newer ones
}

// ReadyAll is how many tasks could be claimed now, over all priorities.
func (s Stats) ReadyAll() int64 {
	var n int64
	for _, ready := range s.Ready {
		n += ready
	}
	return n
}

// Stats counts the tasks. The numbers of one partition are of one instant.
func (c *Client) Stats(ctx context.Context) (Stats, error) {
	s := Stats{Ready: make(map[Priority]int64, len(priorities))}
	calls := make([]*call, c.partitions)
	for p := range calls {
		calls[p] = &call{script: statsScript, keys: c.keys[p].work()}
	}
	if err := run(ctx, c.rdb, calls); err != nil {
		return s, fmt.Errorf("queue: stats: %w", err)
	}
	for _, one := range calls {
		n, err := one.cmd.Int64Slice()
		if err != nil || len(n) != 14 {
			return s, fmt.Errorf("queue: stats: unexpected answer %v", one.cmd)
		}
		for i, p := range priorities {
			s.Ready[p] += n[i]
		}
		s.Paused = s.Paused || n[7] == 1
		for i, sum := range []*int64{&s.Delayed, &s.Leased, &s.Dead} {
			*sum += n[4+i]
		}
		for i, sum := range []*int64{&s.Enqueued, &s.Done, &s.Failed, &s.Crashed, &s.Buried, &s.Dropped} {
			*sum += n[8+i]
		}
	}
	return s, nil
}
