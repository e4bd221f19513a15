package queue

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// Handler does the work of one task. It may run more than once for the same task, so it must be idempotent (t.ID is a
// good idempotency key). An error or a panic is a failed attempt; nil completes the task. The context ends when the
// lease is lost or the server stops: the handler should then cause no further effects.
type Handler func(ctx context.Context, t Task) error

// Policy overrides settings for one kind of task. Zero values mean the server's own.
type Policy struct {
	AttemptsMax            int
	BackoffMin, BackoffMax time.Duration
	Timeout                time.Duration // of one run; 0 = none
	Queues                 []string      // of the server's queues, those that run the kind; none = all

	batches bool // the handler takes batches
}

type kind struct {
	handler Handler
	policy  Policy
}

// Server claims the tasks of its queues and runs their handlers. It is also a Client of the first queue.
type Server struct {
	*Client
	o     Options
	terms terms
	set   queueSet
	registry

	ran     atomic.Bool
	solo    solo
	parent  context.Context // parent of the handlers' contexts
	pools   []*pool         // by queue
	freed   chan struct{}   // has an entry when a worker has become free since it was last read
	workers sync.WaitGroup
	held    held
	wakes   wakes
	unknown seldom        // reports kinds without a handler
	ended   chan *running // runs with their outcomes, on their way to Redis
	tallies tallies
	// periodic are those that Run declares.
	periodic []Periodic
}

// New returns a server that does nothing until Run is called.
func New(o Options) (*Server, error) {
	o.setDefaults()
	s := &Server{
		o: o, registry: registry{kinds: make(map[string]kind)}, freed: make(chan struct{}, 1),
		terms: terms{lease: o.Lease, crashesMax: o.CrashesMax, backoffMin: o.BackoffMin, dead: deadBounds{o.DeadMax, o.DeadBytesMax}},
	}
	clients, workers := make([]*Client, len(o.Queues)), 0
	names := make(map[string]bool)
	for i, q := range o.Queues {
		mine := o
		mine.Queue = q.Name
		var err error
		if clients[i], err = NewClient(mine); err != nil {
			return nil, err
		}
		if names[q.Name] || q.Name == "" {
			return nil, fmt.Errorf("queue: queue %q has an empty name or is listed twice", q.Name)
		}
		names[q.Name] = true
		workers += q.Workers
	}
	s.Client, s.set = clients[0], newQueueSet(clients...)
	for i, q := range s.set.queues {
		s.pools = append(s.pools, newPool(q, o.Queues[i], s.freed))
		s.tallies = append(s.tallies, newTally(NewKeys(o.Prefix, 0, q.name).Of("days")))
	}
	s.ended = make(chan *running, max(workers, settleMax))
	s.wakes.init(o.Partitions, len(o.Queues))
	return s, nil
}

// Handle registers the handler of a kind of tasks, for all queues of the server. Register all kinds before Run, which
// fails where a queue has none: a task of an unknown kind is buried.
//
// The pattern is a kind, or the beginning of kinds followed by "*", see Mux.
func (s *Server) Handle(pattern string, h Handler) { s.HandlePolicy(pattern, Policy{}, h) }

// HandlePolicy is Handle with a policy for the kind.
func (s *Server) HandlePolicy(pattern string, p Policy, h Handler) {
	if p.AttemptsMax <= 0 {
		p.AttemptsMax = s.o.AttemptsMax
	}
	if p.BackoffMin <= 0 {
		p.BackoffMin = s.o.BackoffMin
	}
	if p.BackoffMax <= 0 {
		p.BackoffMax = s.o.BackoffMax
	}
	register(s.kinds, pattern, kind{handler: h, policy: p})
}

// Run works until ctx ends. Then it stops claiming, gives the running handlers StopTimeout to end, cancels the contexts
// of the rest and gives their tasks back, so that others can claim them at once and no attempt is counted. It does not
// end when Redis cannot be reached, but keeps trying. It may be called once.
//
// It returns ErrNoHandler at once if one of its queues has no handler, ErrPartitions if the keys have a different number
// of partitions, and ErrLayout if a newer engine wrote them. Any other error means that handlers ignored the end of their contexts and are still running, or that the results of the last runs could not be
// stored; those tasks run again when their leases end.
func (s *Server) Run(ctx context.Context) error {
	if s.ran.Swap(true) {
		return errors.New("queue: Run or RunNext was called before")
	}
	if err := s.checkHandlers(); err != nil {
		return err
	}
	s.freeze()
	if err := s.awaitPartitions(ctx); err != nil {
		return err
	}
	work, cancelWork := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancelWork(ErrStopped)
	s.parent = work

	var feeders, keepers sync.WaitGroup
	feed, stopFeed := context.WithCancel(ctx)
	defer stopFeed()
	feeders.Go(func() { s.listen(feed) })
	feeders.Go(func() { s.claimLoop(feed) })
	feeders.Go(func() { s.declare(feed) })
	for _, h := range s.pools {
		for range h.workers {
			s.workers.Go(func() { s.workLoop(h) })
		}
	}
	keep, stopKeep := context.WithCancel(work)
	defer stopKeep()
	keepers.Go(func() { s.renewLoop(keep) })
	keepers.Go(func() { s.watchLoop(keep) })
	var settled error
	keepers.Go(func() { settled = s.settleLoop(ctx) })

	<-ctx.Done()
	feeders.Wait()
	for _, h := range s.pools {
		for _, r := range h.takeBack() {
			s.giveBack(h, r)
		}
		close(h.runs)
	}
	stopped := s.drain(cancelWork)

	close(s.ended)
	stopKeep()
	keepers.Wait()
	last, cancelLast := context.WithTimeout(context.WithoutCancel(ctx), stopGrace)
	defer cancelLast()
	s.writeTallies(last)
	return errors.Join(stopped, settled)
}

// drain waits for the handlers, and gives back the tasks of those that do not end.
func (s *Server) drain(cancelWork context.CancelCauseFunc) error {
	idle := make(chan struct{})
	go func() {
		s.workers.Wait()
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
		r.outcome = outcome{verdict: giveBack}
		s.ended <- r
	}
	// A handler that ended at the last moment may be about to send its outcome.
	s.held.sending.Wait()
	return fmt.Errorf("queue: %d handlers did not stop", len(rest))
}
