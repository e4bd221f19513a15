package queue

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/chatd/chatd/queue/backoff"
)

// settleLoop stores the outcomes of runs until the last one has arrived. A single outcome goes at once; those that come
// while a call is in flight go together in the next. While a partition cannot be reached, its outcomes wait for another try, and
// the outcomes of other partitions do not; only a server that stops gives up in the end.
func (s *Server) settleLoop(stopping context.Context) error {
	l := settler{Server: s, stopping: stopping, again: backoff.Backoff{Min: errorPause, Max: pollMax}}
	ended := s.ended
	for ended != nil || len(l.waiting) > 0 {
		select {
		case first, ok := <-ended:
			if !ok {
				ended = nil
				continue
			}
			if batch := l.reachable(s.collect([]*running{first})); len(batch) > 0 {
				l.store(batch)
			}
		case <-l.retry:
			batch := l.waiting
			l.waiting, l.retry = nil, nil
			l.store(batch)
		}
	}
	return l.lost
}

// settler is the state of the settle loop. One goroutine owns it.
type settler struct {
	*Server
	stopping context.Context
	waiting  []*running // of partitions that could not be reached
	retry    <-chan time.Time
	again    backoff.Backoff
	giveUp   time.Time // when a server that stops does so
	lost     error     // why it gave up; nil while it has not
}

// reachable returns the runs of a batch whose outcomes may be stored now; the others wait.
func (l *settler) reachable(batch []*running) []*running {
	if l.lost != nil {
		return nil
	}
	return slices.DeleteFunc(batch, func(r *running) bool {
		away := slices.ContainsFunc(l.waiting, func(w *running) bool { return w.partition == r.partition })
		if away {
			l.waiting = append(l.waiting, r)
		}
		return away
	})
}

// store settles one batch. The runs stay held until that has succeeded, so their leases are renewed meanwhile.
func (l *settler) store(batch []*running) {
	got, err := l.set.settle(context.WithoutCancel(l.stopping), batch, l.terms.dead)
	l.held.drop(got.answered)
	l.count(got.answered, got.stale)
	for _, r := range got.stale {
		l.o.Logger.Warn("run ended after its lease was lost", "queue", r.Queue, "task", r.ID, "verdict", string(r.outcome.verdict))
	}
	l.waiting = append(l.waiting, got.failed...)
	if err == nil {
		if len(l.waiting) == 0 {
			l.again.Reset()
			l.giveUp = time.Time{}
		}
		return
	}
	if l.stopping.Err() != nil {
		if l.giveUp.IsZero() {
			l.giveUp = time.Now().Add(l.o.StopTimeout + stopGrace)
		} else if time.Now().After(l.giveUp) {
			l.lost, l.waiting, l.retry = fmt.Errorf("queue: results lost: %w", err), nil, nil
			return
		}
	}
	l.o.Logger.Warn("cannot store results of tasks, retrying", "error", err, "tasks", len(l.waiting))
	if l.retry == nil {
		l.retry = time.After(l.again.Next())
	}
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
