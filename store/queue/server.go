package queue

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
)

// Options say which queue, and how a Server works on it. Client and the names must be
// given; every other zero value stands for its default.
type Options struct {
	// Client talks to Redis 7.0 or later. Its MaxRetries should be -1: a script that the
	// client repeats after a timeout would claim twice, and the first claim would be lost
	// until its lease ends.
	Client redis.UniversalClient
	// Prefix stands at the head of every key ("chat").
	Prefix string
	// Partitions is P: how many shards the queue has. 1 by default; every process that
	// works on the queue must say the same.
	Partitions int
	// Queue is the name of the queue ("core").
	Queue string

	// Workers is how many handlers run at once. 16 by default.
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
	// DeadMax is how many dead letters are kept in each partition: the newest. 10,000 by
	// default.
	DeadMax int
	// Logger gets what goes wrong. slog.Default by default.
	Logger *slog.Logger
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
}

// Handler does the work of one task. It may run more than once for the same task: its
// effect must be the same as of one run (t.ID is a good idempotency key). An error, and a
// panic, is a failed attempt; nil completes the task. The context ends when the lease is
// lost or the server stops: what has not had its effect by then should not have it.
type Handler func(ctx context.Context, t Task) error

// Policy is what differs for one kind of task. Zero values are the server's own.
type Policy struct {
	AttemptsMax            int
	BackoffMin, BackoffMax time.Duration
	Timeout                time.Duration // of one run; 0 = none
}

// Causes of a handler's context, see context.Cause.
var (
	ErrLeaseLost = errors.New("queue: lease lost")
	ErrStopped   = errors.New("queue: server is stopping")
)

// buryError marks an error that no further attempt can heal.
type buryError struct{ error }

func (e buryError) Unwrap() error { return e.error }

// Bury wraps a handler's error to say that trying again is of no use: the task becomes a
// dead letter now.
func Bury(err error) error { return buryError{err} }

type kind struct {
	handler Handler
	policy  Policy
}

// Server claims the tasks of one queue and runs their handlers.
type Server struct {
	*Client
	o     Options
	terms terms
	kinds map[string]kind

	ran   atomic.Bool
	jobs  sync.WaitGroup // handlers that run
	slots slots
	held  held
	wakes wakes
	ended chan result // runs that ended, on their way to Redis
}

// New returns a server that does nothing yet.
func New(o Options) (*Server, error) {
	o.setDefaults()
	c, err := NewClient(o)
	if err != nil {
		return nil, err
	}
	s := &Server{
		Client: c, o: o, kinds: make(map[string]kind),
		terms: terms{lease: o.Lease, crashesMax: o.CrashesMax, backoffMin: o.BackoffMin, deadMax: o.DeadMax},
		ended: make(chan result, max(o.Workers, settleMax)),
	}
	s.slots.init(o.Workers)
	s.held.init()
	s.wakes.init(o.Partitions)
	return s, nil
}

// Handle says who does the tasks of a kind. All kinds are registered before Run: a task of
// an unknown kind is buried.
func (s *Server) Handle(name string, h Handler) { s.HandlePolicy(name, Policy{}, h) }

// HandlePolicy is Handle for a kind with rules of its own.
func (s *Server) HandlePolicy(name string, p Policy, h Handler) {
	if _, twice := s.kinds[name]; twice || name == "" || h == nil {
		panic(fmt.Sprintf("queue: kind %q has no handler, or two", name)) //nolint:forbidigo // as http.Handle: seen at the first start
	}
	if p.AttemptsMax <= 0 {
		p.AttemptsMax = s.o.AttemptsMax
	}
	if p.BackoffMin <= 0 {
		p.BackoffMin = s.o.BackoffMin
	}
	if p.BackoffMax <= 0 {
		p.BackoffMax = s.o.BackoffMax
	}
	s.kinds[name] = kind{handler: h, policy: p}
}

// Run works until ctx ends. Then it claims nothing more, gives the running handlers
// StopTimeout to end, cancels the contexts of the rest and gives their tasks back, to be
// claimed by others at once and without counting an attempt. A Redis that cannot be
// reached does not end it: it tries again. It may be called once.
//
// The error says that handlers ignored the end of their contexts and still run, or that
// the results of the last runs could not be stored; those tasks run again when their
// leases end.
func (s *Server) Run(ctx context.Context) error {
	if s.ran.Swap(true) {
		return errors.New("queue: Run was called before")
	}
	work, cancelWork := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancelWork(ErrStopped)

	var feeders, keepers sync.WaitGroup
	feed, stopFeed := context.WithCancel(ctx)
	defer stopFeed()
	feeders.Go(func() { s.listen(feed) })
	feeders.Go(func() { s.claimLoop(feed, work) })
	keep, stopKeep := context.WithCancel(work)
	defer stopKeep()
	keepers.Go(func() { s.renewLoop(keep) })
	keepers.Go(func() { s.watchLoop(keep) })
	var settled error
	keepers.Go(func() { settled = s.settleLoop(ctx) })

	<-ctx.Done()
	feeders.Wait()
	stopped := s.drain(cancelWork)

	close(s.ended)
	stopKeep()
	keepers.Wait()
	return errors.Join(stopped, settled)
}

// drain waits for the handlers, and gives back the tasks of those that do not end.
func (s *Server) drain(cancelWork context.CancelCauseFunc) error {
	idle := make(chan struct{})
	go func() {
		s.jobs.Wait()
		close(idle)
	}()
	patience := time.NewTimer(s.o.StopTimeout)
	defer patience.Stop()
	select {
	case <-idle:
		return nil
	case <-patience.C:
	}
	cancelWork(ErrStopped)
	grace := time.NewTimer(stopGrace)
	defer grace.Stop()
	select {
	case <-idle:
		return nil
	case <-grace.C:
	}
	rest := s.held.takeRunning()
	for _, r := range rest {
		s.ended <- r.result(giveBack, 0, "")
	}
	// A handler that ended at the last moment may be about to send its result.
	s.held.sending.Wait()
	return fmt.Errorf("queue: %d handlers did not stop", len(rest))
}
