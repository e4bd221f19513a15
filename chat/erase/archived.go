package erase

import (
	"context"
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
	return e.othersOf(ctx, only)
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

// others erases what else the archive has of the person: reactions, edits of messages that are gone, and what is left of entries.
func (e *eraser) others(ctx context.Context) error {
	return e.othersOf(ctx, func(archive.Log) bool { return true })
}

func (e *eraser) othersOf(ctx context.Context, wanted func(archive.Log) bool) error {
	if e.db == nil {
		return nil
	}
	for after := e.record.Cursor; ; {
		list, next, err := e.db.OthersOf(ctx, e.record.User, after, archivedPage)
		if err != nil {
			return err
		}
		for len(list) > 0 {
			log, ids := list[0].Log, []int64{}
			for len(list) > 0 && list[0].Log == log {
				ids, list = append(ids, list[0].ID), list[1:]
			}
			if !wanted(log) {
				continue
			}
			if err := e.inLog(ctx, log, func() (bool, error) { return e.otherEntries(ctx, log, ids) }); err != nil {
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

// otherEntries erases entries of a log that are no messages with content.
func (e *eraser) otherEntries(ctx context.Context, log archive.Log, ids []int64) (done bool, err error) {
	found, err := e.logs.Entries(ctx, log.Group, ids)
	if err != nil {
		return false, err
	}
	var rest []authored
	for _, one := range e.mine(found) {
		erased := false
		if one.alive() {
			if erased, err = e.other(ctx, log, one); err != nil {
				return done, err
			}
		}
		if !erased {
			rest = append(rest, one)
			continue
		}
		done = true
		if err := e.breathe(ctx); err != nil {
			return done, err
		}
	}
	if len(rest) == 0 {
		return done, nil
	}
	return true, e.rest(ctx, target{Group: log.Group, Epoch: log.Epoch}, rest)
}

// other takes back a reaction that stands, or erases an edit whose message is gone.
func (e *eraser) other(ctx context.Context, log archive.Log, one authored) (erased bool, err error) {
	info, err := e.inArchive(ctx, log)
	if err != nil {
		return false, err
	}
	t := target{Group: log.Group, Epoch: log.Epoch, ID: one.entry.Target, Below: one.entry.Target < info.Held, Late: info.Late}
	switch one.entry.Kind {
	case chat.Reaction:
		return e.reaction(ctx, t, one)
	case chat.Edit:
		target, err := e.logs.Entries(ctx, log.Group, []int64{t.ID})
		if err != nil || len(target) > 0 {
			return false, err
		}
		_, err = e.delete(ctx, t, []chat.Message{one.Message})
		return true, err
	}
	return false, nil
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
	for _, one := range e.mine(found) {
		if !one.alive() || one.entry.Kind != chat.Text && one.entry.Kind != chat.Data {
			continue
		}
		list := []chat.Message{one.Message}
		for _, id := range one.Edits {
			if edit, ok := edits[id]; ok {
				list = append(list, edit)
			}
		}
		id, err := e.delete(ctx, target{Group: log.Group, Epoch: log.Epoch, ID: one.ID, Below: one.ID < info.Held, Late: info.Late}, list)
		if err != nil {
			return done, err
		}
		if done = true; one.ID < info.Held {
			info.Late = id
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
