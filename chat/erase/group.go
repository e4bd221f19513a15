package erase

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/archive"
	"github.com/chatd/chatd/chat/audit"
)

// errHeld ends the erasure in a group that came under a legal hold.
var errHeld = errors.New("the group is under a legal hold")

// changedTries bounds how often what changes meanwhile is read again.
const changedTries = 20

// restMax is how many entries without content one entry erases: some KB of ids.
const restMax = 200

// group erases what a group has of the person: membership, entries, and what is beside the log.
func (e *eraser) group(ctx context.Context, f Found) error {
	mine := e.mine(f.Messages)
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
	if f.Member && f.Members > 1 {
		err := e.core.DropMember(ctx, chat.Caller{User: e.record.User}, f.Group, e.record.User)
		if err != nil && !errors.Is(err, chat.ErrNotFound) {
			return err
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
	if err := cmp.Or(e.pins(ctx, f), e.reports(ctx, f)); err != nil {
		return err
	}
	return e.store.DropTraces(ctx, f.Group, e.record.User)
}

// pins erases what the person wrote that is nowhere but among the pins.
func (e *eraser) pins(ctx context.Context, f Found) error {
	return e.inLog(ctx, archive.Log{Group: f.Group, Epoch: f.Epoch}, func() (bool, error) { return e.pinned(ctx, f) })
}

func (e *eraser) pinned(ctx context.Context, f Found) (done bool, err error) {
	list, err := e.store.PinsOf(ctx, f.Group, e.record.User)
	if err != nil || len(list) == 0 {
		return false, err
	}
	ids := make([]int64, len(list))
	for i, m := range list {
		ids[i] = m.ID
	}
	elsewhere, err := e.logs.Entries(ctx, f.Group, ids)
	if err != nil {
		return false, err
	}
	list = slices.DeleteFunc(list, func(m chat.Message) bool {
		return slices.ContainsFunc(elsewhere, func(other chat.Message) bool { return other.ID == m.ID })
	})
	var rest []authored
	for _, one := range e.mine(list) {
		if !one.alive() {
			rest = append(rest, one)
			continue
		}
		edits, err := e.logs.Entries(ctx, f.Group, one.Edits)
		if err != nil {
			return done, err
		}
		if _, err := e.delete(ctx, target{Group: f.Group, Epoch: f.Epoch, ID: one.ID}, append([]chat.Message{one.Message}, edits...)); err != nil {
			return done, err
		}
		done = true
	}
	if len(rest) == 0 {
		return done, nil
	}
	return true, e.rest(ctx, target{Group: f.Group, Epoch: f.Epoch}, rest)
}

// reports erases what was reported of the person, and what they reported.
func (e *eraser) reports(ctx context.Context, f Found) error {
	return e.store.EraseReports(ctx, f.Group, f.Epoch, e.record.User, e.last)
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

// mine are the entries of the person that have something to erase: their author, at least. Notices are the server's.
func (e *eraser) mine(list []chat.Message) (mine []authored) {
	for _, m := range list {
		one := authored{Message: m}
		if m.ID <= e.last && json.Unmarshal(m.JSON, &one.entry) == nil && one.entry.From == e.record.User && one.entry.Kind != chat.Notice {
			mine = append(mine, one)
		}
	}
	return mine
}

// alive tells whether it is a message or an edit with content, or an entry that added a reaction.
func (one authored) alive() bool {
	switch one.entry.Kind {
	case chat.Text, chat.Data, chat.Edit:
		return one.entry.DeletedAt == nil
	case chat.Reaction:
		return one.entry.DeletedAt == nil && !one.entry.Removed
	}
	return false
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
	var rest []authored
	for _, one := range e.mine(f.Messages) {
		done := false
		if one.alive() {
			if done, err = e.entry(ctx, f, one); err != nil {
				return one.ID, err
			}
		}
		if !done {
			rest = append(rest, one)
			continue
		}
		if err := e.breathe(ctx); err != nil {
			return one.ID, err
		}
	}
	if len(rest) == 0 {
		return 0, nil
	}
	if err := e.archiveDeletions(ctx, f, rest); err != nil {
		return rest[0].ID, err
	}
	return rest[0].ID, e.rest(ctx, target{Group: f.Group, Epoch: f.Epoch}, rest)
}

// archiveDeletions has the archive take deletions as they were: from one without an author it takes that the target has none either.
func (e *eraser) archiveDeletions(ctx context.Context, f Found, list []authored) error {
	last := int64(0)
	for _, one := range list {
		if one.entry.Kind == chat.Delete {
			last = one.ID
		}
	}
	if e.db == nil || last == 0 {
		return nil
	}
	return e.db.CatchUp(ctx, f.Group, last)
}

// entry erases what the store holds of an entry that is alive. done is false for a reaction that does not stand.
func (e *eraser) entry(ctx context.Context, f Found, one authored) (done bool, err error) {
	switch {
	case one.entry.Kind == chat.Reaction && one.entry.Target < f.Held:
		return e.other(ctx, archive.Log{Group: f.Group, Epoch: f.Epoch}, one)
	case one.entry.Kind == chat.Reaction:
		return e.reaction(ctx, target{Group: f.Group, Epoch: f.Epoch, ID: one.entry.Target}, one)
	case one.entry.Kind != chat.Edit:
		edits, err := e.logs.Entries(ctx, f.Group, one.Edits)
		if err != nil {
			return false, err
		}
		_, err = e.delete(ctx, target{Group: f.Group, Epoch: f.Epoch, ID: one.ID}, append([]chat.Message{one.Message}, edits...))
		return true, err
	case one.entry.Target >= f.Held, f.ArchivedFrom > 0 && one.entry.Target >= f.ArchivedFrom:
		return true, nil // it goes with its target, which the store or the archive has
	}
	_, err = e.delete(ctx, target{Group: f.Group, Epoch: f.Epoch, ID: one.entry.Target}, []chat.Message{one.Message})
	return true, err
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
	return e.write(ctx, t, chat.Delete, deletion, list)
}

// reaction takes back a reaction, if it stands. The entry has no author and names the one that added the reaction: clients count less,
// and the archive knows whose it was.
func (e *eraser) reaction(ctx context.Context, t target, one authored) (done bool, err error) {
	if t.Below {
		counts, err := e.logs.Reactions(ctx, t.Group, e.record.User, t.ID, t.ID)
		if err != nil || !counts[t.ID][one.entry.Emoji].Mine {
			return false, err
		}
	}
	back := chat.Entry{Group: t.Group, Content: chat.Content{Kind: chat.Reaction, Target: t.ID, Emoji: one.entry.Emoji, Removed: true}, Erased: []int64{one.ID}}
	id, err := e.write(ctx, t, chat.Reaction, back, []chat.Message{one.Message})
	return id > 0, err
}

// rest takes the author, and what the author chose, off entries that have no content any more, or never had. One entry says so of
// all: nothing that clients show changes.
func (e *eraser) rest(ctx context.Context, t target, list []authored) error {
	for some := range slices.Chunk(list, restMax) {
		messages, ids := make([]chat.Message, len(some)), make([]int64, len(some))
		for i, one := range some {
			messages[i], ids[i] = one.Message, one.ID
		}
		t.ID = ids[0]
		entry := chat.Entry{Group: t.Group, Content: chat.Content{Kind: chat.Delete, Target: t.ID}, Erased: ids}
		if _, err := e.write(ctx, t, "", entry, messages); err != nil {
			return err
		}
		if err := e.breathe(ctx); err != nil {
			return err
		}
	}
	return nil
}

// write appends an entry that erases, with what it makes of others, and returns its id; 0: there was nothing to erase.
func (e *eraser) write(ctx context.Context, t target, kind chat.Kind, entry chat.Entry, list []chat.Message) (int64, error) {
	now := e.opt.Now()
	entry.SentAt = chat.TimeMs(now)
	erasure := EntryErasure{Erasure: e.record.ID, Group: t.Group, Epoch: t.Epoch, User: e.record.User, Kind: kind, SentAtMs: now, Target: t.ID,
		Emoji: entry.Emoji, Below: t.Below, Late: t.Late}
	erasure.Mark, erasure.Rest = chat.NewEntry(entry)
	for _, m := range list {
		// An edit goes with its message, also one that came behind what is erased. Where the store lost it, another entry is there.
		var was chat.Entry
		if m.ID != t.ID && len(entry.Erased) == 0 && (json.Unmarshal(m.JSON, &was) != nil || was.Kind != chat.Edit || was.Target != t.ID || was.DeletedAt != nil) {
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

// released erases in a group what was held there. The note that something is goes last: a node that dies before it is followed by another.
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
			err = e.pins(ctx, f)
		}
		if err == nil {
			err = e.reports(ctx, f)
		}
		if err == nil {
			err = e.archivedIn(ctx, f.Group, f.Epoch)
		}
		if err == nil {
			err = e.deliveries(ctx)
		}
		if err == nil {
			err = e.store.EraseAudit(ctx, w.User, audit.About(f.Group, f.Epoch, w.User, w.Last)) // it may name them again
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
		err := e.store.MoveErasure(ctx, e.record, Progress{Phase: e.record.Phase, Cursor: e.record.Cursor, Free: []string{group}})
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
	return e.core.DropMember(ctx, chat.Caller{User: w.User}, f.Group, w.User)
}
