package queue

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/chatd/chatd/queue/option"
)

// Stats counts the tasks of a queue: the existing ones by state, and totals since the queue was created. At every
// instant, and so in every answer,
//
//	Enqueued = Ready + Delayed + Parked + Leased + Dead + Done + Dropped + Deleted
type Stats struct {
	Ready   map[Priority]int64
	Delayed int64
	Parked  int64 // waiting for a slot of their limits
	Leased  int64
	Dead    int64
	Paused  bool // in any partition
	// Oldest is how long the longest waiting ready task has been ready: since it was enqueued or due, for its next run
	// if it ran before. 0: none is ready.
	Oldest time.Duration

	Enqueued int64 // tasks enqueued
	Done     int64 // tasks completed
	Failed   int64 // runs whose handler failed
	Crashed  int64 // runs whose lease expired
	Buried   int64 // times that a task became a dead letter
	Dropped  int64 // dead letters dropped to make room for newer ones
	Deleted  int64 // tasks cancelled

	DeadBytes int64 // bytes of the dead letters: their payloads and about 60 for each
	Batched   int64 // tasks in batches that wait or run, or are dead; each batch counts as one task above

	// Unserved are kinds of waiting tasks that no server runs: of all servers, none that has a handler for them was at
	// work in this queue within the last 45 s. In order. They are found in a sample of each partition: the next 25 tasks
	// of every priority and the 100 that are due next, as far as these are small.
	Unserved []string
}

// ReadyAll is how many tasks could be claimed now, in all priorities.
func (s Stats) ReadyAll() int64 {
	var n int64
	for _, ready := range s.Ready {
		n += ready
	}
	return n
}

// Stats counts the tasks. The numbers of one partition are read at one instant.
func (c *Client) Stats(ctx context.Context) (Stats, error) {
	s := Stats{Ready: make(map[Priority]int64, len(priorities))}
	calls := make([]*call, c.partitions, c.partitions+1)
	for p := range calls {
		calls[p] = &call{Call: statsScript.On(c.work[p])}
	}
	served := &call{Call: servedScript.On(nil).Key("served", servedKey(c.prefix))}
	if err := c.run(ctx, append(calls, served)); err != nil {
		return s, fmt.Errorf("queue: stats: %w", err)
	}
	waiting := map[string]bool{}
	for _, one := range calls {
		values, err := one.cmd.Slice()
		if err != nil || !s.add(values, waiting) {
			return s, fmt.Errorf("queue: stats: unexpected answer %.200v", one.cmd)
		}
	}
	announced, err := served.cmd.StringSlice()
	if err != nil {
		return s, fmt.Errorf("queue: stats: unexpected answer %.200v", served.cmd)
	}
	s.Unserved = unserved(waiting, announced, c.name)
	return s, nil
}

// add adds the numbers of one partition, and the kinds of its sample to waiting.
func (s *Stats) add(values []any, waiting map[string]bool) bool {
	const numbers = 19
	if len(values) != numbers+1 {
		return false
	}
	var n [numbers]int64
	for i := range n {
		var ok bool
		if n[i], ok = values[i].(int64); !ok {
			return false
		}
	}
	s.Parked += n[18]
	kinds, ok := values[numbers].([]any)
	for _, kind := range kinds {
		name, _ := kind.(string)
		waiting[strings.TrimPrefix(name, KindPeriodic)] = true // one that fires is of no use without those that run
	}
	for i, p := range priorities {
		s.Ready[p] += n[i]
	}
	s.Paused = s.Paused || n[7] == 1
	s.Oldest = max(s.Oldest, option.Span(n[8]))
	for i, sum := range []*int64{&s.Delayed, &s.Leased, &s.Dead} {
		*sum += n[4+i]
	}
	for i, sum := range []*int64{&s.Enqueued, &s.Done, &s.Failed, &s.Crashed, &s.Buried, &s.Dropped, &s.Deleted, &s.DeadBytes, &s.Batched} {
		*sum += n[9+i]
	}
	return ok
}
