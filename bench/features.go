package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hibiken/asynq"

	"github.com/chatd/chatd/internal/redistest"
	"github.com/chatd/chatd/queue"
)

// features measures what both engines can do beside plain tasks: unique, batched, delayed and periodic ones. Neither asynq
// nor River, without its paid part, bounds tasks by a key.
func features(b *bench) error {
	b.table.section(fmt.Sprintf("what tasks can ask for, beside asynq on the same server; the lowest and the highest of %d rounds", scaled(taskRounds)))
	server := redistest.Start(b.tb)
	defer server.Kill()
	for _, f := range []struct {
		name   string // of what is done
		ours   func(e *ours, n int) (time.Duration, error)
		theirs func(e *peer, n int) (time.Duration, error)
		n      int // tasks of asynq, and oursMore times as many of chatd
	}{
		{"unique tasks enqueued one by one, 16 callers", b.ourUniques, b.theirUniques, 10_000},
		{"16 callers enqueue, workers run batches of 100", b.ourBatches, b.theirBatches, 20_000},
		{"delayed tasks that are due together, from the first to the last", b.ourDelayed, b.theirDelayed, 5_000},
	} {
		if err := feature(b, server, f.name, f.n, f.ours, f.theirs); err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
	}
	return b.periodic(server)
}

var featurePartitions = []int{1, 16} // of chatd

// feature runs one thing on each engine in turn, several rounds.
func feature(b *bench, server *redistest.Server, name string, n int,
	mine func(e *ours, n int) (time.Duration, error), theirs func(e *peer, n int) (time.Duration, error)) error {
	var peers []float64
	rates, ratios := make([][]float64, len(featurePartitions)), make([][]float64, len(featurePartitions))
	n = max(scaled(n)/batchTasks, 1) * batchTasks
	for round := range scaled(taskRounds) {
		best := 0.0
		for _, servers := range peerServers[:min(2, scaled(len(peerServers)))] {
			took, err := theirs(newPeer(server.Addr, fmt.Sprint(round, "-", servers), servers).(*peer), n)
			if err != nil {
				return fmt.Errorf("asynq: %w", err)
			}
			best = max(best, float64(n)/took.Seconds())
			server.Do("FLUSHALL")
		}
		peers = append(peers, best)
		for i, partitions := range featurePartitions {
			e, err := partitioned(b, server.Addr, fmt.Sprint(round), partitions)
			if err != nil {
				return err
			}
			took, err := mine(e.(*ours), n*oursMore)
			if err != nil {
				return err
			}
			server.Do("FLUSHALL")
			rate := float64(n*oursMore) / took.Seconds()
			rates[i], ratios[i] = append(rates[i], rate), append(ratios[i], rate/best)
		}
	}
	b.table.count("asynq, the better of 1 and 4 servers: "+name, "%s/s", spanned("%.0f", peers))
	for i, partitions := range featurePartitions {
		b.table.add(row{fmt.Sprintf("chatd: the same, P = %d", partitions), spanned("%.0f", rates[i]) + "/s", spanned("%.1f", ratios[i]), "asynq"})
	}
	return nil
}

func (b *bench) ourUniques(e *ours, n int) (time.Duration, error) {
	defer func() { _ = e.close() }()
	began := time.Now()
	_, err := parallel(n, 16, func(i int) error { return e.put(b.ctx, queue.Task{Kind: "k", Unique: fmt.Sprint("key ", i)}) })
	return time.Since(began), err
}

func (b *bench) theirUniques(e *peer, n int) (time.Duration, error) {
	defer func() { _ = e.close() }()
	began := time.Now()
	_, err := parallel(n, 16, func(i int) error {
		_, err := e.client.EnqueueContext(b.ctx, asynq.NewTask("k", fmt.Append(nil, "key ", i)), asynq.Queue(e.name), asynq.Unique(time.Hour))
		return err
	})
	return time.Since(began), err
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

func (c *counted) add(n int) {
	c.first.Do(func() { c.began = time.Now() })
	if c.n.Add(int64(n)) == c.want {
		close(c.all)
	}
}

func (c *counted) wait(ctx context.Context) error {
	select {
	case <-c.all:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%d of %d tasks: %w", c.n.Load(), c.want, ctx.Err())
	}
}

const batchTasks = 100 // of each group

func (b *bench) ourBatches(e *ours, n int) (time.Duration, error) {
	defer func() { _ = e.close() }()
	handled := newCounted(n)
	stop, err := e.serve(func(s *queue.Server) {
		s.HandleBatch("k", queue.Policy{}, func(_ context.Context, tasks []queue.Task) error { handled.add(len(tasks)); return nil })
	})
	if err != nil {
		return 0, err
	}
	defer stop()
	began := time.Now()
	if _, err := parallel(n, 16, func(i int) error {
		return e.put(b.ctx, queue.Task{Kind: "k", Payload: []byte(taskPayload), Batch: &queue.Batch{Key: fmt.Sprint("group ", i%(n/batchTasks)), Max: batchTasks, MaxWait: time.Minute}})
	}); err != nil {
		return 0, err
	}
	err = handled.wait(b.ctx)
	return time.Since(began), err
}

// theirBatches has the shortest grace period that asynq takes, though every group gets full.
func (b *bench) theirBatches(e *peer, n int) (time.Duration, error) {
	defer func() { _ = e.close() }()
	handled := newCounted(n)
	c := asynq.Config{
		GroupMaxSize: batchTasks, GroupGracePeriod: time.Second, GroupMaxDelay: time.Minute,
		GroupAggregator: asynq.GroupAggregatorFunc(func(_ string, tasks []*asynq.Task) *asynq.Task {
			return asynq.NewTask("k", binary.BigEndian.AppendUint64(nil, uint64(len(tasks))))
		}),
	}
	stop, err := e.serve(c, func(_ context.Context, t *asynq.Task) error {
		handled.add(int(binary.BigEndian.Uint64(t.Payload())))
		return nil
	})
	if err != nil {
		return 0, err
	}
	defer stop()
	began := time.Now()
	if _, err := parallel(n, 16, func(i int) error {
		_, err := e.client.EnqueueContext(b.ctx, asynq.NewTask("k", []byte(taskPayload)), asynq.Queue(e.name), asynq.Group(fmt.Sprint("group ", i%(n/batchTasks))))
		return err
	}); err != nil {
		return 0, err
	}
	err = handled.wait(b.ctx)
	return time.Since(began), err
}

func (b *bench) ourDelayed(e *ours, n int) (time.Duration, error) {
	defer func() { _ = e.close() }()
	handled, due := newCounted(n), time.Now().Add(shorter(3*time.Second))
	if err := e.putAll(b.ctx, n, queue.Task{Kind: "k", Payload: []byte(taskPayload), Due: due}); err != nil {
		return 0, err
	}
	stop, err := e.serve(func(s *queue.Server) {
		s.Handle("k", func(context.Context, queue.Task) error { handled.add(1); return nil })
	})
	if err != nil {
		return 0, err
	}
	defer stop()
	err = handled.wait(b.ctx)
	return time.Since(handled.began), err
}

// checkInterval is how often asynq looks for tasks and for those that are due, where its defaults are 1 s and 5 s.
// Its times are whole seconds, so it begins tasks up to a second early.
const checkInterval = 10 * time.Millisecond

func (b *bench) theirDelayed(e *peer, n int) (time.Duration, error) {
	defer func() { _ = e.close() }()
	handled, due := newCounted(n), time.Now().Add(shorter(3*time.Second))
	if _, err := parallel(n, fillCallers, func(int) error { return e.enqueueAt(b.ctx, due, []byte(taskPayload)) }); err != nil {
		return 0, err
	}
	stop, err := e.serve(asynq.Config{DelayedTaskCheckInterval: checkInterval}, func(context.Context, *asynq.Task) error { handled.add(1); return nil })
	if err != nil {
		return 0, err
	}
	defer stop()
	err = handled.wait(b.ctx)
	return time.Since(handled.began), err
}

// serve starts a server of the queue with the usual number of workers.
func (e *ours) serve(handle func(s *queue.Server)) (stop func(), err error) {
	o := e.options
	o.Workers = taskWorkers
	s, err := queue.New(o)
	if err != nil {
		return nil, err
	}
	handle(s)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	return func() {
		cancel()
		if err := <-ended; err != nil {
			fmt.Fprintln(os.Stderr, "the task server ended with:", err)
		}
	}, nil
}

// serve starts the servers of asynq with the usual number of workers in all.
func (e *peer) serve(c asynq.Config, handle func(context.Context, *asynq.Task) error) (stop func(), err error) {
	c.Queues, c.LogLevel, c.TaskCheckInterval = map[string]int{e.name: 1}, asynq.FatalLevel, checkInterval
	var running []*asynq.Server
	stop = func() {
		var wg sync.WaitGroup
		for _, s := range running {
			wg.Go(s.Shutdown)
		}
		wg.Wait()
	}
	for i := range e.servers {
		c.Concurrency = (taskWorkers + i) / e.servers
		s := asynq.NewServer(e.redis, c)
		if err := s.Start(asynq.HandlerFunc(handle)); err != nil {
			stop()
			return nil, err
		}
		running = append(running, s)
	}
	return stop, nil
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

// periodic compares when the occurrences of tasks begin that come every second. Those of asynq come on the second, those of
// chatd each at a moment of its own.
func (b *bench) periodic(server *redistest.Server) error {
	n, times := scaled(1000), max(scaled(10), 2)
	late := newLateness(n * times)
	p := newPeer(server.Addr, "periodic", 1).(*peer)
	scheduler := asynq.NewScheduler(p.redis, &asynq.SchedulerOpts{LogLevel: asynq.FatalLevel})
	for i := range n {
		if _, err := scheduler.Register("@every 1s", asynq.NewTask("k", fmt.Append(nil, i)), asynq.Queue(p.name)); err != nil {
			return err
		}
	}
	stop, err := p.serve(asynq.Config{}, func(context.Context, *asynq.Task) error {
		late.add(time.Since(time.Now().Truncate(time.Second)))
		return nil
	})
	if err != nil {
		return err
	}
	if err = scheduler.Start(); err == nil {
		err = late.wait(b.ctx)
		scheduler.Shutdown()
	}
	stop()
	if err = errors.Join(err, p.close()); err != nil {
		return err
	}
	b.table.spread(fmt.Sprintf("asynq, one scheduler: lateness of %d tasks that come every second", n), late.by)
	server.Do("FLUSHALL")
	return ourPeriodic(b, server, n, times)
}

// ourPeriodic measures it for n tasks of chatd until each has come so many times.
func ourPeriodic(b *bench, server *redistest.Server, n, times int) error {
	const every = time.Second
	e, err := b.ours(server.Addr, "periodic")
	if err != nil {
		return err
	}
	a, late := e.(*ours), newLateness(n*times)
	due := make([]time.Time, n) // one of the times of each
	for i := range n {
		if err := a.PutPeriodic(b.ctx, queue.Periodic{ID: fmt.Sprint("every-", i), Every: every, Kind: "k", Payload: binary.BigEndian.AppendUint64(nil, uint64(i))}); err != nil {
			return err
		}
		info, err := a.GetPeriodic(b.ctx, fmt.Sprint("every-", i))
		if err != nil {
			return err
		}
		due[i] = info.Next
	}
	stop, err := a.serve(func(s *queue.Server) {
		s.Handle("k", func(_ context.Context, t queue.Task) error {
			late.add(time.Since(due[binary.BigEndian.Uint64(t.Payload)]) % every)
			return nil
		})
	})
	if err != nil {
		return err
	}
	err = late.wait(b.ctx)
	stop()
	b.table.spread(fmt.Sprintf("chatd: lateness of %d tasks that come every second", n), late.by)
	return errors.Join(err, a.close())
}
