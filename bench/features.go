package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hibiken/asynq"

	"github.com/chatd/chatd/internal/redistest"
	"github.com/chatd/chatd/queue"
)

// features measures what both engines can do beside plain tasks: unique, batched, delayed and periodic ones. Neither asynq
// nor River, without its paid part, bounds tasks by a key.
func features(b *bench) {
	b.table.section(fmt.Sprintf("what tasks can ask for, beside asynq on the same server; the lowest and the highest of %d rounds", scaled(taskRounds)))
	server := redistest.Start(b.tb)
	defer server.Kill()
	for _, f := range []struct {
		name   string // of what is done
		ours   func(e *ours, n int) time.Duration
		theirs func(e *peer, n int) time.Duration
		n      int // tasks of asynq, and oursMore times as many of chatd
	}{
		{"unique tasks enqueued one by one, 16 callers", b.ourUniques, b.theirUniques, 10_000},
		{"16 callers enqueue, workers run batches of 100", b.ourBatches, b.theirBatches, 20_000},
		{"delayed tasks that are due together, from the first to the last", b.ourDelayed, b.theirDelayed, 5_000},
	} {
		n := max(scaled(f.n)/batchTasks, 1) * batchTasks
		var mine []rated
		for _, partitions := range []int{1, 16} {
			mine = append(mine, rated{fmt.Sprintf("chatd: the same, P = %d", partitions), func(name string) float64 {
				e := partitioned(b, server.Addr, name, partitions)
				defer e.close()
				return float64(n*oursMore) / f.ours(e, n*oursMore).Seconds()
			}})
		}
		versus(b, server, rated{"asynq, the better of 1 and 4 servers: " + f.name, func(name string) float64 {
			return best(server, peerServers[:2], func(servers int) float64 {
				e := newPeer(server.Addr, fmt.Sprint(name, "-", servers), servers)
				defer e.close()
				return float64(n) / f.theirs(e, n).Seconds()
			})
		}}, "%.1f", "asynq", mine...)
	}
	b.periodic(server)
}

func (b *bench) ourUniques(e *ours, n int) time.Duration {
	began := time.Now()
	parallel(n, 16, func(i int) error { return e.put(b.ctx, queue.Task{Kind: "k", Unique: fmt.Sprint("key ", i)}) })
	return time.Since(began)
}

func (b *bench) theirUniques(e *peer, n int) time.Duration {
	began := time.Now()
	parallel(n, 16, func(i int) error {
		_, err := e.client.EnqueueContext(b.ctx, asynq.NewTask("k", fmt.Append(nil, "key ", i)), asynq.Queue(e.name), asynq.Unique(time.Hour))
		return err
	})
	return time.Since(began)
}

// counted counts tasks that are handled.
type counted struct {
	want  int64
	n     atomic.Int64
	first sync.Once
	began time.Time     // the first of them
	all   chan struct{} // closed at the last
}

func newCounted(want int) *counted { return &counted{want: int64(want), all: make(chan struct{})} }

// add returns how many there are now.
func (c *counted) add(n int) int64 {
	c.first.Do(func() { c.began = time.Now() })
	now := c.n.Add(int64(n))
	if now == c.want {
		close(c.all)
	}
	return now
}

func (c *counted) wait(ctx context.Context) {
	select {
	case <-c.all:
	case <-ctx.Done():
		ok(fmt.Errorf("%d of %d tasks: %w", c.n.Load(), c.want, ctx.Err()))
	}
}

const batchTasks = 100 // of each group

func (b *bench) ourBatches(e *ours, n int) time.Duration {
	handled := newCounted(n)
	defer e.serve(taskWorkers, func(s *queue.Server) {
		s.HandleBatch("k", queue.Policy{}, func(_ context.Context, tasks []queue.Task) error { handled.add(len(tasks)); return nil })
	})()
	began := time.Now()
	parallel(n, 16, func(i int) error {
		return e.put(b.ctx, queue.Task{Kind: "k", Payload: []byte(taskPayload), Batch: &queue.Batch{Key: fmt.Sprint("group ", i%(n/batchTasks)), Max: batchTasks, MaxWait: time.Minute}})
	})
	handled.wait(b.ctx)
	return time.Since(began)
}

// theirBatches has the shortest grace period that asynq takes, though every group gets full.
func (b *bench) theirBatches(e *peer, n int) time.Duration {
	handled := newCounted(n)
	defer e.serve(taskWorkers, asynq.Config{
		GroupMaxSize: batchTasks, GroupGracePeriod: time.Second, GroupMaxDelay: time.Minute, TaskCheckInterval: checkInterval,
		GroupAggregator: asynq.GroupAggregatorFunc(func(_ string, tasks []*asynq.Task) *asynq.Task {
			return asynq.NewTask("k", binary.BigEndian.AppendUint64(nil, uint64(len(tasks))))
		}),
	}, func(_ context.Context, t *asynq.Task) error {
		handled.add(int(binary.BigEndian.Uint64(t.Payload())))
		return nil
	})()
	began := time.Now()
	parallel(n, 16, func(i int) error {
		_, err := e.client.EnqueueContext(b.ctx, asynq.NewTask("k", []byte(taskPayload)), asynq.Queue(e.name), asynq.Group(fmt.Sprint("group ", i%(n/batchTasks))))
		return err
	})
	handled.wait(b.ctx)
	return time.Since(began)
}

func (b *bench) ourDelayed(e *ours, n int) time.Duration {
	handled, due := newCounted(n), time.Now().Add(shorter(3*time.Second))
	e.putAll(b.ctx, n, queue.Task{Kind: "k", Payload: []byte(taskPayload), Due: due})
	defer e.run(taskWorkers, func([]byte) error { handled.add(1); return nil })()
	handled.wait(b.ctx)
	return time.Since(handled.began)
}

// checkInterval is how often asynq looks for tasks and for those that are due, where its defaults are 1 s and 5 s.
// Its times are whole seconds, so it begins tasks up to a second early.
const checkInterval = 10 * time.Millisecond

func (b *bench) theirDelayed(e *peer, n int) time.Duration {
	handled, due := newCounted(n), time.Now().Add(shorter(3*time.Second))
	parallel(n, fillCallers, func(int) error { return e.enqueueAt(b.ctx, due, []byte(taskPayload)) })
	defer e.serve(taskWorkers, asynq.Config{TaskCheckInterval: checkInterval, DelayedTaskCheckInterval: checkInterval},
		func(context.Context, *asynq.Task) error { handled.add(1); return nil })()
	handled.wait(b.ctx)
	return time.Since(handled.began)
}

// latenesses collects how late the first so many tasks begin.
type latenesses struct {
	*counted
	mu sync.Mutex
	by []time.Duration
}

func newLateness(want int) *latenesses { return &latenesses{counted: newCounted(want)} }

func (l *latenesses) add(by time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if int64(len(l.by)) < l.want {
		l.by = append(l.by, by)
		l.counted.add(1)
	}
}

// stamped handles a task whose payload is a stamp.
func (l *latenesses) stamped(payload []byte) error {
	l.add(sinceStamp(payload))
	return nil
}

// onSecond handles a task that comes on every second.
func (l *latenesses) onSecond() error {
	l.add(time.Since(time.Now().Truncate(time.Second)))
	return nil
}

// periodic compares when the occurrences of tasks begin that come every second. Those of asynq come on the second, those of
// chatd each at a moment of its own.
func (b *bench) periodic(server *redistest.Server) {
	n, times := scaled(1000), max(scaled(10), 2)
	late := newLateness(n * times)
	p := newPeer(server.Addr, "periodic", 1)
	scheduler := asynq.NewScheduler(p.redis, &asynq.SchedulerOpts{LogLevel: asynq.FatalLevel})
	for i := range n {
		must(scheduler.Register("@every 1s", asynq.NewTask("k", fmt.Append(nil, i)), asynq.Queue(p.name)))
	}
	stop := p.serve(taskWorkers, asynq.Config{TaskCheckInterval: checkInterval}, func(context.Context, *asynq.Task) error { return late.onSecond() })
	ok(scheduler.Start())
	late.wait(b.ctx)
	scheduler.Shutdown()
	stop()
	p.close()
	b.table.spread(fmt.Sprintf("asynq, one scheduler: lateness of %d tasks that come every second", n), late.by)
	server.Do("FLUSHALL")
	ourPeriodic(b, server, n, times)
}

// ourPeriodic measures it for n tasks of chatd until each has come so many times.
func ourPeriodic(b *bench, server *redistest.Server, n, times int) {
	const every = time.Second
	e, late := b.ours(server.Addr, "periodic"), newLateness(n*times)
	defer e.close()
	due := make([]time.Time, n) // one of the times of each
	for i := range n {
		id := fmt.Sprint("every-", i)
		ok(e.PutPeriodic(b.ctx, queue.Periodic{ID: id, Every: every, Kind: "k", Payload: binary.BigEndian.AppendUint64(nil, uint64(i))}))
		due[i] = must(e.GetPeriodic(b.ctx, id)).Next
	}
	defer e.run(taskWorkers, func(payload []byte) error {
		late.add(time.Since(due[binary.BigEndian.Uint64(payload)]) % every)
		return nil
	})()
	late.wait(b.ctx)
	b.table.spread(fmt.Sprintf("chatd: lateness of %d tasks that come every second", n), late.by)
}
