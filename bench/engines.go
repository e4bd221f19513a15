package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"github.com/chatd/chatd/queue"
)

// engine is a task queue beside which another is measured. Each has a queue of its own on the same server.
type engine interface {
	enqueue(ctx context.Context, payload []byte) error
	enqueueAt(ctx context.Context, due time.Time, payload []byte) error
	fill(ctx context.Context, n int, payload []byte) error // n tasks that are ready
	run(workers int, handle func(payload []byte) error) (stop func(), err error)
	done(ctx context.Context) (int64, error) // tasks completed, by what the engine itself stored
	close() error
}

const (
	engineConns = 64 // of each engine, so that none waits for a connection where the other does not
	fillCallers = 64
	taskPayload = "a payload of some forty bytes, as is usual"
)

// ours is chatd's engine as another program would use it.
type ours struct {
	*queue.Client
	options queue.Options
}

func (b *bench) ours(addr, name string) (engine, error) { return partitioned(b, addr, name, 1) }

// partitioned is ours in some partitions. Their number is a property of all keys with a prefix.
func partitioned(b *bench, addr, name string, partitions int) (engine, error) {
	o := queue.Options{
		Client: redis.NewClient(&redis.Options{Addr: addr, MaxRetries: -1, DisableIdentity: true, PoolSize: engineConns}),
		Queue:  name, Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
		Prefix: fmt.Sprintf("bench%d", partitions), Partitions: partitions,
	}
	c, err := queue.NewClient(o)
	return &ours{c, o}, err
}

func (e *ours) enqueue(ctx context.Context, payload []byte) error {
	return e.put(ctx, queue.Task{Kind: "k", Payload: payload})
}

func (e *ours) enqueueAt(ctx context.Context, due time.Time, payload []byte) error {
	return e.put(ctx, queue.Task{Kind: "k", Payload: payload, Due: due})
}

func (e *ours) put(ctx context.Context, t queue.Task) error {
	_, enqueued, err := e.Enqueue(ctx, t)
	if err == nil && !enqueued {
		err = errors.New("a task was not put in")
	}
	return err
}

func (e *ours) fill(ctx context.Context, n int, payload []byte) error {
	return e.putAll(ctx, n, queue.Task{Kind: "k", Payload: payload})
}

// putAll enqueues n tasks like t, some thousands at a time.
func (e *ours) putAll(ctx context.Context, n int, t queue.Task) error {
	for n > 0 {
		tasks := make([]queue.Task, min(n, 5000))
		for i := range tasks {
			tasks[i] = t
		}
		if _, err := e.EnqueueAll(ctx, tasks); err != nil {
			return err
		}
		n -= len(tasks)
	}
	return nil
}

func (e *ours) run(workers int, handle func(payload []byte) error) (func(), error) {
	o := e.options
	o.Workers = workers
	s, err := queue.New(o)
	if err != nil {
		return nil, err
	}
	s.Handle("k", func(_ context.Context, t queue.Task) error { return handle(t.Payload) })
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		_ = s.Run(ctx) // what it did not store shows as tasks that are not done
		close(ended)
	}()
	return func() {
		cancel()
		<-ended
	}, nil
}

func (e *ours) done(ctx context.Context) (int64, error) {
	s, err := e.Stats(ctx)
	return s.Done, err
}

func (e *ours) close() error { return e.options.Client.Close() }

// peer is asynq with its defaults, except for its servers: one takes tasks one by one, so several in a process take more.
type peer struct {
	redis     asynq.RedisClientOpt
	name      string
	servers   int
	client    *asynq.Client
	inspector *asynq.Inspector
}

func newPeer(addr, name string, servers int) engine {
	o := asynq.RedisClientOpt{Addr: addr, PoolSize: engineConns}
	return &peer{o, name, servers, asynq.NewClient(o), asynq.NewInspector(o)}
}

func (e *peer) enqueue(ctx context.Context, payload []byte) error {
	_, err := e.client.EnqueueContext(ctx, asynq.NewTask("k", payload), asynq.Queue(e.name))
	return err
}

func (e *peer) enqueueAt(ctx context.Context, due time.Time, payload []byte) error {
	_, err := e.client.EnqueueContext(ctx, asynq.NewTask("k", payload), asynq.Queue(e.name), asynq.ProcessAt(due))
	return err
}

func (e *peer) fill(ctx context.Context, n int, payload []byte) error {
	_, err := parallel(n, fillCallers, func(int) error { return e.enqueue(ctx, payload) })
	return err
}

func (e *peer) run(workers int, handle func(payload []byte) error) (func(), error) {
	var running []*asynq.Server
	stop := func() {
		var wg sync.WaitGroup
		for _, s := range running {
			wg.Go(s.Shutdown)
		}
		wg.Wait()
	}
	for i := range e.servers {
		s := asynq.NewServer(e.redis, asynq.Config{
			Concurrency: (workers + i) / e.servers, Queues: map[string]int{e.name: 1}, LogLevel: asynq.FatalLevel,
		})
		err := s.Start(asynq.HandlerFunc(func(_ context.Context, t *asynq.Task) error { return handle(t.Payload()) }))
		if err != nil {
			stop()
			return nil, err
		}
		running = append(running, s)
	}
	return stop, nil
}

func (e *peer) done(context.Context) (int64, error) {
	info, err := e.inspector.GetQueueInfo(e.name)
	if err != nil {
		return 0, fmt.Errorf("asynq: %w", err)
	}
	return int64(info.ProcessedTotal), nil
}

func (e *peer) close() error { return errors.Join(e.client.Close(), e.inspector.Close()) }
