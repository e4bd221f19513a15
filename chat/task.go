package chat

import (
	"context"
	"encoding/json"
	"errors"
	"time"
)

// Queues of the domain's tasks. Work on the store is in one, deliveries to the world outside in another, so that an
// endpoint that hangs holds no worker that messages wait for.
const (
	QueueCore   = "core"
	QueueEgress = "egress"
)

// Priority of a task decides which waiting tasks go first. Lower ones are served, too, by their weight.
type Priority string

// The priorities that the domain uses.
const (
	PriorityHigh   Priority = "high"
	PriorityNormal Priority = "normal"
	PriorityLow    Priority = "low"
)

// NewTask is a task to be enqueued.
type NewTask struct {
	Queue   string // QueueCore or QueueEgress
	Kind    string
	Subject string // the group or user that it is about: says in which partition it lives
	// Key makes the id, together with the kind: while a task of this id exists, a second one is not enqueued. Empty: a
	// task of its own each time.
	Key      string
	Account  string // the account that it counts against while it waits; empty: none
	Payload  any    // as JSON
	Priority Priority
	Delay    time.Duration
	Unique   string // while a task with this key waits, no second one is enqueued; empty: none
}

// PeriodicTask is a task that comes again and again, each time once for all nodes together. An occurrence is left out
// while the one before still waits or runs.
type PeriodicTask struct {
	Kind    string // of its tasks, and its own name
	Every   time.Duration
	Payload any // as JSON
}

// TaskStore enqueues tasks.
type TaskStore interface {
	// Enqueue puts tasks in, each in the partition of its subject: one step for those of a partition and queue.
	Enqueue(ctx context.Context, tasks ...NewTask) error
}

// TaskRun is one run of a task.
type TaskRun struct {
	ID       string
	Attempt  int // from 1; runs that ended with their worker count too
	Failed   int // runs before this one whose handler failed
	Payload  []byte
	Enqueued time.Time // by the clock of the store
}

// TaskKind says how to run the tasks of one kind. A task may run twice, so Run must be idempotent. A payload that cannot be
// read is invalid_request: trying again is useless. Run may return Postpone.
type TaskKind struct {
	Queue       string
	Timeout     time.Duration // of one run; 0: none
	AttemptsMax int           // failed runs before it is a dead letter; 0: as the engine says
	Run         func(ctx context.Context, run TaskRun) error
}

// Postponed says that a task runs again after a time. Without a cause nothing failed, and no attempt is counted.
type Postponed struct {
	After time.Duration
	Cause error
}

func (p *Postponed) Error() string {
	if p.Cause == nil {
		return "postponed"
	}
	return p.Cause.Error()
}

func (p *Postponed) Unwrap() error { return p.Cause }

// Postpone is returned by a task that has to run again after a time: as a failed attempt if there is a cause, otherwise as if
// it had not run.
func Postpone(after time.Duration, cause error) error { return &Postponed{After: after, Cause: cause} }

// Handle makes a task of QueueCore of a function that takes the decoded payload.
func Handle[T any](run func(context.Context, T) error) TaskKind {
	return HandleRun(func(ctx context.Context, t T, _ TaskRun) error { return run(ctx, t) })
}

// unavailablePause is how long a patient task waits for a store that cannot be reached.
const unavailablePause = 250 * time.Millisecond

// Patient is Handle for what has to happen no matter how long the store is unreachable: no number of attempts makes it a dead
// letter. A worker that stops returns its task to the queue.
func Patient[T any](run func(context.Context, T) error) TaskKind {
	return Handle(func(ctx context.Context, t T) error {
		err := run(ctx, t)
		if ctx.Err() == nil && CodeOf(AsError(err)) == CodeUnavailable {
			return Postpone(unavailablePause, nil)
		}
		return err
	})
}

// HandleRun is Handle for a function that also gets the run.
func HandleRun[T any](do func(context.Context, T, TaskRun) error) TaskKind {
	return TaskKind{Queue: QueueCore, Run: func(ctx context.Context, run TaskRun) error {
		var t T
		if err := json.Unmarshal(run.Payload, &t); err != nil {
			return &Error{Code: CodeInvalid, Message: "the payload of a task cannot be read", Cause: err}
		}
		err := do(ctx, t, run)
		var later *Postponed
		if errors.As(err, &later) {
			return later
		}
		return AsError(err)
	}}
}
