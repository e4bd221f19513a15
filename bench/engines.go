package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
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
	fill(ctx context.Context, n int, payload []byte) // n tasks that are ready
	run(workers int, handle func(payload []byte) error) (stop func())
	done(ctx context.Context) int64 // tasks completed, by what the engine itself stored
	close()
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

func (b *bench) ours(addr, name string) *ours { return partitioned(b, addr, name, 1) }

// partitioned is ours in some partitions. Their number is a property of all keys with a prefix.
func partitioned(b *bench, addr, name string, partitions int) *ours {
	o := queue.Options{
		Client: redis.NewClient(&redis.Options{Addr: addr, MaxRetries: -1, DisableIdentity: true, PoolSize: engineConns}),
		Queue:  name, Logger: slog.New(slog.DiscardHandler),
		Prefix: fmt.Sprintf("bench%d", partitions), Partitions: partitions,
	}
	return &ours{must(queue.NewClient(o)), o}
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

func (e *ours) fill(ctx context.Context, n int, payload []byte) {
	e.putAll(ctx, n, queue.Task{Kind: "k", Payload: payload})
}

// putAll enqueues n tasks like t, some thousands at a time.
func (e *ours) putAll(ctx context.Context, n int, t queue.Task) {
	for ; n > 0; n -= 5000 {
		must(e.EnqueueAll(ctx, slices.Repeat([]queue.Task{t}, min(n, 5000))))
	}
}

func (e *ours) run(workers int, handle func(payload []byte) error) (stop func()) {
	return e.serve(workers, func(s *queue.Server) {
		s.Handle("k", func(_ context.Context, t queue.Task) error { return handle(t.Payload) })
	})
}

// serve starts a server of the queue.
func (e *ours) serve(workers int, handle func(s *queue.Server)) (stop func()) {
	o := e.options
	o.Workers = workers
	s := must(queue.New(o))
	handle(s)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	return func() {
		cancel()
		ok(<-ended)
	}
}

func (e *ours) done(ctx context.Context) int64 { return must(e.Stats(ctx)).Done }

func (e *ours) close() { ok(e.options.Client.Close()) }

// peer is asynq with its defaults, except for its servers: one takes tasks one by one, so several in a process take more.
type peer struct {
	redis     asynq.RedisClientOpt
	name      string
	servers   int
	client    *asynq.Client
	inspector *asynq.Inspector
}

func newPeer(addr, name string, servers int) *peer {
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

func (e *peer) fill(ctx context.Context, n int, payload []byte) {
	parallel(n, fillCallers, func(int) error { return e.enqueue(ctx, payload) })
}

func (e *peer) run(workers int, handle func(payload []byte) error) (stop func()) {
	return e.serve(workers, asynq.Config{}, func(_ context.Context, t *asynq.Task) error { return handle(t.Payload()) })
}

// serve starts the servers, with so many workers in all.
func (e *peer) serve(workers int, c asynq.Config, handle func(context.Context, *asynq.Task) error) (stop func()) {
	c.Queues, c.LogLevel = map[string]int{e.name: 1}, asynq.FatalLevel
	running := make([]*asynq.Server, e.servers)
	for i := range running {
		c.Concurrency = (workers + i) / e.servers
		running[i] = asynq.NewServer(e.redis, c)
		ok(running[i].Start(asynq.HandlerFunc(handle)))
	}
	return func() {
		var wg sync.WaitGroup
		for _, s := range running {
			wg.Go(s.Shutdown)
		}
		wg.Wait()
	}
}

func (e *peer) done(context.Context) int64 {
	return int64(must(e.inspector.GetQueueInfo(e.name)).ProcessedTotal)
}

func (e *peer) close() { ok(errors.Join(e.client.Close(), e.inspector.Close())) }
