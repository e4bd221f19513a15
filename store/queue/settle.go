package queue

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/chatd/chatd/internal/backoff"
)

// settleLoop stores the outcomes of runs until the last one has arrived. A single outcome goes at once; those that come
// while a call is in flight go together in the next. While Redis cannot be reached, it keeps trying, which eventually
// holds up the handlers; only a stopping server gives up in the end.
func (s *Server) settleLoop(stopping context.Context) error {
	var failed error
	batch := make([]*running, 0, settleMax)
	for first := range s.ended {
		batch = s.collect(append(batch[:0], first))
		if failed != nil {
			continue
		}
		if err := s.store(stopping, batch); err != nil {
			failed = fmt.Errorf("queue: results lost: %w", err)
		}
	}
	return failed
}

// collect adds the outcomes that are already waiting.
func (s *Server) collect(batch []*running) []*running {
	for len(batch) < settleMax {
		select {
		case r, ok := <-s.ended:
			if !ok {
				return batch
			}
			batch = append(batch, r)
		default:
			return batch
		}
	}
	return batch
}

// store settles one batch, however long it takes; if part of it failed, it repeats only that part. The runs stay held
// until then, so their leases are renewed meanwhile.
func (s *Server) store(stopping context.Context, batch []*running) error {
	var giveUp time.Time
	again := backoff.Backoff{Min: errorPause, Max: pollMax}
	for {
		got, err := s.set.settle(context.WithoutCancel(stopping), batch, s.terms.dead)
		s.held.drop(got.answered)
		for _, r := range got.stale {
			s.o.Logger.Warn("run ended after its lease was lost", "queue", r.Queue, "task", r.ID, "verdict", string(r.outcome.verdict))
		}
		if err == nil {
			return nil
		}
		batch = got.failed
		if stopping.Err() != nil {
			if giveUp.IsZero() {
				giveUp = time.Now().Add(s.o.StopTimeout + stopGrace)
			} else if time.Now().After(giveUp) {
				return err
			}
		}
		s.o.Logger.Warn("cannot store results of tasks, retrying", "error", err, "tasks", len(batch))
		<-time.After(again.Next())
	}
}

// renewLoop extends the leases of all running tasks, in batches, three times before they end.
func (s *Server) renewLoop(ctx context.Context) {
	ticker := time.NewTicker(max(s.o.Lease/3, time.Millisecond))
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			s.renewAll(ctx)
		}
	}
}

func (s *Server) renewAll(ctx context.Context) {
	leases := s.held.leases()
	sent := time.Now()
	got, err := s.set.renew(ctx, leases, s.o.Lease)
	if err != nil && !errors.Is(err, context.Canceled) {
		s.o.Logger.Warn("cannot renew leases, retrying", "error", err, "tasks", len(got.failed))
	}
	// A task that is gone although its lease cannot have ended was cancelled, and the message about it got lost. Tasks
	// whose outcomes are being stored are gone as well; for those this has no effect.
	gone := slices.DeleteFunc(got.gone, func(r *running) bool { return s.held.outlivedAt(r, sent) })
	s.lose(gone, ErrCancelled)
	s.lose(got.stale, ErrLeaseLost)
	s.held.renewed(got.answered, sent.Add(s.o.Lease))
}

// watchLoop ends the runs whose leases could not be renewed in time. It is separate from renewLoop because that may
// hang in a call.
func (s *Server) watchLoop(ctx context.Context) {
	ticker := time.NewTicker(max(s.o.Lease/10, time.Millisecond))
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-ticker.C:
			s.lose(s.held.outlived(now), ErrLeaseLost)
		}
	}
}

// lose ends runs whose outcomes would have no effect.
func (s *Server) lose(stale []*running, cause error) {
	for _, r := range s.held.lose(stale) {
		if cause == ErrLeaseLost { //nolint:errorlint // one of two, passed by us
			s.o.Logger.Warn("lease lost, cancelling its handler", "queue", r.Queue, "kind", r.Kind, "task", r.ID)
		}
		r.ctx.end(cause)
	}
}
