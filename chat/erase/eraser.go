package erase

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/chatd/chatd/chat"
)

const (
	groupsAtOnce   = 50                    // that one round trip looks at
	usersAtOnce    = 200                   // whose inboxes one round trip looks at
	schedulesPage  = 100                   // and about a MiB
	entriesPerRest = 50                    // entries erased between two rests
	rest           = 50 * time.Millisecond // so that readers of a group get at most a thousand entries a second
)

// eraser carries out one erasure.
type eraser struct {
	*Service
	record Record
	last   int64 // the highest id to be erased in a group
	erased int   // entries since the last rest
	// What the record does not have yet.
	touched, held []string
}

// move writes how far the erasure is.
func (e *eraser) move(ctx context.Context, cursor string) error {
	err := e.store.MoveErasure(ctx, e.record, Progress{Phase: e.record.Phase, Cursor: cursor,
		Groups: e.touched, Held: e.held})
	if err != nil {
		return err
	}
	e.record.Cursor, e.touched, e.held = cursor, nil, nil
	return nil
}

// person removes what is kept of the user alone. Schedules go first: they would send what they hold.
func (e *eraser) person(ctx context.Context) error {
	for after := ""; ; {
		page, next, err := e.schedules.SchedulesOf(ctx, chat.Caller{User: e.record.User}, after, schedulesPage, e.opt.Limits.PageBytesMax)
		if err != nil {
			return err
		}
		for _, one := range page {
			if err := e.schedules.CancelSchedule(ctx, one.ID); err != nil && !errors.Is(err, chat.ErrConflict) && !errors.Is(err, chat.ErrNotFound) {
				return err
			}
			if err := e.schedules.ForgetSchedule(ctx, one.ID); err != nil {
				return err
			}
		}
		if next == "" {
			break
		}
		after = next
	}
	return e.belongings(ctx)
}

func (e *eraser) belongings(ctx context.Context) error {
	for _, erase := range e.elsewhere {
		if err := erase(ctx, e.record.User); err != nil {
			return err
		}
	}
	if err := e.store.EraseAudit(ctx, e.record.User, nil); err != nil {
		return err
	}
	for {
		if more, err := e.store.ErasePerson(ctx, e.record.User); err != nil || !more {
			return err
		}
	}
}

// groups goes through all groups: nothing says in which of them someone wrote who has left. A run that is cut off begins again; a
// group that has nothing of the person costs one read.
func (e *eraser) groups(ctx context.Context) error {
	for cursor := uint64(0); ; {
		names, next, err := e.store.GroupIDs(ctx, cursor)
		if err != nil {
			return err
		}
		for len(names) > 0 {
			n := min(len(names), groupsAtOnce)
			if err := e.some(ctx, names[:n]); err != nil {
				return err
			}
			names = names[n:]
		}
		if next == 0 {
			return nil
		}
		cursor = next
	}
}

func (e *eraser) some(ctx context.Context, names []string) error {
	at := make([]At, len(names))
	for i, name := range names {
		at[i] = At{Name: name, Pos: 1}
	}
	found, err := e.store.FindAuthored(ctx, e.record.User, at)
	if err != nil {
		return err
	}
	for _, f := range found {
		if err := e.group(ctx, f); err != nil {
			return fmt.Errorf("group %s: %w", f.Group, err)
		}
	}
	if len(e.touched) == 0 && len(e.held) == 0 {
		return nil
	}
	return e.move(ctx, "")
}

// leave takes the person out of the groups that they were alone in, which go with them: by now everything in these is erased and
// counted.
func (e *eraser) leave(ctx context.Context) error {
	groups, err := e.store.ErasureGroups(ctx, e.record)
	if err != nil {
		return err
	}
	for _, group := range groups {
		infos, err := e.logs.Infos(ctx, e.record.User, []string{group})
		if err != nil {
			return err
		}
		if infos[0].Role == "" {
			continue
		}
		err = e.core.DropMember(ctx, chat.Caller{User: e.record.User}, group, e.record.User)
		if err != nil && !errors.Is(err, chat.ErrNotFound) && !chat.IsHeld(err) {
			return err
		}
	}
	return nil
}

// deliveries erases what webhooks have not taken yet. It comes behind everything that makes deliveries without content.
func (e *eraser) deliveries(ctx context.Context) error {
	return e.events.WithdrawAuthored(ctx, e.record.User)
}

// inboxes erases the direct messages of the person, in the inbox of everyone whom the server knows.
func (e *eraser) inboxes(ctx context.Context) error {
	deletedAt := chat.TimeMs(e.opt.Now())
	for after := e.record.Cursor; ; {
		users, next, err := e.store.UsersFrom(ctx, after, usersAtOnce)
		if err != nil {
			return err
		}
		at := make([]At, len(users))
		for i, user := range users {
			at[i] = At{Name: user}
		}
		for len(at) > 0 {
			if at, err = e.store.EraseInboxes(ctx, e.record.ID, e.record.User, at, deletedAt); err != nil {
				return err
			}
		}
		if err := e.move(ctx, next); err != nil || next == "" {
			return err
		}
		after = next
	}
}

// end removes what came while the erasure ran, and the files that no message names any longer, and ends it.
func (e *eraser) end(ctx context.Context) error {
	if err := e.belongings(ctx); err != nil {
		return err
	}
	if err := e.store.EraseFiles(ctx, e.record.User); err != nil {
		return err
	}
	return e.store.FinishErasure(ctx, e.record, recordKeep)
}

// breathe rests now and then.
func (e *eraser) breathe(ctx context.Context) error {
	if e.erased++; e.erased%entriesPerRest != 0 {
		return nil
	}
	select {
	case <-time.After(rest):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
