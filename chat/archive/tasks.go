package archive

import (
	"context"
	"errors"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/queue/backoff"
)

// Kinds of the tasks of the archive. A kind is stored with its tasks, so it keeps its name when the code is renamed.
const (
	TaskArchive = "archive"         // chat.GroupTask: a group has grown, or is gone
	TaskWalk    = "archive_walk"    // WalkTask: the archive was switched on or off
	TaskCompare = "archive_compare" // CompareTask: groups may have been deleted while the archive was switched off
)

// WalkTask brings every group in line with whether there is an archive.
type WalkTask struct {
	ID string `json:"id"` // of the database
}

// CompareTask drops the logs of groups that were deleted while the archive was switched off.
type CompareTask struct {
	ID    string `json:"id"`    // of the database
	Pass  string `json:"pass"`  // names the pass
	After int64  `json:"after"` // of LogsAfter: what comes before is done
}

// Pauses of the tasks.
const (
	busyPause    = 100 * time.Millisecond // another run archives the group, or too many run
	storePause   = 250 * time.Millisecond // the store of the groups cannot be reached
	refusedPause = 10 * time.Second       // the database refused entries
	elsewhere    = time.Second            // this node has no archive, another has
	walkPause    = time.Second            // while enough groups wait
	walkWaiting  = 10_000                 // groups that wait, some MB of tasks
	dropSteps    = 80                     // steps of one run that drops a log
	turnPause    = time.Millisecond       // between two tasks that a node puts back
	forgetSteps  = 2_000                  // steps of one call of Forget
)

// Handlers are the tasks of the archive, by kind.
func (a *Archiver) Handlers() map[string]chat.TaskKind {
	return map[string]chat.TaskKind{
		TaskArchive: chat.Handle(a.runGroup),
		TaskWalk:    chat.Handle(a.walk),
		TaskCompare: chat.Handle(a.compare),
	}
}

// runGroup archives what is new in a group. A run that cannot, or that has done its share, ends with another task in its place,
// unless one waits already: so one task waits for a group, however long the database is away.
func (a *Archiver) runGroup(ctx context.Context, t chat.GroupTask) error {
	if err := chat.CheckTask(t.Group, t.Epoch); err != nil {
		return err
	}
	if a.db == nil {
		state, err := a.groups.ArchiveState(ctx)
		if err != nil || !state.On {
			return a.storeAway(ctx, err)
		}
		return a.later(ctx, t, elsewhere)
	}
	select {
	case a.runs <- struct{}{}:
		defer func() { <-a.runs }()
	default:
		return a.later(ctx, t, a.whileBusy())
	}
	if busy := a.locks.try(t.Group); busy != nil {
		return a.later(ctx, t, a.whileBusy())
	}
	defer a.locks.free(t.Group)
	if a.breaker.shut() {
		return a.afterFailure(ctx, t, errAway)
	}
	var r run
	for range runSteps {
		_, more, err := a.step(ctx, &r, t.Group, t.Epoch)
		if errors.Is(err, chat.ErrNotFound) {
			more, err = a.drop(ctx, Log{Group: t.Group, Epoch: t.Epoch})
		}
		if err != nil {
			return a.afterFailure(ctx, t, err)
		}
		if !more {
			return nil
		}
	}
	return a.later(ctx, t, 0)
}

// whileBusy is how long to wait for other runs: the longer, the longer the database has been silent.
func (a *Archiver) whileBusy() time.Duration {
	return backoff.Spread(max(busyPause, a.breaker.silence()))
}

// afterFailure has the task run again when it may succeed.
func (a *Archiver) afterFailure(ctx context.Context, t chat.GroupTask, err error) error {
	var ofDB *dbError
	switch {
	case ctx.Err() != nil:
		return err // the node stops: the engine gives the task back
	case errors.Is(err, chat.ErrConflict):
		return a.later(ctx, t, busyPause)
	case !errors.As(err, &ofDB):
		return a.storeAway(ctx, err)
	}
	// The lag is read once more for the stats: nobody else counts it.
	if lag, err := a.groups.Unarchived(ctx, t.Group, 1); err == nil && lag.Epoch == t.Epoch {
		a.behind.note(lag)
	}
	if wait, ok := a.breaker.wait(); !ok {
		return a.later(ctx, t, wait)
	}
	return a.later(ctx, t, backoff.Spread(refusedPause))
}

// storeAway waits for the store of the groups, and passes on any other error.
func (a *Archiver) storeAway(ctx context.Context, err error) error {
	if ctx.Err() == nil && chat.CodeOf(err) == chat.CodeUnavailable {
		return chat.Postpone(storePause, nil)
	}
	return err
}

// later enqueues another task for one that ends now, unless one waits already. However many groups wait, a node puts back only
// some of them in a second.
func (a *Archiver) later(ctx context.Context, t chat.GroupTask, after time.Duration) error {
	return a.storeAway(ctx, a.enqueueArchive(ctx, t, max(after, a.turns.next())))
}

func (a *Archiver) enqueueArchive(ctx context.Context, t chat.GroupTask, after time.Duration) error {
	return a.groups.Enqueue(ctx, chat.NewTask{Queue: chat.QueueCore, Kind: TaskArchive, Subject: t.Group, Account: TaskArchive,
		Payload: t, Priority: chat.PriorityLow, Delay: after, Unique: TaskArchive + ":" + t.Group + ":" + t.Epoch})
}

// Forget deletes the entries of a log below an id from the database, in steps. ErrUnavailable: it cannot be reached, or one call
// does not delete that much.
func (a *Archiver) Forget(ctx context.Context, group, epoch string, below int64) error {
	if a.db == nil {
		return chat.ErrUnavailable
	}
	log := Log{Group: group, Epoch: epoch}
	for range forgetSteps {
		var more bool
		err := a.call(ctx, func(ctx context.Context) error {
			// A step that deletes nothing still scrubs the file: most calls find nothing.
			lowest, err := a.db.Read(ctx, log, Span{From: 1, To: below - 1, Limit: 1, BytesMax: 1})
			if err == nil && len(lowest) > 0 {
				more, err = a.db.Drop(ctx, log, below-1)
			}
			return err
		})
		if err != nil || !more {
			return err
		}
	}
	return chat.ErrUnavailable
}

// drop removes the log of a group that is gone.
func (a *Archiver) drop(ctx context.Context, log Log) (more bool, err error) {
	for range dropSteps {
		err = a.call(ctx, func(ctx context.Context) (err error) {
			more, err = a.db.Drop(ctx, log, chat.IDMax)
			return err
		})
		if err != nil || !more {
			break
		}
	}
	if err == nil && !more {
		a.behind.caughtUp(log)
	}
	return more, err
}
