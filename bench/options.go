package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/chatd/chatd/internal/redistest"
	"github.com/chatd/chatd/queue"
)

const optionKeys = 1000 // that the tasks with an option share

// optionLoad is what tasks ask for: task makes one of a key. nil: each has a unique key of its own.
type optionLoad struct {
	name  string
	task  func(key string) queue.Task
	takes time.Duration // how long a handler waits
}

var optionLoads = append([]optionLoad{
	{"without options", plain, 0},
	{"unique, each with another key", nil, 0},
	{"one at a time of each of 1,000 keys", oneAtATime, 0},
	{"with a rate of 1,000 keys that is never reached", func(key string) queue.Task {
		return queue.Task{Rate: &queue.Rate{Key: key, N: 1_000_000, Per: time.Second}}
	}, 0},
	{"in batches of 100 of 1,000 keys", func(key string) queue.Task {
		return queue.Task{Batch: &queue.Batch{Key: key, Max: scaled(100), MaxWait: time.Minute}}
	}, 0},
}, limitedWork(100*time.Microsecond, 300*time.Microsecond, time.Millisecond)...)

// limitedWork are plain and limited tasks whose handlers wait: from which work on does the limit no longer show?
func limitedWork(takes ...time.Duration) (loads []optionLoad) {
	for _, d := range takes {
		work := fmt.Sprintf(", %g ms of work", float64(d)/float64(time.Millisecond))
		loads = append(loads, optionLoad{"without options" + work, plain, d}, optionLoad{"one at a time of each of 1,000 keys" + work, oneAtATime, d})
	}
	return loads
}

// tasks is how many of them there are for each key: with work, fewer show as much.
func (l *optionLoad) tasks() int {
	if l.takes > 0 {
		return scaled(30)
	}
	return scaled(100)
}

func plain(string) queue.Task { return queue.Task{} }

func oneAtATime(key string) queue.Task { return queue.Task{Limit: &queue.Limit{Key: key, Max: 1}} }

// options measures what the options of tasks cost: 100,000 tasks with each, 30,000 where handlers wait, all enqueued
// before, in turns. The tasks of a key must run in their order.
func options(b *bench) {
	b.table.section(fmt.Sprintf("tasks with options through %d workers; the lowest and the highest of %d rounds", taskWorkers, scaled(taskRounds)))
	// It does not rewrite its journal: the tasks of one load would do that to the next one.
	server := redistest.Start(b.tb, "--auto-aof-rewrite-percentage", "0")
	defer server.Kill()
	for _, partitions := range []int{1, 16} {
		rates, ratios := make([][]float64, len(optionLoads)), make([][]float64, len(optionLoads))
		for round := range scaled(taskRounds) {
			against := 0
			for i, load := range optionLoads {
				rate := optional(b, partitioned(b, server.Addr, fmt.Sprint(round, "-", i), partitions), load)
				server.Do("FLUSHALL")
				rates[i] = append(rates[i], rate)
				if load.takes != optionLoads[against].takes {
					against = i
				}
				ratios[i] = append(ratios[i], rate/rates[against][round])
			}
		}
		for i, load := range optionLoads {
			r := row{fmt.Sprintf("%s, P = %d", load.name, partitions), spanned("%.0f", rates[i]) + "/s", "", ""}
			if strings.HasPrefix(load.name, "one at a time") {
				r.ratio, r.against = spanned("%.2f", ratios[i]), "without options; target 0.8"
			} else if !strings.HasPrefix(load.name, "without") {
				r.ratio, r.against = spanned("%.2f", ratios[i]), "without options"
			}
			b.table.add(r)
		}
	}
}

// optional returns the rate at which the tasks of a load are completed. It closes the engine.
func optional(b *bench, e *ours, load optionLoad) float64 {
	defer e.close()
	n := load.tasks() * optionKeys
	for at := 0; at < n; at += 5000 {
		tasks := make([]queue.Task, min(5000, n-at))
		for i := range tasks {
			number := at + i
			if load.task == nil {
				tasks[i].Unique = fmt.Sprint("key ", number)
			} else {
				tasks[i] = load.task(fmt.Sprint("key ", number%optionKeys))
			}
			if tasks[i].Kind = "k"; tasks[i].Batch != nil {
				tasks[i].Kind = "batched"
			}
			tasks[i].Payload = binary.BigEndian.AppendUint64(make([]byte, 0, 40), uint64(number))[:40]
		}
		must(e.EnqueueAll(b.ctx, tasks))
	}
	return inOrder(b, e, n, load.takes)
}

// inOrder runs n tasks, and returns how many were completed in a second.
func inOrder(b *bench, e *ours, n int, takes time.Duration) float64 {
	handled := newCounted(n)
	var mu sync.Mutex
	next := make([]int, optionKeys)
	var astray error
	note := func(tasks ...queue.Task) error {
		for _, t := range tasks {
			// Whatever the tasks ask for, the handlers do the same.
			number := int(binary.BigEndian.Uint64(t.Payload))
			key, at := number%optionKeys, number/optionKeys
			mu.Lock()
			if t.Limit != nil && at != next[key] {
				astray = fmt.Errorf("task %d of key %d ran as its number %d", at, key, next[key])
			}
			next[key]++
			mu.Unlock()
		}
		handled.add(len(tasks))
		return nil
	}
	began := time.Now()
	stop := e.serve(taskWorkers, func(s *queue.Server) {
		s.Handle("k", func(_ context.Context, t queue.Task) error {
			defer time.Sleep(takes)
			return note(t)
		})
		s.HandleBatch("batched", queue.Policy{}, func(_ context.Context, tasks []queue.Task) error { return note(tasks...) })
	})
	handled.wait(b.ctx)
	for left := int64(1); left > 0; {
		stats := must(e.Stats(b.ctx))
		left = stats.Leased + stats.ReadyAll() + stats.Parked
	}
	took := time.Since(began)
	stop()
	ok(astray)
	return float64(n) / took.Seconds()
}
