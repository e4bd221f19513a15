package queue

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"
)

// errGoexit is the error of a handler that ended its goroutine.
var errGoexit = errors.New("handler called runtime.Goexit")

// workLoop runs the handlers of one queue's tasks, one after the other, until runs is closed. A handler that ends its
// goroutine ends only this loop: another takes its place.
func (s *Server) workLoop(h *pool) {
	whole := false
	defer func() {
		if !whole {
			s.workers.Go(func() { s.workLoop(h) })
		}
	}()
	for r := range h.runs {
		s.perform(h, r)
	}
	whole = true
}

// perform runs the handler of one task and sends its outcome, whatever the handler does.
func (s *Server) perform(h *pool, r *running) {
	if r.ended.Load() { // cancelled or lost while it waited for a worker
		h.put()
		return
	}
	began := time.Now()
	k, known := s.kindOf(r.Kind, r.Queue)
	var o outcome
	defer func() {
		if p := recover(); p != nil {
			err := fmt.Errorf("panic: %v", p)
			s.o.Logger.Error("handler panicked", "queue", r.Queue, "kind", r.Kind, "task", r.ID, "error", err, "stack", string(debug.Stack()))
			o = s.decide(r, k.policy, err)
		} else if o.verdict == "" {
			o = s.decide(r, k.policy, errGoexit)
		}
		s.conclude(r, o, began)
		h.done.Add(1)
		h.put()
	}()
	if !known {
		o = s.decide(r, k.policy, Bury(fmt.Errorf("unknown kind %q", r.Kind)))
		if s.unknown.first(r.Kind, began) {
			s.o.Logger.Error("no handler for this kind of task: it becomes a dead letter", "kind", r.Kind, "task", r.ID, "queue", r.Queue)
		}
		return
	}
	if r.Batch != nil {
		if !k.policy.batches {
			o = s.decide(r, k.policy, Bury(fmt.Errorf("the handler of kind %q takes no batches: register it with HandleBatch", r.Kind)))
			return
		}
		if err := s.takeBatch(r); err != nil {
			o = s.decide(r, k.policy, err)
			return
		}
	}
	r.ctx.deadline = sooner(r.deadline, endAfter(began, r.timeout(k.policy)))
	// decide runs in here because even asking an error what it is can panic: a nil pointer in it is enough.
	o = s.decide(r, k.policy, k.handler(&r.ctx, r.Task))
}

func endAfter(from time.Time, d time.Duration) time.Time {
	if d <= 0 {
		return time.Time{}
	}
	return from.Add(d)
}

// conclude ends a run: it ends its context, and stores its outcome unless the run has one already.
func (s *Server) conclude(r *running, o outcome, began time.Time) {
	mine := s.held.finish(r)
	if s.o.Observe != nil {
		s.o.Observe(Run{
			Queue: r.Queue, Kind: r.Kind, ID: r.ID, Attempt: r.Attempt, Verdict: r.said(mine, o), Late: r.late,
			Took: time.Since(began), Reason: o.reason,
		})
	}
	if mine {
		r.outcome = o
		s.ended <- r
		s.held.sending.Done()
	}
	r.ctx.end(context.Canceled)
}

// said is the verdict to report of a run; counts is false if its outcome has no effect.
func (r *running) said(counts bool, o outcome) string {
	switch cause := r.ctx.cause(); {
	case counts:
		return string(o.verdict)
	case errors.Is(cause, ErrCancelled):
		return "cancelled"
	case errors.Is(cause, ErrLeaseLost):
		return "lost"
	}
	return string(giveBack) // the server has given it back and waits no longer
}

// seldom remembers when each name was last reported.
type seldom struct {
	mu sync.Mutex
	at map[string]time.Time
}

// first reports whether name was not reported within reportEvery.
func (s *seldom) first(name string, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if last, known := s.at[name]; known && now.Sub(last) < reportEvery {
		return false
	}
	if s.at == nil || len(s.at) >= reportedMax {
		s.at = map[string]time.Time{}
	}
	s.at[name] = now
	return true
}
