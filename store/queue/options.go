package queue

import (
	"log/slog"
	"time"

	"github.com/redis/go-redis/v9"
)

// Served is a queue that a Server works on.
type Served struct {
	// Name is the queue's.
	Name string
	// Workers is how many of its handlers run at once; 0 = Options.Workers.
	Workers int
}

// Options say which queues, and how a Server works on them. Client must be given; every other
// zero value stands for its default.
type Options struct {
	// Client talks to Redis 7.0 or later. Its MaxRetries must be -1: a script that the
	// client repeats after a timeout would claim twice, and the first claim would be lost
	// until its lease ends.
	Client redis.UniversalClient
	// Prefix stands at the head of every key ("chat").
	Prefix string
	// Partitions is P: how many shards every queue under Prefix has. 1 by default. The first
	// process records it; another that says otherwise gets ErrPartitions.
	Partitions int
	// Queue is the queue that a Client puts tasks into, and that a Server serves if Queues
	// is empty ("core").
	Queue string
	// Queues are those that a Server serves. Each has workers of its own, so none holds up
	// another; all are served by the same calls to Redis, so a further one costs next to
	// nothing. The first is the one that the Server, as a Client, puts tasks into.
	Queues []Served

	// Workers is how many handlers run at once in a queue that says nothing else. 16 by
	// default.
	Workers int
	// Lease is how long a task stays with a worker that has fallen silent. 15 s by
	// default; while a handler runs, its lease is renewed every third of it.
	Lease time.Duration
	// AttemptsMax is how many times a handler may fail at one task before it is buried. 10
	// by default; a Policy and a Task can say otherwise.
	AttemptsMax int
	// CrashesMax is how many leases of one task may end unfinished before it is buried. 5
	// by default.
	CrashesMax int
	// BackoffMin and BackoffMax bound the pause after a failed attempt: a random time
	// between 0 and the bound, which doubles from BackoffMin (1 s) to BackoffMax (10 min).
	BackoffMin, BackoffMax time.Duration
	// StopTimeout is how long Run waits for handlers once its context has ended. 5 s by
	// default; after that their contexts are cancelled and their tasks are given back.
	StopTimeout time.Duration
	// DeadMax is how many dead letters are kept in each partition of a queue: the newest.
	// 10,000 by default.
	DeadMax int
	// Observe, if set, is called after every run, before its outcome is stored, by the goroutine
	// that ran the handler. It must not block.
	Observe func(Run)
	// Logger gets what goes wrong. slog.Default by default.
	Logger *slog.Logger
}

// Run is what Observe hears of one run of a handler.
type Run struct {
	Queue, Kind string
	// Verdict is what became of the task: complete, retry, bury, snooze, or return (given
	// back by a stopping server). A run whose task was taken away meanwhile says lost or
	// cancelled; one that never began because its deadline had passed says expire.
	Verdict string
	// Late is how long after its due time, or after it was enqueued, the task was claimed,
	// by the clock of Redis.
	Late time.Duration
	// Took is how long the handler ran.
	Took time.Duration
}

func (o *Options) setDefaults() {
	if o.Prefix == "" {
		o.Prefix = "chat"
	}
	if o.Partitions == 0 {
		o.Partitions = 1
	}
	if o.Queue == "" {
		o.Queue = "core"
	}
	if o.Workers <= 0 {
		o.Workers = workersDefault
	}
	if o.Lease <= 0 {
		o.Lease = leaseDefault
	}
	if o.AttemptsMax <= 0 {
		o.AttemptsMax = attemptsMaxDefault
	}
	if o.CrashesMax <= 0 {
		o.CrashesMax = crashesMaxDefault
	}
	if o.BackoffMin <= 0 {
		o.BackoffMin = backoffMinDefault
	}
	if o.BackoffMax <= 0 {
		o.BackoffMax = backoffMaxDefault
	}
	if o.StopTimeout <= 0 {
		o.StopTimeout = stopTimeoutDefault
	}
	if o.DeadMax <= 0 {
		o.DeadMax = deadMaxDefault
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	o.Queues = append([]Served(nil), o.Queues...)
	if len(o.Queues) == 0 {
		o.Queues = []Served{{Name: o.Queue}}
	}
	for i := range o.Queues {
		if o.Queues[i].Workers <= 0 {
			o.Queues[i].Workers = o.Workers
		}
	}
}
