package archive

import (
	"context"
	"errors"

	"github.com/chatd/chatd/chat"
)

// Bounds of a run of the task that compares.
const (
	compareLogs  = 500 // of one step
	compareSteps = 20
)

// compare drops the logs of groups that were deleted while the archive was switched off: some steps, then another task goes on.
// The logs are listed before the store is asked, so that the store knows the group, or the import, of each live log. Ended logs
// are dropped by the task that a deletion makes.
func (a *Archiver) compare(ctx context.Context, t CompareTask) error {
	if t.ID == "" || t.Pass == "" || t.After < 0 {
		return chat.Invalid("a task names no database or no pass")
	}
	state, err := a.groups.ArchiveState(ctx)
	if err != nil || !state.On || state.ID != t.ID {
		return a.storeAway(ctx, err)
	}
	if a.db == nil {
		return chat.Postpone(elsewhere, nil)
	}
	if t.After == 0 {
		if err := a.groups.CompareArchive(ctx, t.ID, t.Pass, false); err != nil {
			return a.storeAway(ctx, err)
		}
	}
	for range compareSteps {
		if t.After, err = a.compareStep(ctx, t); err != nil {
			return a.afterCompareFailure(ctx, err)
		}
		if t.After == 0 {
			return a.storeAway(ctx, a.groups.CompareArchive(ctx, t.ID, t.Pass, true))
		}
	}
	return a.storeAway(ctx, a.compareFrom(ctx, t))
}

func (a *Archiver) compareStep(ctx context.Context, t CompareTask) (next int64, err error) {
	var logs, ended []Log
	err = a.call(ctx, func(ctx context.Context) (err error) {
		logs, next, err = a.db.LogsAfter(ctx, t.After, compareLogs)
		return err
	})
	if err == nil {
		ended, err = a.groups.EndedLogs(ctx, t.ID, logs)
	}
	for _, log := range ended {
		if err == nil {
			err = a.enqueueArchive(ctx, chat.GroupTask{Group: log.Group, Epoch: log.Epoch}, 0)
		}
	}
	if err == nil {
		err = a.waitForFewer(ctx)
	}
	return next, err
}

// afterCompareFailure has the task run again as soon as the database may answer.
func (a *Archiver) afterCompareFailure(ctx context.Context, err error) error {
	var ofDB *dbError
	if ctx.Err() != nil || !errors.As(err, &ofDB) {
		return a.storeAway(ctx, err)
	}
	if wait, ok := a.breaker.wait(); !ok {
		return chat.Postpone(wait, nil)
	}
	return chat.Postpone(refusedPause, err)
}

// compareFrom makes the task that begins a pass, or goes on with it. Passes do not share a task: see CompareArchive.
func (a *Archiver) compareFrom(ctx context.Context, t CompareTask) error {
	return a.groups.Enqueue(ctx, chat.NewTask{Queue: chat.QueueCore, Kind: TaskCompare, Subject: TaskCompare, Payload: t,
		Priority: chat.PriorityLow, Unique: TaskCompare + ":" + t.Pass})
}
