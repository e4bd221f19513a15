package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"

	"github.com/chatd/chatd/internal/pgtest"
	"github.com/chatd/chatd/internal/redistest"
	"github.com/chatd/chatd/queue"
)

// riverWorkers are numbers of River's workers: the same as of the others, and what its own benchmark takes.
var riverWorkers = []int{taskWorkers, 2000}

// riverArgs are the payload of a task.
type riverArgs struct {
	Payload []byte `json:"payload"`
}

// Kind names the worker.
func (riverArgs) Kind() string { return "job" }

type riverWorker struct {
	river.WorkerDefaults[riverArgs]
	handle func(payload []byte) error
}

func (w *riverWorker) Work(_ context.Context, j *river.Job[riverArgs]) error {
	return w.handle(j.Args.Payload)
}

// riverEngine is River on a database of its own, with the pauses between fetches of its own benchmark in place of its
// defaults, which are longer.
type riverEngine struct {
	pool    *pgxpool.Pool
	client  *river.Client[pgx.Tx]
	workers int
}

func newRiver(ctx context.Context, url string, workers int) (*riverEngine, error) {
	c, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, err
	}
	c.MaxConns = engineConns
	pool, err := pgxpool.NewWithConfig(ctx, c)
	if err != nil {
		return nil, err
	}
	e := &riverEngine{pool: pool, workers: workers}
	migrator, err := rivermigrate.New(riverpgxv5.New(pool), &rivermigrate.Config{Logger: quiet()})
	if err == nil {
		_, err = migrator.Migrate(ctx, rivermigrate.DirectionUp, nil)
	}
	if err == nil {
		e.client, err = river.NewClient(riverpgxv5.New(pool), &river.Config{Logger: quiet()})
	}
	if err != nil {
		pool.Close()
		return nil, fmt.Errorf("river: %w", err)
	}
	return e, nil
}

func quiet() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }

func (e *riverEngine) enqueue(ctx context.Context, payload []byte) error {
	_, err := e.client.Insert(ctx, riverArgs{payload}, nil)
	return err
}

func (e *riverEngine) enqueueAt(ctx context.Context, due time.Time, payload []byte) error {
	_, err := e.client.Insert(ctx, riverArgs{payload}, &river.InsertOpts{ScheduledAt: due})
	return err
}

// enqueueUnique enqueues a job of which only one may exist.
func (e *riverEngine) enqueueUnique(ctx context.Context, key string) error {
	_, err := e.client.Insert(ctx, riverArgs{[]byte(key)}, &river.InsertOpts{UniqueOpts: river.UniqueOpts{ByArgs: true}})
	return err
}

func (e *riverEngine) fill(ctx context.Context, n int, payload []byte) error {
	return e.fillWith(ctx, n, river.InsertManyParams{Args: riverArgs{payload}})
}

// fillWith inserts n jobs, some thousands at a time.
func (e *riverEngine) fillWith(ctx context.Context, n int, like river.InsertManyParams) error {
	for n > 0 {
		params := make([]river.InsertManyParams, min(n, 5000))
		for i := range params {
			params[i] = like
		}
		if _, err := e.client.InsertManyFast(ctx, params); err != nil {
			return err
		}
		n -= len(params)
	}
	return nil
}

// run starts the client that works, with as many workers as the engine was made with.
func (e *riverEngine) run(_ int, handle func(payload []byte) error) (func(), error) {
	return e.runPeriodic(nil, handle)
}

// runPeriodic is run with periodic jobs, which River has in the client.
func (e *riverEngine) runPeriodic(periodic []*river.PeriodicJob, handle func(payload []byte) error) (func(), error) {
	workers := river.NewWorkers()
	river.AddWorker(workers, &riverWorker{handle: handle})
	client, err := river.NewClient(riverpgxv5.New(e.pool), &river.Config{
		Queues:       map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: e.workers}},
		PeriodicJobs: periodic, Workers: workers, Logger: quiet(), FetchCooldown: 2 * time.Millisecond, FetchPollInterval: 20 * time.Millisecond,
	})
	if err != nil {
		return nil, err
	}
	if err := client.Start(context.Background()); err != nil {
		return nil, err
	}
	return func() { _ = client.Stop(context.Background()) }, nil
}

func (e *riverEngine) done(ctx context.Context) (n int64, err error) {
	err = e.pool.QueryRow(ctx, "SELECT count(*) FROM river_job WHERE state = 'completed'").Scan(&n)
	return n, err
}

func (e *riverEngine) close() error {
	e.pool.Close()
	return nil
}

var riverWorkloads = []workload{
	{name: "40 bytes, no-op handler", bytes: 40, partitions: 1, tasks: 10_000},
	{name: "a handler of 1 ms", bytes: 40, takes: time.Millisecond, partitions: 1, tasks: 10_000},
	{name: "16 callers enqueue at the same time", bytes: 40, live: true, partitions: 1, tasks: 10_000},
}

// besideRiver measures the task engine beside River on PostgreSQL. Neither waits for a disk: Redis keeps its tasks in memory,
// and PostgreSQL answers a commit before it is written.
func besideRiver(b *bench) error {
	b.table.section(fmt.Sprintf("tasks beside River on PostgreSQL (synchronous_commit=off); the lowest and the highest of %d rounds", scaled(taskRounds)))
	server := redistest.Start(b.tb)
	defer server.Kill()
	pg := pgtest.Start(b.tb, "synchronous_commit=off", "shared_buffers=256MB", "max_wal_size=4GB")
	for _, w := range riverWorkloads {
		if err := b.beside(pg, server, w); err != nil {
			return fmt.Errorf("river: %s: %w", w.name, err)
		}
	}
	for _, part := range []func(*bench, *pgtest.Server, *redistest.Server) error{uniques, riverDelayed, riverLateness, riverPeriodic} {
		if err := part(b, pg, server); err != nil {
			return err
		}
		server.Do("FLUSHALL")
	}
	return nil
}

// beside runs a workload on each engine in turn, several rounds.
func (b *bench) beside(pg *pgtest.Server, server *redistest.Server, w workload) error {
	var rates, peers, ratios []float64
	for round := range scaled(taskRounds) {
		best := 0.0
		for _, workers := range riverWorkers[:min(len(riverWorkers), scaled(len(riverWorkers)))] {
			e, err := newRiver(b.ctx, pg.Database(), workers)
			if err != nil {
				return err
			}
			rate, err := worked(b, e, w)
			if err != nil {
				return err
			}
			best = max(best, rate)
		}
		e, err := partitioned(b, server.Addr, fmt.Sprint(round), w.partitions)
		if err != nil {
			return err
		}
		more := w
		more.tasks *= oursMore
		rate, err := worked(b, e, more)
		if err != nil {
			return err
		}
		server.Do("FLUSHALL")
		rates, peers, ratios = append(rates, rate), append(peers, best), append(ratios, rate/best)
	}
	b.table.count("River, the better of 50 and 2,000 workers: "+w.name, "%s/s", spanned("%.0f", peers))
	b.table.add(row{"chatd, 50 workers: the same", spanned("%.0f", rates) + "/s", spanned("%.1f", ratios), "River"})
	return nil
}

// uniques compares single enqueues of tasks with unique keys, each of them another one.
func uniques(b *bench, pg *pgtest.Server, server *redistest.Server) error {
	var rates, peers, ratios []float64
	for round := range scaled(taskRounds) {
		p, err := newRiver(b.ctx, pg.Database(), taskWorkers)
		if err != nil {
			return err
		}
		peer, err := parallel(scaled(10_000), 16, func(i int) error { return p.enqueueUnique(b.ctx, fmt.Sprint("key ", i)) })
		if err != nil {
			return err
		}
		a, err := b.ours(server.Addr, fmt.Sprint("unique", round))
		if err != nil {
			return err
		}
		rate, err := parallel(scaled(50_000), 16, func(i int) error {
			return a.(*ours).put(b.ctx, queue.Task{Kind: "k", Unique: fmt.Sprint("key ", i)})
		})
		if err != nil {
			return err
		}
		if err := closeAll(a, p); err != nil {
			return err
		}
		server.Do("FLUSHALL")
		peers, rates, ratios = append(peers, peer), append(rates, rate), append(ratios, rate/peer)
	}
	b.table.count("River: unique tasks enqueued one by one, 16 callers", "%s/s", spanned("%.0f", peers))
	b.table.add(row{"chatd: the same", spanned("%.0f", rates) + "/s", spanned("%.1f", ratios), "River"})
	return nil
}
