package queue

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"strings"
	"time"
)

// errGoexit stands for a handler that ended its goroutine.
var errGoexit = errors.New("handler called runtime.Goexit")

// start runs the handlers of claimed tasks, each in a goroutine of its own. Their leases
// are good until the given time at least.
func (s *Server) start(work context.Context, tasks []*claimed, until time.Time) {
	if len(tasks) == 0 {
		return
	}
	s.slots.take(len(tasks))
	s.jobs.Add(len(tasks))
	rs := make([]*running, len(tasks))
	contexts := make([]context.Context, len(tasks))
	for i, t := range tasks {
		ctx, cancel := context.WithCancelCause(work)
		contexts[i], rs[i] = ctx, &running{claimed: t, cancel: cancel, until: until}
	}
	s.held.add(rs)
	for i, r := range rs {
		go s.perform(contexts[i], r)
	}
}

// perform runs the handler of one task and sends its result, whatever the handler does.
func (s *Server) perform(ctx context.Context, r *running) {
	k, known := s.kinds[r.Kind]
	err := errGoexit
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
			s.o.Logger.Error("handler panicked", "kind", r.Kind, "task", r.ID, "panic", p, "stack", string(debug.Stack()))
		}
		end := s.judge(ctx, r, k.policy, err)
		r.cancel(nil)
		if s.held.finish(r) {
			s.ended <- end
			s.held.sending.Done()
		}
		s.slots.put()
		s.jobs.Done()
	}()
	if !known {
		err = Bury(fmt.Errorf("unknown kind %q", r.Kind))
		return
	}
	if k.policy.Timeout > 0 {
		limited, cancel := context.WithTimeout(ctx, k.policy.Timeout)
		defer cancel()
		err = k.handler(limited, r.Task)
		return
	}
	err = k.handler(ctx, r.Task)
}

// judge says what becomes of a task whose handler has ended with err.
func (s *Server) judge(ctx context.Context, r *running, p Policy, err error) result {
	if err == nil {
		return r.result(complete, 0, "")
	}
	if errors.Is(context.Cause(ctx), ErrStopped) {
		return r.result(giveBack, 0, "")
	}
	reason := err.Error()
	if len(reason) > errorBytesMax {
		reason = strings.ToValidUTF8(reason[:errorBytesMax], "")
	}
	var hopeless buryError
	attemptsMax := r.AttemptsMax
	if attemptsMax == 0 {
		attemptsMax = p.AttemptsMax
	}
	if errors.As(err, &hopeless) || r.attempts+1 >= attemptsMax {
		return r.result(bury, 0, reason)
	}
	return r.result(retry, backoff(p.BackoffMin, p.BackoffMax, r.attempts), reason)
}

// backoff is the pause after the nth failure, counted from 0: a random part ("full
// jitter") of a bound that doubles, so that tasks which failed together come back apart.
func backoff(least, most time.Duration, n int) time.Duration {
	bound := least << min(n, 30)
	if bound <= 0 || bound > most || bound>>min(n, 30) != least {
		bound = most
	}
	return rand.N(bound) + time.Millisecond
}
