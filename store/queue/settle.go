package queue

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/chatd/chatd/internal/backoff"
)

// settleLoop stores the outcomes of runs until the last one is there. Alone an outcome goes
// at once; those that come while a call is under way go together in the next. While Redis
// cannot be reached it tries again and again, which in the end holds up the handlers; only
// when the server is stopping it gives up in the end.
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

// collect adds what waits already.
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

// store settles one batch, however long it takes; of what failed in part, only that is repeated. Its entries stay among those held until
// it has: their leases are renewed meanwhile.
func (s *Server) store(stopping context.Context, batch []*running) error {
	var giveUp time.Time
	again := backoff.Backoff{Min: errorPause, Max: pollMax}
	for {
		got, err := s.set.settle(context.WithoutCancel(stopping), batch, s.o.DeadMax)
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
	// A task that is gone although its lease cannot have ended was cancelled, and the message
	// that said so got lost. Those whose outcomes are being stored are gone as well; what is
	// said of them has no effect.
	gone := slices.DeleteFunc(got.gone, func(r *running) bool { return s.held.outlivedAt(r, sent) })
	s.lose(gone, ErrCancelled)
	s.lose(got.stale, ErrLeaseLost)
	s.held.renewed(got.answered, sent.Add(s.o.Lease))
}

// watchLoop ends the runs whose leases could not be renewed in time. It is apart from
// renewLoop because that may hang in a call.
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

// lose ends runs whose outcomes will have no effect.
func (s *Server) lose(stale []*running, cause error) {
	for _, r := range s.held.lose(stale) {
		if cause == ErrLeaseLost { //nolint:errorlint // one of two, given by us
			s.o.Logger.Warn("lease lost, cancelling its handler", "queue", r.Queue, "kind", r.Kind, "task", r.ID)
		}
		r.ctx.end(cause)
	}
}
