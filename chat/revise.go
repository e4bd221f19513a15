package chat

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
)

// reviseTries bounds how often an edit or a deletion is made again because its target changed in between.
const reviseTries = 5

// Change replaces one stored message by another with the same id and mark, if it still reads as Old. New.Edits does not
// yet hold the id of the edit that is being appended: Revise adds it to changes[0].New where Kind is Edit.
type Change struct {
	Old, New Message
}

// revise appends an edit or a deletion and changes what it touches. The target is read first, so two round trips; the
// store compares what was read with what is there.
func (s *sends) revise(ctx context.Context, by Caller, a Append, e Entry) (Appended, error) {
	err := error(ErrConflict)
	for range reviseTries {
		var changes []Change
		var asAdmin bool
		changes, asAdmin, a.Below, err = s.changes(ctx, by, e)
		if err != nil {
			return s.firstAnswer(ctx, a, err)
		}
		if asAdmin {
			a.Actor = by
		}
		if e.ExpiresAt = changes[0].New.ends(); e.Kind == Edit && e.ExpiresAt != nil {
			a.Rest = entryRest(e) // it says what the message says, and goes with it
		}
		var done Appended
		done, err = s.store.Revise(ctx, a, changes, asAdmin)
		if !errors.Is(err, ErrConflict) {
			if e.Kind == Edit && e.ExpiresAt != nil {
				done.EndsMs = e.ExpiresAt.UnixMilli()
			}
			return done, err
		}
	}
	return Appended{}, err
}

// firstAnswer asks for the first answer to a key whose repetition can no longer be carried out: a deletion that was
// done, whose target is gone now. Where the key is not known, refusal stands.
func (s *sends) firstAnswer(ctx context.Context, a Append, refusal error) (Appended, error) {
	if a.Key == "" || CodeOf(refusal) == CodeUnavailable {
		return Appended{}, refusal
	}
	done, err := s.store.Revise(ctx, a, unchanged(a), false)
	_, waits := IsInReview(err)
	switch {
	case err == nil && done.Duplicate:
		return done, nil
	case errors.Is(err, ErrKeyReused), errors.Is(err, ErrUnavailable), waits:
		return Appended{}, err
	}
	return Appended{}, refusal
}

// unchanged changes what no message reads like, so that nothing is written.
func unchanged(a Append) []Change {
	nothing := Message{ID: a.Target, Mark: noMark, JSON: Encode(Entry{ID: a.Target, Group: a.Group, From: a.From})}
	return []Change{{Old: nothing, New: nothing}}
}

// changes reads the target of e and makes what e turns it into. asAdmin tells that it is another's message, which takes
// a managing role; below, that the target is in the archive.
func (s *sends) changes(ctx context.Context, by Caller, e Entry) (list []Change, asAdmin bool, below *Below, err error) {
	page, err := readPage(ctx, s.store, by.User, Pull{Group: e.Group, From: min(e.Target, IDMax), Limit: 1})
	if err != nil {
		return nil, false, nil, err
	}
	var target Message
	if len(page.Messages) > 0 && page.Messages[0].ID == e.Target {
		target = page.Messages[0]
	} else if target, err = s.OnlyPinned(ctx, page.Info, e.Target); err != nil {
		return nil, false, nil, err
	}
	if target.ID >= page.Info.First && target.ID < page.Info.Held {
		below = &Below{Epoch: page.Info.Epoch, Late: page.Info.Late}
	}
	var was Entry
	if err := json.Unmarshal(target.JSON, &was); err != nil {
		return nil, false, nil, &Error{Code: CodeInternal, Message: "internal error", Cause: err}
	}
	if was.DeletedAt != nil {
		return nil, false, nil, ErrNotFound
	}
	if e.Kind == Edit && was.Stream == StreamOpen {
		return nil, false, nil, ErrStreamOpen
	}
	if was.Kind != Text && was.Kind != Data {
		return nil, false, nil, Invalid("target: only text and data can be changed")
	}
	mine := was.From == by.User
	if e.Kind == Edit {
		if !mine {
			return nil, false, nil, Errorf(CodeForbidden, "only the author may edit a message")
		}
		change, err := s.edited(target, was, e)
		return []Change{change}, false, below, err
	}
	if !mine && !by.Admin && !page.Info.Role.Manages() {
		return nil, false, nil, ErrDeletersOnly
	}
	list, err = s.deleted(ctx, target, was, e)
	return list, !mine, below, err
}

// OnlyPinned is a message that is nowhere but among the pins: the log has trimmed it, and no archive has it. info is the group as who
// asks for it sees it. ErrNotFound.
func (s *sends) OnlyPinned(ctx context.Context, info Info, id int64) (Message, error) {
	if id < 1 || id >= info.First || id < info.Hidden() {
		return Message{}, ErrNotFound
	}
	return s.store.Pinned(ctx, info.ID, id)
}

// edited is the target with the content of the edit. The kind stays: a text keeps a body, data stays data.
func (s *sends) edited(target Message, was, e Entry) (Change, error) {
	switch {
	case len(target.Edits) >= s.opt.Limits.EditsMax:
		return Change{}, Errorf(CodeConflict, "a message can be edited at most %d times", s.opt.Limits.EditsMax)
	case was.Kind == Text && e.Body == nil:
		return Change{}, Invalid("body: the edit of a text needs a body")
	case was.Kind == Data && e.Body != nil:
		return Change{}, Invalid("body: the edit of data takes data only")
	}
	return Change{Old: target, New: rewritten(target, was.edited(e))}, nil
}

// edited is a text or data with the content of its edit. The end of a stream is the first time that its text is whole: the message
// counts as edited from the next one on.
func (e Entry) edited(by Entry) Entry {
	e.Content = e.Revised(by.Content)
	if by.Stream == "" {
		e.EditedAt = &by.SentAt
	}
	return e
}

// Deleted is an entry that a deletion takes the content of: the target, or one of its edits. A deletion that nobody is named as the
// author of erases a person: it takes the name, too.
func (e Entry) Deleted(by Entry) Entry {
	left := Entry{ID: e.ID, Group: e.Group, From: e.From, Content: e.Blanked(), SentAt: e.SentAt, DeletedAt: &by.SentAt}
	if by.From == "" {
		left.From = ""
	}
	return left
}

// AuthorErased is an entry as it reads once its author is erased: a deletion, or what took a reaction back, still says so.
func (e Entry) AuthorErased(by Entry) Entry {
	left := e.Deleted(by)
	switch {
	case e.DeletedAt != nil:
		left.DeletedAt = e.DeletedAt
	case e.Kind == Delete, e.Kind == Reaction && e.Removed:
		left.DeletedAt = nil
	}
	left.From = ""
	return left
}

// deleted is the target and its edits without their content.
func (s *sends) deleted(ctx context.Context, target Message, was, deletion Entry) ([]Change, error) {
	list := []Change{{Old: target, New: rewritten(target, was.Deleted(deletion))}}
	if len(target.Edits) == 0 {
		return list, nil
	}
	edits, err := s.store.Entries(ctx, was.Group, target.Edits)
	if err != nil {
		return nil, err
	}
	for _, m := range edits {
		var e Entry
		if err := json.Unmarshal(m.JSON, &e); err != nil {
			return nil, &Error{Code: CodeInternal, Message: "internal error", Cause: err}
		}
		if e.Kind == Edit && e.Target == target.ID { // the store may have lost the edit, and have another entry there
			list = append(list, Change{Old: m, New: rewritten(m, e.Deleted(deletion))})
		}
	}
	return list, nil
}

// rewritten is m with another content: id, mark and the list of its edits stay.
func rewritten(m Message, e Entry) Message {
	m.JSON = Encode(e)
	return m
}

// Applied is m as it reads after change, an edit or a deletion that names it as its target, or names the message whose edit
// it is: what Revise made of it, from the two entries alone. An edit that is older than one that m has, or whose own content
// is gone, changes nothing; nor does anything change what was deleted, except an erasure of its author.
func Applied(m Message, change Entry) (Message, error) {
	var was Entry
	if err := json.Unmarshal(m.JSON, &was); err != nil {
		return Message{}, &Error{Code: CodeInternal, Message: "internal error", Cause: err}
	}
	switch {
	case slices.Contains(change.Erased, m.ID):
		m.Edits = nil
		return rewritten(m, was.AuthorErased(change)), nil
	case was.DeletedAt != nil:
		return m, nil
	case change.Kind == Delete:
		m.Edits = nil
		return rewritten(m, was.Deleted(change)), nil
	case len(m.Edits) > 0 && m.Edits[len(m.Edits)-1] >= change.ID:
		return m, nil
	}
	m.Edits = append(m.Edits[:len(m.Edits):len(m.Edits)], change.ID)
	return rewritten(m, was.edited(change)), nil
}
