package erase

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/archive"
)

const archivedPage = 200 // messages, or reactions, that one query of the archive finds

// archived erases the messages that only the archive has.
func (e *eraser) archived(ctx context.Context) error {
	return e.archivedOf(ctx, func(archive.Log) bool { return true })
}

// archivedIn erases those of one log, with the reactions.
func (e *eraser) archivedIn(ctx context.Context, group, epoch string) error {
	only := func(log archive.Log) bool { return log == archive.Log{Group: group, Epoch: epoch} }
	e.record.Cursor = ""
	if err := e.archivedOf(ctx, only); err != nil {
		return err
	}
	e.record.Cursor = ""
	if err := e.leftEdits(ctx, only); err != nil {
		return err
	}
	e.record.Cursor = ""
	return e.reactionsOf(ctx, only)
}

func (e *eraser) archivedOf(ctx context.Context, wanted func(archive.Log) bool) error {
	if e.db == nil {
		return nil
	}
	for after, _ := strconv.ParseInt(e.record.Cursor, 10, 64); ; {
		list, err := e.db.Authored(ctx, e.record.User, after, archivedPage)
		if err != nil || len(list) == 0 {
			return err
		}
		var logs []archive.Log
		ids := map[archive.Log][]int64{}
		for _, one := range list {
			if !wanted(one.Log) {
				continue
			}
			if ids[one.Log] == nil {
				logs = append(logs, one.Log)
			}
			ids[one.Log] = append(ids[one.Log], one.ID)
		}
		for _, log := range logs {
			if err := e.inLog(ctx, log, func() (bool, error) { return e.messages(ctx, log, ids[log]) }); err != nil {
				return err
			}
		}
		after = list[len(list)-1].Doc
		if err := e.moveOwn(ctx, strconv.FormatInt(after, 10)); err != nil {
			return err
		}
	}
}

// edits erases those that only the archive has, of messages that are gone: the others went with their message.
func (e *eraser) edits(ctx context.Context) error {
	return e.leftEdits(ctx, func(archive.Log) bool { return true })
}

func (e *eraser) leftEdits(ctx context.Context, wanted func(archive.Log) bool) error {
	if e.db == nil {
		return nil
	}
	for after := e.record.Cursor; ; {
		list, next, err := e.db.EditsOf(ctx, e.record.User, after, archivedPage)
		if err != nil {
			return err
		}
		for _, one := range list {
			if !wanted(one.Log) {
				continue
			}
			if err := e.inLog(ctx, one.Log, func() (bool, error) { return e.edit(ctx, one) }); err != nil {
				return err
			}
		}
		if next == "" {
			return nil
		}
		if err := e.moveOwn(ctx, next); err != nil {
			return err
		}
		after = next
	}
}

// edit erases an edit that has content, where its target is gone.
func (e *eraser) edit(ctx context.Context, one archive.Change) (done bool, err error) {
	info, err := e.inArchive(ctx, one.Log)
	if err != nil {
		return false, err
	}
	found, err := e.logs.Entries(ctx, one.Group, []int64{one.Target, one.ID})
	if err != nil || len(found) != 1 || found[0].ID != one.ID {
		return false, err
	}
	if _, ok := e.isMine(found[0]); !ok {
		return false, nil
	}
	if _, err := e.delete(ctx, target{Group: one.Group, Epoch: one.Epoch, ID: one.Target, Below: true, Late: info.Late}, found); err != nil {
		return false, err
	}
	return true, e.breathe(ctx)
}

// reactions takes back those to messages that only the archive has.
func (e *eraser) reactions(ctx context.Context) error {
	return e.reactionsOf(ctx, func(archive.Log) bool { return true })
}

func (e *eraser) reactionsOf(ctx context.Context, wanted func(archive.Log) bool) error {
	if e.db == nil {
		return nil
	}
	for after := e.record.Cursor; ; {
		list, next, err := e.db.ReactionsOf(ctx, e.record.User, after, archivedPage)
		if err != nil {
			return err
		}
		for _, one := range list {
			if !wanted(one.Log) {
				continue
			}
			if err := e.inLog(ctx, one.Log, func() (bool, error) { return e.reaction(ctx, one) }); err != nil {
				return err
			}
		}
		if next == "" {
			return nil
		}
		if err := e.moveOwn(ctx, next); err != nil {
			return err
		}
		after = next
	}
}

// moveOwn writes how far an erasure is that is carried out, and not one that a hold kept from a group: that begins again.
func (e *eraser) moveOwn(ctx context.Context, cursor string) error {
	if e.last != chat.IDMax {
		return nil
	}
	return e.move(ctx, cursor)
}

// inLog erases something in a log that the archive has, until it has not changed meanwhile. A log that is gone, or is going, is
// none of ours; one under a legal hold is noted.
func (e *eraser) inLog(ctx context.Context, log archive.Log, do func() (any bool, err error)) error {
	for tries := 0; ; tries++ {
		done, err := do()
		if done {
			e.touched = append(e.touched, log.Group)
		}
		switch {
		case errors.Is(err, chat.ErrConflict) && tries < changedTries:
		case errors.Is(err, chat.ErrNotFound):
			return nil
		case errors.Is(err, errHeld) && e.last == chat.IDMax:
			_, err := e.waits(ctx, Found{Group: log.Group, Epoch: log.Epoch})
			return err
		default:
			return err
		}
	}
}

// inArchive is how a log stands: below Held the archive has it.
func (e *eraser) inArchive(ctx context.Context, log archive.Log) (chat.Info, error) {
	infos, err := e.logs.Infos(ctx, e.record.User, []string{log.Group})
	if err == nil && infos[0].Epoch != log.Epoch {
		err = chat.ErrNotFound
	}
	if err != nil {
		return chat.Info{}, err
	}
	return infos[0], nil
}

// messages erases messages of a log.
func (e *eraser) messages(ctx context.Context, log archive.Log, ids []int64) (done bool, err error) {
	info, err := e.inArchive(ctx, log)
	if err != nil {
		return false, err
	}
	found, err := e.logs.Entries(ctx, log.Group, ids)
	if err != nil {
		return false, err
	}
	edits, err := e.editsOf(ctx, log, found)
	if err != nil {
		return false, err
	}
	late := info.Late
	for _, m := range found {
		if one, ok := e.isMine(m); !ok || one.entry.Kind != chat.Text && one.entry.Kind != chat.Data {
			continue
		}
		list := []chat.Message{m}
		for _, id := range m.Edits {
			if edit, ok := edits[id]; ok {
				list = append(list, edit)
			}
		}
		id, err := e.delete(ctx, target{Group: log.Group, Epoch: log.Epoch, ID: m.ID, Below: m.ID < info.Held, Late: late}, list)
		if err != nil {
			return done, err
		}
		if done = true; m.ID < info.Held {
			late = id
		}
		if err := e.breathe(ctx); err != nil {
			return done, err
		}
	}
	return done, nil
}

// editsOf reads the edits of messages.
func (e *eraser) editsOf(ctx context.Context, log archive.Log, of []chat.Message) (map[int64]chat.Message, error) {
	edits := map[int64]chat.Message{}
	for _, m := range of {
		if len(m.Edits) == 0 {
			continue
		}
		found, err := e.logs.Entries(ctx, log.Group, m.Edits)
		if err != nil {
			return nil, err
		}
		for _, edit := range found {
			edits[edit.ID] = edit
		}
	}
	return edits, nil
}

// reaction takes back a reaction, unless that was done already.
func (e *eraser) reaction(ctx context.Context, one archive.ReactionOf) (done bool, err error) {
	info, err := e.inArchive(ctx, one.Log)
	if err != nil || one.Target > e.last {
		return false, err
	}
	found, err := e.logs.Entries(ctx, one.Group, []int64{one.Target})
	if err != nil || len(found) == 0 {
		return false, err
	}
	var entry chat.Entry
	if err := json.Unmarshal(found[0].JSON, &entry); err != nil {
		return false, err
	}
	counts, err := e.logs.Reactions(ctx, one.Group, e.record.User, one.Target, one.Target)
	if err != nil || entry.DeletedAt != nil || !counts[one.Target][one.Emoji].Mine {
		return false, err
	}
	at := target{Group: one.Group, Epoch: one.Epoch, ID: one.Target, Below: one.Target < info.Held, Late: info.Late}
	if err := e.takeBack(ctx, at, one.Emoji); err != nil {
		return false, err
	}
	return true, e.breathe(ctx)
}
