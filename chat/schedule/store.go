package schedule

import (
	"context"

	"github.com/chatd/chatd/chat"
)

// Store stores schedules, each in the partition of its target, and the tasks that fire them. Every method below that
// changes when a schedule fires also changes its task, in the same step.
type Store interface {
	// Clock is the clock that decides what is due, in ms.
	Clock(ctx context.Context) (int64, error)
	// CreateSchedule first adds the schedule to its owner's index and then creates it: the index may name a missing
	// schedule, but never miss one. A known key returns the existing schedule. ErrKeyReused, ErrReviewGone; ErrOutOfRange if the owner
	// has the maximum, not counting ended ones, or the maximum that fires within a minute.
	CreateSchedule(ctx context.Context, n NewSchedule) (r Record, duplicate bool, err error)
	// ReviewOf tells for which review of a message from a user to a group, or to another, a key stands; empty: for none. ErrKeyReused.
	ReviewOf(ctx context.Context, group, to, from, key, content string) (id string, err error)
	// HasSchedule tells whether there is one of the key of n, whatever its content.
	HasSchedule(ctx context.Context, n NewSchedule) (bool, error)
	// Schedule reads one, together with the clock of the store. ErrNotFound.
	Schedule(ctx context.Context, id string) (r Record, nowMs int64, err error)
	// SchedulesOf pages through an owner's schedules that it reaches, oldest first, at most limit and about bytesMax of them.
	// after is "" or an earlier next, which passes through clients: CodeInvalid if it is anything else.
	SchedulesOf(ctx context.Context, owner chat.Caller, after string, limit, bytesMax int) (page []Record, next string, err error)
	// SchedulesNamed reads schedules by their ids, in this order. What is not there, or cannot be read, is left out.
	SchedulesNamed(ctx context.Context, ids []string) ([]Record, error)
	// ChangeSchedule replaces Plan, State (pending or paused) and NextMs of a record that was read. ErrConflict if it
	// has changed since, or has ended. bounded: ErrOutOfRange if it would fire in a minute in which the maximum of its
	// owner's schedules fires.
	ChangeSchedule(ctx context.Context, r Record, bounded bool) (Record, error)
	// CancelSchedule ends a schedule: after it returns, nothing fires. Repeating it is no error; ErrConflict if it
	// ended in another way.
	CancelSchedule(ctx context.Context, id string) error
	// Fire sends and records the outcome in one step. A refusal is an outcome, not an error, unless Run is set: then it
	// is returned and nothing changes; ErrConflict if the schedule has ended. ErrConflict also if the archive has changed since
	// Append.Below was read.
	Fire(ctx context.Context, f Firing) (Fired, error)
	// ForgetSchedule removes an ended schedule and its index entry. It leaves any other alone.
	ForgetSchedule(ctx context.Context, id string) error
}
