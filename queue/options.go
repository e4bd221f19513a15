package queue

import (
	"context"
	"log/slog"
	"time"

	"github.com/redis/go-redis/v9"
)

// Redis is a client of go-redis: a *redis.Client, a *redis.ClusterClient, or what has these methods and the Subscribe of
// redis.UniversalClient. Subscribe is not among them because its result leads to the types of all clients of go-redis,
// and each package that reaches those spends more than a second of its compilation on their methods.
type Redis interface {
	redis.Cmdable
	Process(ctx context.Context, cmd redis.Cmder) error
	Do(ctx context.Context, args ...any) *redis.Cmd
	AddHook(h redis.Hook)
	Close() error
}

// subscriber is what else NewClient asks of a Redis.
type subscriber interface {
	Subscribe(ctx context.Context, channels ...string) *redis.PubSub
}

// QueueOptions configure one queue of a Server.
type QueueOptions struct {
	// Name of the queue.
	Name string
	// Workers is how many handlers of this queue run at once; 0 = Options.Workers.
	Workers int
	// Strict serves the priorities one after another: a claim takes the highest one that has tasks in its partition, and
	// a lower one waits for as long as that may be. Without it they share 8:4:2:1. It binds this server's claims alone.
	Strict bool
}

// Options select the queues and configure how a Server works on them. Client is required; every other zero value stands
// for its default.
type Options struct {
	// Client talks to Redis 7.0 or later. Its MaxRetries must be -1: if the client repeated a script after a timeout,
	// it would claim twice, and the first claim would be lost until its lease ends.
	Client Redis
	// Prefix is the prefix of every key ("chat").
	Prefix string
	// Partitions is the number of partitions of every queue under Prefix. 1 by default. The first process records it;
	// later ones with a different number get ErrPartitions.
	Partitions int
	// Queue is the queue that a Client enqueues into, and that a Server serves if Queues is empty ("core").
	Queue string
	// Queues are the queues that a Server serves. Each has its own workers, so none holds up another. All share the
	// same calls to Redis, so another queue costs next to nothing. The first is the one that the Server, as a Client,
	// enqueues into.
	Queues []QueueOptions

	// Workers is how many handlers run at once in a queue that does not set its own number. 16 by default.
	Workers int
	// Lease is how long a silent worker keeps its task. 15 s by default; while a handler runs, its lease is renewed
	// every third of that.
	Lease time.Duration
	// AttemptsMax is how many failed attempts bury a task. 10 by default; a Policy or a Task can set its own.
	AttemptsMax int
	// CrashesMax is how many expired leases bury a task. 5 by default.
	CrashesMax int
	// BackoffMin and BackoffMax bound the pause after a failed attempt: a random time between 0 and a limit, which
	// doubles from BackoffMin (1 s) to BackoffMax (10 min).
	BackoffMin, BackoffMax time.Duration
	// StopTimeout is how long Run waits for handlers once its context has ended. 5 s by default; after that it cancels
	// their contexts and gives their tasks back.
	StopTimeout time.Duration
	// DeadMax is how many dead letters to keep in each partition of a queue; the newest ones stay. 10,000 by default.
	DeadMax int
	// DeadBytesMax bounds their bytes, payloads and about 60 for each, in the same way. 16 MiB by default.
	DeadBytesMax int64
	// Observe, if set, is called after every run, before its outcome is stored, by the goroutine that ran the handler.
	// It must not block. LogRuns returns a function for it.
	Observe func(Run)
	// Logger receives errors and warnings. slog.Default by default.
	Logger *slog.Logger
}

// Run describes one run of a handler to Observe.
type Run struct {
	Queue, Kind string
	// ID is that of the task, and Attempt its number of runs, as the handler saw them.
	ID      string
	Attempt int
	// Verdict is what happens to the task: complete, retry, bury, snooze, or return (given back by a stopping server),
	// or fire: a task of the engine itself, of kind "@periodic:<kind>", has enqueued an occurrence of a periodic task.
	// It is lost or cancelled if the run lost its task, and expire if the run never began because the deadline had
	// passed.
	Verdict string
	// Late is how long after its due time, or after it was enqueued, the task was claimed, by the clock of Redis.
	Late time.Duration
	// Took is how long the handler ran.
	Took time.Duration
	// Reason is the error of a run that failed or was buried, as Info.LastError shows it; otherwise empty.
	Reason string
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
	if o.DeadBytesMax <= 0 {
		o.DeadBytesMax = deadBytesMaxDefault
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	o.Queues = append([]QueueOptions(nil), o.Queues...)
	if len(o.Queues) == 0 {
		o.Queues = []QueueOptions{{Name: o.Queue}}
	}
	for i := range o.Queues {
		if o.Queues[i].Workers <= 0 {
			o.Queues[i].Workers = o.Workers
		}
	}
}
