package erase

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/chatd/chatd/chat"
)

// errHeld ends the erasure in a group that came under a legal hold.
var errHeld = errors.New("the group is under a legal hold")

// changedTries bounds how often what changes meanwhile is read again.
const changedTries = 20

// group erases what a group has of the person: membership, entries, and what is beside the log.
func (e *eraser) group(ctx context.Context, f Found) error {
	mine := e.mine(f)
	if !f.Member && !f.Traces && len(mine) == 0 && f.Next == 0 {
		return nil
	}
	if f.Member || len(mine) > 0 {
		e.touched = append(e.touched, f.Group)
	}
	waits, err := e.waits(ctx, f)
	if err != nil {
		return err
	}
	if f.Member && !(waits && f.Members == 1) {
		if f.Members == 1 {
			// The group goes with its last member, and everything in it.
			e.record.Messages += messagesAmong(mine)
		}
		err := e.core.RemoveMember(ctx, chat.Caller{User: e.record.User}, f.Group, e.record.User)
		if err != nil && !errors.Is(err, chat.ErrNotFound) {
			return err
		}
		if f.Members == 1 {
			return nil
		}
	}
	if waits {
		return e.store.DropTraces(ctx, f.Group, e.record.User)
	}
	err = e.log(ctx, f)
	if errors.Is(err, errHeld) {
		_, err = e.waits(ctx, f)
	}
	if errors.Is(err, chat.ErrNotFound) {
		return nil // deleted meanwhile
	}
	if err != nil {
		return err
	}
	return e.store.DropTraces(ctx, f.Group, e.record.User)
}

// waits notes in a group under a legal hold that the erasure waits for its end.
func (e *eraser) waits(ctx context.Context, f Found) (bool, error) {
	waits, err := e.store.HoldErasure(ctx, e.record.ID, f.Group, f.Epoch, e.record.User)
	if waits {
		e.held = append(e.held, f.Group)
	}
	return waits, err
}

// authored is an entry of the person.
type authored struct {
	chat.Message
	entry chat.Entry
}

// mine are the entries of the person that have something to erase.
func (e *eraser) mine(f Found) (list []authored) {
	for _, m := range f.Messages {
		if one, ok := e.isMine(m); ok {
			list = append(list, one)
		}
	}
	return list
}

func (e *eraser) isMine(m chat.Message) (one authored, ok bool) {
	one.Message = m
	if m.ID > e.last || json.Unmarshal(m.JSON, &one.entry) != nil || one.entry.From != e.record.User || one.entry.DeletedAt != nil {
		return one, false
	}
	switch one.entry.Kind {
	case chat.Text, chat.Data, chat.Edit:
		return one, true
	case chat.Reaction:
		return one, !one.entry.Removed
	}
	return one, false
}

func messagesAmong(list []authored) (n int64) {
	for _, one := range list {
		if one.entry.Kind == chat.Text || one.entry.Kind == chat.Data {
			n++
		}
	}
	return n
}

// log erases the entries that the store holds, page by page. Where one has changed since it was read, it is read again.
func (e *eraser) log(ctx context.Context, f Found) error {
	for changed := 0; ; {
		at, err := e.entries(ctx, f)
		switch {
		case errors.Is(err, chat.ErrConflict) && changed < changedTries:
			changed++
		case err != nil:
			return err
		case f.Next == 0 || f.Next > e.last:
			return nil
		default:
			at, changed = f.Next, 0
		}
		found, err := e.store.FindAuthored(ctx, e.record.User, []At{{Name: f.Group, Pos: at}})
		if err != nil {
			return err
		}
		if len(found) == 0 || found[0].Epoch != f.Epoch {
			return chat.ErrNotFound
		}
		f = found[0]
	}
}

// entries erases the entries of a page, and returns the id of the one that failed.
func (e *eraser) entries(ctx context.Context, f Found) (at int64, err error) {
	for _, one := range e.mine(f) {
		err := e.entry(ctx, f, one)
		if err == nil {
			err = e.breathe(ctx)
		}
		if err != nil {
			return one.ID, err
		}
	}
	return 0, nil
}

// entry erases what the store holds of an entry.
func (e *eraser) entry(ctx context.Context, f Found, one authored) error {
	switch {
	case one.entry.Kind == chat.Reaction:
		return e.takeBack(ctx, target{Group: f.Group, Epoch: f.Epoch, ID: one.entry.Target}, one.entry.Emoji)
	case one.entry.Kind != chat.Edit:
		edits, err := e.logs.Entries(ctx, f.Group, one.Edits)
		if err != nil {
			return err
		}
		_, err = e.delete(ctx, target{Group: f.Group, Epoch: f.Epoch, ID: one.ID}, append([]chat.Message{one.Message}, edits...))
		return err
	case one.entry.Target >= f.Held, f.ArchivedFrom > 0 && one.entry.Target >= f.ArchivedFrom:
		return nil // it goes with its target, which the store or the archive has
	}
	_, err := e.delete(ctx, target{Group: f.Group, Epoch: f.Epoch, ID: one.entry.Target}, []chat.Message{one.Message})
	return err
}

// target is an entry of a log that is erased.
type target struct {
	Group, Epoch string
	ID           int64
	Below        bool // it is in the archive
	Late         int64
}

// delete erases entries of which the first is the target, or all are edits of a target that is gone. The deletion has no author, so
// that the archive and every client take the name off what is left of the message.
func (e *eraser) delete(ctx context.Context, t target, list []chat.Message) (id int64, err error) {
	deletion := chat.Entry{Group: t.Group, Content: chat.Content{Kind: chat.Delete, Target: t.ID}}
	id, err = e.write(ctx, t, deletion, list)
	if err == nil && len(list) > 0 && list[0].ID == t.ID {
		e.record.Messages++
	}
	return id, err
}

// takeBack takes a reaction back.
func (e *eraser) takeBack(ctx context.Context, t target, emoji string) error {
	_, err := e.write(ctx, t, chat.Entry{Group: t.Group, From: e.record.User,
		Content: chat.Content{Kind: chat.Reaction, Target: t.ID, Emoji: emoji, Removed: true}}, nil)
	return err
}

// write appends an entry that erases, with what it makes of others, and returns its id.
func (e *eraser) write(ctx context.Context, t target, entry chat.Entry, list []chat.Message) (int64, error) {
	now := e.opt.Now()
	entry.SentAt = chat.TimeMs(now)
	erasure := EntryErasure{Group: t.Group, Epoch: t.Epoch, User: e.record.User, Kind: entry.Kind, SentAtMs: now, Target: t.ID,
		Emoji: entry.Emoji, Below: t.Below, Late: t.Late}
	erasure.Mark, erasure.Rest = chat.NewEntry(entry)
	for _, m := range list {
		// An edit goes with its message, also one that came behind what is erased. Where the store lost it, another entry is there.
		var was chat.Entry
		if m.ID != t.ID && (json.Unmarshal(m.JSON, &was) != nil || was.Kind != chat.Edit || was.Target != t.ID || was.DeletedAt != nil) {
			continue
		}
		erased, err := chat.Applied(m, entry)
		if err != nil {
			return 0, err
		}
		erasure.Changes = append(erasure.Changes, chat.Change{Old: m, New: erased})
	}
	id, held, err := e.store.EraseEntry(ctx, erasure)
	if held {
		return 0, errHeld
	}
	return id, err
}

// released erases in a group what was held there. The note that something is goes last: whoever dies before it is followed.
func (e *eraser) released(ctx context.Context, group string, w Waiting) error {
	found, err := e.store.FindAuthored(ctx, w.User, []At{{Name: group, Pos: 1}})
	if err != nil {
		return err
	}
	e.record.User = w.User
	if len(found) > 0 && found[0].Epoch == w.Epoch {
		f := found[0]
		if f.OnHold {
			return nil
		}
		err := e.log(ctx, f)
		if err == nil {
			err = e.archivedIn(ctx, f.Group, f.Epoch)
		}
		if err == nil {
			err = e.deliveries(ctx)
		}
		if err == nil {
			err = e.leaveReleased(ctx, f, w)
		}
		switch {
		case errors.Is(err, errHeld):
			return nil // once more: this waits for the end of that
		case err != nil && !errors.Is(err, chat.ErrNotFound):
			return err
		}
	}
	if e.record.ID != "" {
		err := e.store.MoveErasure(ctx, e.record, Progress{Phase: e.record.Phase, Cursor: e.record.Cursor, Messages: e.record.Messages, Free: []string{group}})
		if err != nil && !errors.Is(err, chat.ErrNotFound) {
			return err
		}
		if e.record.State == Done {
			if err := e.store.FinishErasure(ctx, e.record, recordKeep); err != nil {
				return err
			}
		}
	}
	_, err = e.store.HoldErasure(ctx, w.Erasure, group, w.Epoch, w.User)
	return err
}

// leaveReleased takes the person out of a group whose last member they were when it came under the hold.
func (e *eraser) leaveReleased(ctx context.Context, f Found, w Waiting) error {
	infos, err := e.logs.Infos(ctx, w.User, []string{f.Group})
	if err != nil || infos[0].Role == "" || infos[0].Joined > w.Last {
		return err
	}
	return e.core.RemoveMember(ctx, chat.Caller{User: w.User}, f.Group, w.User)
}
