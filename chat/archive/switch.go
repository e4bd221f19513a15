package archive

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/chatd/chatd/chat"
)

// Switch records at the start of a node whether there is an archive, and which, for the whole store. If that is new, a task
// brings every group in line. A store that is archived into another database is refused, with an error that says what to do.
func (a *Archiver) Switch(ctx context.Context) error {
	state, err := a.groups.ArchiveState(ctx)
	if err != nil {
		return err
	}
	if a.db == nil {
		return a.switchOff(ctx, state)
	}
	id, err := a.db.ID(ctx)
	if err != nil {
		return err
	}
	if state.On && state.ID != id {
		return OtherDatabase(id, state.ID)
	}
	if !state.On && state.ID != "" && state.ID != id {
		// Another one was switched off before. It has entries of groups that the archiver has not left yet, which this one lacks.
		if err := a.groups.WantArchive(ctx, state.ID, 0, false); err != nil {
			return err
		}
		if err := a.align(ctx, false); err != nil {
			return err
		}
	}
	err = a.groups.SwitchArchive(ctx, id, true)
	if errors.Is(err, chat.ErrConflict) {
		return OtherDatabase(id, "")
	}
	if err == nil {
		err = a.groups.WantArchive(ctx, id, a.opt.Delay, true)
	}
	if err != nil {
		return err
	}
	if state.On && state.Walked {
		return nil
	}
	return a.enqueueWalk(ctx, id)
}

// lookEvery is how often a node checks that its store still knows of the archive: one read.
const lookEvery = 10 * time.Second

// Run switches the archive on again whenever the store has lost everything, until ctx ends.
func (a *Archiver) Run(ctx context.Context) error {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-ticker.C:
			if err := a.Resume(ctx); err != nil && chat.CodeOf(err) != chat.CodeUnavailable {
				a.opt.Log.ErrorContext(ctx, "the archive cannot be switched on again", "error", err)
			}
		}
	}
}

// Resume switches the archive on where the store has never heard of one, although this node has one.
func (a *Archiver) Resume(ctx context.Context) error {
	state, err := a.groups.ArchiveState(ctx)
	if err != nil || a.db == nil || state.ID != "" {
		return err
	}
	a.opt.Log.WarnContext(ctx, "the store has lost that it is archived: the archive is switched on again")
	return a.Switch(ctx)
}

// OtherDatabase is the error that the database id is not the one that a store is archived into.
func OtherDatabase(id, other string) error {
	return fmt.Errorf("the store is archived to another database (id %q) than this one (id %q): set CHATD_ARCHIVE to that "+
		"database, or start once with CHATD_ARCHIVE=off to give it up; messages that only it has are then no longer served", other, id)
}

func (a *Archiver) switchOff(ctx context.Context, state State) error {
	if state.ID == "" {
		return nil
	}
	err := a.groups.SwitchArchive(ctx, "", false)
	if err == nil {
		err = a.groups.WantArchive(ctx, state.ID, 0, false)
	}
	if err != nil {
		return err
	}
	if !state.On && state.Walked {
		return nil
	}
	return a.enqueueWalk(ctx, state.ID)
}

// enqueueWalk makes the task that brings every group in line. A walk that runs already may have passed a partition before it
// knew of the change, so what that walk records is not looked at.
func (a *Archiver) enqueueWalk(ctx context.Context, id string) error {
	return a.groups.Enqueue(ctx, chat.NewTask{Queue: chat.QueueCore, Kind: TaskWalk, Subject: TaskWalk, Payload: WalkTask{ID: id},
		Priority: chat.PriorityLow, Unique: TaskWalk})
}

// walk brings every group in line. A run that is cut off begins again: a group that is in line costs one step.
func (a *Archiver) walk(ctx context.Context, t WalkTask) error {
	if t.ID == "" {
		return chat.Invalid("a task names no database")
	}
	state, err := a.groups.ArchiveState(ctx)
	if err == nil {
		err = a.align(ctx, state.On)
	}
	if err == nil && state.On {
		err = a.compareFrom(ctx, CompareTask{ID: state.ID, Pass: rand.Text()})
	}
	if err == nil {
		err = a.groups.ArchiveWalked(ctx, state.On)
	}
	return a.storeAway(ctx, err)
}

// align brings every group in line. If that makes tasks, it waits while there are enough of them.
func (a *Archiver) align(ctx context.Context, on bool) error {
	for cursor := uint64(0); ; {
		groups, next, err := a.groups.GroupIDs(ctx, cursor)
		if err == nil {
			err = a.groups.AlignArchive(ctx, groups)
		}
		if err == nil && on {
			err = a.waitForFewer(ctx)
		}
		if err != nil || next == 0 {
			return err
		}
		cursor = next
	}
}

// waitForFewer returns when few groups wait to be archived.
func (a *Archiver) waitForFewer(ctx context.Context) error {
	for {
		waiting, err := a.groups.ArchiveWaiting(ctx)
		if err != nil || waiting < walkWaiting {
			return err
		}
		select {
		case <-time.After(walkPause):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
