package queue

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

// settleLoop stores the results of runs until the last one is there. Alone a result goes
// at once; those that come while a call is under way go together in the next. While Redis
// cannot be reached it tries again and again, which in the end holds up the handlers; only
// when the server is stopping it gives up in the end.
func (s *Server) settleLoop(stopping context.Context) error {
	var failed error
	batch := make([]result, 0, settleMax)
	for first := range s.ended {
		batch = append(batch[:0], first)
		batch = s.collect(batch)
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
func (s *Server) collect(batch []result) []result {
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

// store settles one batch, however long it takes. Its entries stay among those held until
// it has: their leases are renewed meanwhile.
func (s *Server) store(stopping context.Context, batch []result) error {
	var giveUp time.Time
	pause := errorPause
	for {
		stale, err := s.settle(context.WithoutCancel(stopping), batch, s.o.DeadMax)
		if err == nil {
			s.held.drop(batch)
			for _, r := range stale {
				s.o.Logger.Warn("a run ended after its lease was lost", "task", r.id, "verdict", string(r.verdict))
			}
			return nil
		}
		if stopping.Err() != nil {
			if giveUp.IsZero() {
				giveUp = time.Now().Add(s.o.StopTimeout + stopGrace)
			} else if time.Now().After(giveUp) {
				return err
			}
		}
		s.o.Logger.Warn("results of tasks cannot be stored, trying again", "error", err, "tasks", len(batch))
		timer := time.NewTimer(pause/2 + rand.N(pause/2))
		<-timer.C
		pause = min(2*pause, pollMax)
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
	stale, err := s.renew(ctx, leases, s.o.Lease)
	if err != nil {
		if !errors.Is(err, context.Canceled) {
			s.o.Logger.Warn("leases cannot be renewed, trying again", "error", err, "tasks", len(leases))
		}
		return
	}
	s.lose(stale)
	s.held.renewed(leases, sent.Add(s.o.Lease))
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
			s.lose(s.held.outlived(now))
		}
	}
}

func (s *Server) lose(stale []result) {
	for _, r := range s.held.lose(stale) {
		s.o.Logger.Warn("lease lost, its handler is cancelled", "kind", r.Kind, "task", r.ID)
		r.cancel(ErrLeaseLost)
	}
}
