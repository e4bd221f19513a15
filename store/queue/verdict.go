package queue

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/chatd/chatd/internal/backoff"
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
)

// Causes of a handler's context, see context.Cause.
var (
	ErrLeaseLost = errors.New("queue: lease lost")
	ErrCancelled = errors.New("queue: task was cancelled")
	ErrStopped   = errors.New("queue: server is stopping")
)

// errDeadline is the reason of what was buried because it could not begin in time.
var errDeadline = errors.New("deadline passed")

// errNoReason stands for the nil that a handler has wrapped.
var errNoReason = errors.New("no reason given")

type buryError struct{ error }

func (e buryError) Unwrap() error { return e.error }

// Bury wraps a handler's error to say that trying again is of no use: the task becomes a
// dead letter now. So it does with nil.
func Bury(err error) error { return buryError{cmp.Or(err, errNoReason)} }

type retryError struct {
	error
	after time.Duration
}

func (e retryError) Unwrap() error { return e.error }

// RetryAfter wraps a handler's error to say when to try again: a failed attempt as any other,
// but the next run comes after d (of which no more than 30 days count) instead of the backoff.
// So it is with nil.
// It is for callers that know when to retry, from a Retry-After header for example.
func RetryAfter(d time.Duration, err error) error {
	return retryError{cmp.Or(err, errNoReason), min(max(d, 0), pauseMax)}
}

type snoozeError struct{ after time.Duration }

func (e snoozeError) Error() string { return "queue: snoozed for " + e.after.String() }

// Snooze is what a handler returns that cannot do its work yet (a lock is held, a limit is
// reached) and has not failed either: no attempt is counted, and the task runs again after d,
// of which no more than 30 days count. With 0 it goes to the tail of its list. The leases that
// ended before are forgotten: a long task of many runs does not die of all its workers'
// deaths. Nothing but a deadline ends a task that is snoozed again and again.
func Snooze(d time.Duration) error { return snoozeError{min(max(d, 0), pauseMax)} }

// decide says what becomes of a task whose handler has ended with err.
func (s *Server) decide(r *running, p Policy, err error) outcome {
	if err == nil {
		return outcome{verdict: complete}
	}
	var hopeless buryError
	var snoozed snoozeError
	var timing retryError
	timed := errors.As(err, &timing)
	switch {
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

// reason is an error as it is kept.
func reason(err error) string {
	text := err.Error()
	if len(text) > errorBytesMax {
		text = strings.ToValidUTF8(text[:errorBytesMax], "")
	}
	return text
}

// pauseAfter is the pause after the nth failure, counted from 0: a random part ("full
// jitter") of a bound that doubles, so that tasks which failed together come back apart.
func pauseAfter(least, most time.Duration, n int) time.Duration {
	return max(backoff.Full(backoff.Doubled(least, most, n)), time.Millisecond)
}
