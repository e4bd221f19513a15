package queue

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/chatd/chatd/queue/backoff"
)

// A verdict is how a run ended. The names are those of settle.lua.
type verdict string

const (
	complete verdict = "complete"
	retry    verdict = "retry"
	bury     verdict = "bury"
	expire   verdict = "expire"
	snooze   verdict = "snooze"
	giveBack verdict = "return"
	fire     verdict = "fire" // of a task that fires a periodic one; periodic_fire.lua stores it
)

// Causes with which a handler's context ends, see context.Cause.
var (
	ErrLeaseLost = errors.New("queue: lease lost")
	ErrCancelled = errors.New("queue: task was cancelled")
	ErrStopped   = errors.New("queue: server is stopping")
)

// errDeadline is the reason of a task that was buried because it could not begin in time.
var errDeadline = errors.New("deadline passed")

// errNoReason replaces a nil error that a handler has wrapped.
var errNoReason = errors.New("no reason given")

type buryError struct{ error }

func (e buryError) Unwrap() error { return e.error }

// Bury wraps a handler's error to say that retrying is pointless: the task becomes a dead letter now, also if err is
// nil.
func Bury(err error) error { return buryError{cmp.Or(err, errNoReason)} }

type retryError struct {
	error
	after time.Duration
}

func (e retryError) Unwrap() error { return e.error }

// RetryAfter wraps a handler's error to say when to retry: it counts as a failed attempt, also if err is nil, but the
// next run comes after d (at most 30 days) instead of the backoff. Use it when you know when to retry, for example from
// a Retry-After header.
func RetryAfter(d time.Duration, err error) error {
	return retryError{cmp.Or(err, errNoReason), min(max(d, 0), pauseMax)}
}

type snoozeError struct{ after time.Duration }

func (e snoozeError) Error() string { return "queue: snoozed for " + e.after.String() }

// Snooze is what a handler returns if it cannot do its work yet (a lock is held, a limit is reached) and has not failed
// either: no attempt is counted, and the task runs again after d, at most 30 days. 0 puts it at the tail of its list.
// Snoozing also resets the count of expired leases, so that a long task of many runs is not buried for all its workers'
// deaths. Only a deadline ends a task that is snoozed forever.
func Snooze(d time.Duration) error { return snoozeError{min(max(d, 0), pauseMax)} }

// decide returns the outcome of a run whose handler returned err.
func (s *Server) decide(r *running, p Policy, err error) outcome {
	if err == nil {
		return outcome{verdict: complete, result: r.ctx.taken()}
	}
	var hopeless buryError
	var snoozed snoozeError
	var timing retryError
	timed := errors.As(err, &timing)
	var fires *firing
	switch {
	case errors.As(err, &fires):
		return outcome{verdict: fire, fires: fires}
	case errors.As(err, &hopeless):
		return outcome{verdict: bury, reason: reason(err)}
	case errors.As(err, &snoozed):
		return outcome{verdict: snooze, delay: snoozed.after}
	case !timed && errors.Is(context.Cause(s.parent), ErrStopped):
		return outcome{verdict: giveBack}
	}
	attemptsMax := r.AttemptsMax
	if attemptsMax == 0 {
		attemptsMax = p.AttemptsMax
	}
	if r.Attempts+1 >= attemptsMax {
		return outcome{verdict: bury, reason: reason(err)}
	}
	delay := timing.after
	if !timed {
		delay = pauseAfter(p.BackoffMin, p.BackoffMax, r.Attempts)
	}
	if !r.deadline.IsZero() && time.Until(r.deadline) <= delay {
		return outcome{verdict: bury, reason: errDeadline.Error() + "; before: " + reason(err)}
	}
	return outcome{verdict: retry, delay: delay, reason: reason(err)}
}

// reason returns an error's text as it is stored.
func reason(err error) string {
	text := err.Error()
	if len(text) > errorBytesMax {
		text = strings.ToValidUTF8(text[:errorBytesMax], "")
	}
	return text
}

// pauseAfter is the pause after the nth failure, counted from 0: a random part ("full jitter") of a bound that doubles,
// so that tasks that failed together do not retry together.
func pauseAfter(least, most time.Duration, n int) time.Duration {
	return max(backoff.Full(backoff.Doubled(least, most, n)), time.Millisecond)
}
