package schedule

import "context"

// Store keeps schedules, each in the partition of its target, and the tasks that fire them: every step below that
// changes when a schedule fires changes its task in the same step.
type Store interface {
	// Clock is the clock that decides what is due, in ms.
	Clock(ctx context.Context) (int64, error)
	// CreateSchedule makes a schedule and puts it into its owner's index (before: an index may name what is not there,
	// never the reverse). A key that is known gives the schedule as it is now. ErrKeyReused; ErrOutOfRange where the
	// owner has as many as may be, ended ones not counted.
	CreateSchedule(ctx context.Context, n NewSchedule) (r Record, duplicate bool, err error)
	// Schedule reads one, with the clock of the store. ErrNotFound.
	Schedule(ctx context.Context, id string) (r Record, nowMs int64, err error)
	// Schedules pages through those of an owner, the oldest first, at most limit and about bytesMax of them. after is ""
	// or what next was, which clients get as it is: anything else is CodeInvalid.
	Schedules(ctx context.Context, owner, after string, limit, bytesMax int) (page []Record, next string, err error)
	// ChangeSchedule replaces Plan, State (pending or paused) and NextMs of a record that was read. ErrConflict where it
	// changed since, or has ended.
	ChangeSchedule(ctx context.Context, r Record) (Record, error)
	// CancelSchedule ends a schedule: once it has returned, nothing fires. One that is cancelled already is no error,
	// one that ended otherwise is ErrConflict.
	CancelSchedule(ctx context.Context, id string) error
	// Fire sends, and writes what became of it, in one step. A refusal is an outcome, not an error, but where Run is
	// set: then it is returned and nothing changes; ErrConflict for one that has ended.
	Fire(ctx context.Context, f Firing) (Fired, error)
	// ForgetSchedule removes one that has ended, and its place in the index. Anything else stays.
	ForgetSchedule(ctx context.Context, id string) error
}
