package main

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"

	"github.com/chatd/chatd/internal/pgtest"
	"github.com/chatd/chatd/internal/redistest"
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

func newRiver(ctx context.Context, url string, workers int) *riverEngine {
	c := must(pgxpool.ParseConfig(url))
	c.MaxConns = engineConns
	pool := must(pgxpool.NewWithConfig(ctx, c))
	migrator := must(rivermigrate.New(riverpgxv5.New(pool), &rivermigrate.Config{Logger: quiet()}))
	must(migrator.Migrate(ctx, rivermigrate.DirectionUp, nil))
	return &riverEngine{pool, must(river.NewClient(riverpgxv5.New(pool), &river.Config{Logger: quiet()})), workers}
}

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

func (e *riverEngine) enqueue(ctx context.Context, payload []byte) error {
	_, err := e.client.Insert(ctx, riverArgs{payload}, nil)
	return err
}

func (e *riverEngine) enqueueAt(ctx context.Context, due time.Time, payload []byte) error {
	_, err := e.client.Insert(ctx, riverArgs{payload}, &river.InsertOpts{ScheduledAt: due})
	return err
}

func (e *riverEngine) fill(ctx context.Context, n int, payload []byte) {
	e.fillWith(ctx, n, river.InsertManyParams{Args: riverArgs{payload}})
}

// fillWith inserts n jobs, some thousands at a time.
func (e *riverEngine) fillWith(ctx context.Context, n int, like river.InsertManyParams) {
	for ; n > 0; n -= 5000 {
		must(e.client.InsertManyFast(ctx, slices.Repeat([]river.InsertManyParams{like}, min(n, 5000))))
	}
}

// run starts the client that works, with as many workers as the engine was made with.
func (e *riverEngine) run(_ int, handle func(payload []byte) error) (stop func()) {
	return e.runPeriodic(nil, handle)
}

// runPeriodic is run with periodic jobs, which River has in the client.
func (e *riverEngine) runPeriodic(periodic []*river.PeriodicJob, handle func(payload []byte) error) (stop func()) {
	workers := river.NewWorkers()
	river.AddWorker(workers, &riverWorker{handle: handle})
	client := must(river.NewClient(riverpgxv5.New(e.pool), &river.Config{
		Queues:       map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: e.workers}},
		PeriodicJobs: periodic, Workers: workers, Logger: quiet(), FetchCooldown: 2 * time.Millisecond, FetchPollInterval: 20 * time.Millisecond,
	}))
	ok(client.Start(context.Background()))
	return func() { _ = client.Stop(context.Background()) }
}

func (e *riverEngine) done(ctx context.Context) (n int64) {
	ok(e.pool.QueryRow(ctx, "SELECT count(*) FROM river_job WHERE state = 'completed'").Scan(&n))
	return n
}

func (e *riverEngine) close() { e.pool.Close() }

var riverWorkloads = []workload{
	{name: "40 bytes, no-op handler", bytes: 40, partitions: 1, tasks: 10_000},
	{name: "a handler of 1 ms", bytes: 40, takes: time.Millisecond, partitions: 1, tasks: 10_000},
	{name: "16 callers enqueue at the same time", bytes: 40, live: true, partitions: 1, tasks: 10_000},
}

// besideRiver measures the task engine beside River on PostgreSQL. Neither waits for a disk: Redis keeps its tasks in memory,
// and PostgreSQL answers a commit before it is written.
func besideRiver(b *bench) {
	b.table.section(fmt.Sprintf("tasks beside River on PostgreSQL (synchronous_commit=off); the lowest and the highest of %d rounds", scaled(taskRounds)))
	server := redistest.Start(b.tb)
	defer server.Kill()
	pg := pgtest.Start(b.tb, "synchronous_commit=off", "shared_buffers=256MB", "max_wal_size=4GB")
	for _, w := range riverWorkloads {
		versus(b, server, rated{"River, the better of 50 and 2,000 workers: " + w.name, func(string) float64 {
			return best(server, riverWorkers, func(workers int) float64 { return worked(b, newRiver(b.ctx, pg.Database(), workers), w) })
		}}, "%.1f", "River", rated{"chatd, 50 workers: the same", func(name string) float64 { return workedByUs(b, server, name, w) }})
	}
	for _, f := range []struct {
		name   string
		ours   func(e *ours, n int) time.Duration
		theirs func(e *riverEngine, n int) time.Duration
		n      int // tasks of River, and oursMore times as many of chatd
	}{
		{"unique tasks enqueued one by one, 16 callers", b.ourUniques, b.riverUniques, 10_000},
		{"delayed tasks that are due together, from the first to the last", b.ourDelayed, b.riverDelayed, 5_000},
	} {
		n := scaled(f.n)
		versus(b, server, rated{"River: " + f.name, func(string) float64 {
			e := newRiver(b.ctx, pg.Database(), taskWorkers)
			defer e.close()
			return float64(n) / f.theirs(e, n).Seconds()
		}}, "%.1f", "River", rated{"chatd: the same", func(name string) float64 {
			e := b.ours(server.Addr, name)
			defer e.close()
			return float64(n*oursMore) / f.ours(e, n*oursMore).Seconds()
		}})
	}
	// River looks for due jobs every five seconds; nothing that it exports shortens that.
	latenessOf(b, "River", newRiver(b.ctx, pg.Database(), taskWorkers))
	latenessOf(b, "chatd", b.ours(server.Addr, "late"))
	server.Do("FLUSHALL")
	riverPeriodic(b, pg, server)
}

func (b *bench) riverUniques(e *riverEngine, n int) time.Duration {
	began := time.Now()
	parallel(n, 16, func(i int) error {
		_, err := e.client.Insert(b.ctx, riverArgs{fmt.Append(nil, "key ", i)}, &river.InsertOpts{UniqueOpts: river.UniqueOpts{ByArgs: true}})
		return err
	})
	return time.Since(began)
}

func (b *bench) riverDelayed(e *riverEngine, n int) time.Duration {
	handled, due := newCounted(n), time.Now().Add(shorter(3*time.Second))
	e.fillWith(b.ctx, n, river.InsertManyParams{Args: riverArgs{[]byte(taskPayload)}, InsertOpts: &river.InsertOpts{ScheduledAt: due}})
	defer e.run(taskWorkers, func([]byte) error { handled.add(1); return nil })()
	handled.wait(b.ctx)
	return time.Since(handled.began)
}

// onTheSecond is a schedule whose occurrences are the whole seconds, so that the time of each is known.
type onTheSecond struct{}

// Next is the first whole second after current.
func (onTheSecond) Next(current time.Time) time.Time {
	return current.Truncate(time.Second).Add(time.Second)
}

// riverPeriodic compares when the occurrences of tasks begin that come every second.
func riverPeriodic(b *bench, pg *pgtest.Server, server *redistest.Server) {
	n, times := scaled(1000), max(scaled(10), 2)
	p := newRiver(b.ctx, pg.Database(), taskWorkers)
	periodic := make([]*river.PeriodicJob, n)
	for i := range periodic {
		periodic[i] = river.NewPeriodicJob(onTheSecond{}, func() (river.JobArgs, *river.InsertOpts) { return riverArgs{fmt.Append(nil, i)}, nil }, nil)
	}
	late := newLateness(n * times)
	stop := p.runPeriodic(periodic, func([]byte) error { return late.onSecond() })
	late.wait(b.ctx)
	stop()
	p.close()
	b.table.spread(fmt.Sprintf("River: lateness of %d tasks that come every second", n), late.by)
	ourPeriodic(b, server, n, times)
}
