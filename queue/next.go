package queue

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// solo is the state of RunNext.
type solo struct {
	mu    sync.Mutex
	steps *claimer // nil before the first call
	slot  int      // the queue and partition that are asked first: those after the last task
}

// RunNext runs the next task in the calling goroutine: it promotes what is due, claims one task, runs its handler,
// and stores the outcome. It returns false when no task is ready. A task that ends without a run, because its deadline
// has passed, counts like one that ran.
//
// It is for tests (see package queuetest) and for programs that work off a queue and exit:
//
//	for more := true; more && err == nil; {
//		more, err = server.RunNext(ctx)
//	}
//
// Leases are renewed while the handler runs, and if ctx ends meanwhile, a failing task is given back. The server
// listens to no signals: a handler whose task is cancelled learns of it when its lease is renewed. After an error a
// claimed task runs again when its lease ends. Run and RunNext exclude each other, and calls of RunNext must not
// overlap; register all handlers before the first. The errors of Run apply.
func (s *Server) RunNext(ctx context.Context) (ran bool, err error) {
	if !s.solo.mu.TryLock() {
		return false, errors.New("queue: RunNext is running already")
	}
	defer s.solo.mu.Unlock()
	if err := s.beginSolo(ctx); err != nil {
		return false, err
	}
	parent, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancel(ErrStopped)
	defer context.AfterFunc(ctx, func() { cancel(ErrStopped) })()
	s.parent = parent

	slots := len(s.pools) * s.set.partitions
	for i := range slots {
		slot := (s.solo.slot + i) % slots
		ran, err = s.runAt(ctx, s.pools[slot%len(s.pools)], slot/len(s.pools))
		if ran || err != nil {
			s.solo.slot = (slot + 1) % slots
			return ran, err
		}
	}
	s.writeTallies(parent)
	return false, nil
}

func (s *Server) beginSolo(ctx context.Context) error {
	if s.solo.steps == nil {
		if err := s.checkHandlers(); err != nil {
			return err
		}
		if s.ran.Swap(true) {
			return errors.New("queue: Run was called before: a server works by Run or by RunNext")
		}
		s.freeze()
		s.solo.steps = newClaimer(s)
	}
	if err := errors.Join(ctx.Err(), s.checkPartitions(ctx)); err != nil {
		return err
	}
	if err := s.putPeriodic(ctx, s.periodic); err != nil {
		return err
	}
	s.periodic = nil
	return nil
}

// runAt runs the next task of a queue in a partition.
func (s *Server) runAt(ctx context.Context, h *pool, partition int) (ran bool, err error) {
	// The outcome is stored even if the handler ends the goroutine, as FailNow of a test does.
	defer func() {
		settled, settleErr := s.settleSolo(ctx)
		ran, err = ran || settled, errors.Join(err, settleErr)
	}()
	if err := s.claimSolo(ctx, h, partition); err != nil {
		return false, err
	}
	for {
		select {
		case r := <-h.runs:
			s.performSolo(h, r)
			ran = true
		default:
			return ran, nil
		}
	}
}

// claimSolo claims at most one task. A step that claims none although some are ready has moved others out of the way.
func (s *Server) claimSolo(ctx context.Context, h *pool, partition int) error {
	c := s.solo.steps
	at := &c.shards[partition]
	for {
		w := stepDemand{partition: partition, overdue: overdueMax, claims: make([]claimDemand, len(s.pools))}
		w.claims[h.queue.index] = claimDemand{n: 1, order: h.turns(at.turn[h.queue.index], 1)}
		sent := time.Now()
		one := c.set.stepCall(w, c.terms)
		calls := []*call{&one.call}
		if news := c.news.call(c.prefix, sent); news != nil {
			calls = append(calls, news)
		}
		totals, answered := s.tallies.calls(sent, tallyEvery)
		// Not under ctx: a call that is cut off may have claimed a task.
		err := run(context.WithoutCancel(ctx), c.rdb, append(calls, totals...))
		answered()
		if err != nil {
			return fmt.Errorf("queue: claim: %w", err)
		}
		if err := c.absorb(ctx, w, one, sent); err != nil {
			return err
		}
		if len(h.runs)+len(s.ended) > 0 || !at.ready[h.queue.index] {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
}

// performSolo runs a handler while others renew its lease.
func (s *Server) performSolo(h *pool, r *running) {
	keep, stop := context.WithCancel(s.parent)
	var keepers sync.WaitGroup
	keepers.Go(func() { s.renewLoop(keep) })
	keepers.Go(func() { s.watchLoop(keep) })
	defer keepers.Wait()
	defer stop()
	s.perform(h, r)
}

// settleSolo stores the outcomes of what has ended, and reports whether there were any.
func (s *Server) settleSolo(ctx context.Context) (some bool, err error) {
	ended := s.collect(nil)
	got, err := s.set.settle(context.WithoutCancel(ctx), ended, s.terms.dead)
	s.held.drop(ended)
	s.count(got.answered, got.stale)
	for _, r := range got.stale {
		s.o.Logger.Warn("run ended after its lease was lost", "queue", r.Queue, "task", r.ID, "verdict", string(r.outcome.verdict))
	}
	if err != nil {
		err = fmt.Errorf("queue: result lost: %w", err)
	}
	return len(ended) > 0, err
}
