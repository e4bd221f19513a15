package archive

import (
	"encoding/json"
	"slices"

	"github.com/chatd/chatd/chat"
)

// row is an entry with the columns that are taken out of its JSON.
type row struct {
	chat.Message
	doc    int64
	log    int64
	author string
	kind   chat.Kind
	target int64
	alive  bool
	entry  chat.Entry
	words  *string // what the index gets of the text; nil: not known yet
	stored bool    // the database has it
	dirty  bool    // it is not what the database has
}

// decode sets what the JSON says. Its error is that of the entry, not of the database.
func (r *row) decode() error {
	r.entry, r.words = chat.Entry{}, nil
	if err := json.Unmarshal(r.JSON, &r.entry); err != nil {
		return &chat.Error{Code: chat.CodeInternal, Message: "internal error", Cause: err}
	}
	e := &r.entry
	r.author, r.kind, r.target = e.From, e.Kind, e.Target
	r.alive = (e.Kind == chat.Text || e.Kind == chat.Data) && e.DeletedAt == nil
	return nil
}

// set gives the row another content.
func (r *row) set(m chat.Message) error {
	r.Message, r.dirty = m, true
	return r.decode()
}

func (r *row) targetOrNull() *int64 {
	if r.target == 0 {
		return nil
	}
	return &r.target
}

func (r *row) editsOrNull() *string {
	if len(r.Edits) == 0 {
		return nil
	}
	text := string(chat.Encode(r.Edits))
	return &text
}

// What a doc is made of: the time in ms, and below it the low bits of the id, so that entries of one log and one ms are in
// the order of their ids, and some of the log, so that logs seldom meet.
const (
	docTimeMax  = 1<<42 - 1 // ms
	docTimeBits = 21
	docLogBits  = 10
)

// docOf is the position of an entry among those of all logs, unless it is taken.
func docOf(sentMs, log, id int64) int64 {
	ms := min(max(sentMs, 0), docTimeMax)
	return ms<<docTimeBits | id&(1<<(docTimeBits-docLogBits)-1)<<docLogBits | log&(1<<docLogBits-1)
}

// logChange is what a batch makes of a log.
type logChange struct {
	batch     *readBatch
	number    int64
	top       int64 // highest id that is there before the batch
	incoming  []*row
	rows      map[int64]*row    // by id: what is loaded, then what comes
	removed   map[int64]bool    // docs of stored rows that are replaced or changed
	gone      map[int64]bool    // ids of stored rows that are replaced
	rebuilt   map[int64]bool    // ids of messages whose reactions are recomputed
	deleted   map[int64]bool    // ids of messages that have no reactions any more
	unreacted []unreacted       // reactions of people who were erased
	lost      map[int64][]int64 // ids of messages -> their edits that the log lost
	reactions map[reactionKey]reaction
}

type reactionKey struct {
	target      int64
	emoji, user string
}

// unreacted is a reaction that is removed, with every entry about it up to an id.
type unreacted struct {
	reactionKey
	to int64
}

type reaction struct {
	entry int64
	on    bool
}

func newLogChange(b *readBatch) *logChange {
	l := &logChange{batch: b, rows: map[int64]*row{}, removed: map[int64]bool{}, gone: map[int64]bool{}, rebuilt: map[int64]bool{},
		deleted: map[int64]bool{}, lost: map[int64][]int64{}, reactions: map[reactionKey]reaction{}}
	rows := slices.Clone(b.rows)
	for i := range rows {
		l.incoming = append(l.incoming, &rows[i])
	}
	return l
}

// apply puts the entries into the log, one after the other.
func (l *logChange) apply() error {
	if err := l.forgetLost(); err != nil {
		return err
	}
	for _, in := range l.incoming {
		had := l.rows[in.ID]
		if had != nil && had.Mark == in.Mark {
			continue
		}
		if had != nil {
			l.replace(had)
		}
		in.dirty = true
		in.doc = docOf(in.entry.SentAt.UnixMilli(), l.number, in.ID)
		l.rows[in.ID] = in
		if err := l.follow(in); err != nil {
			return err
		}
	}
	return nil
}

// noteLost finds the edits among the entries that others replace.
func (l *logChange) noteLost() {
	for _, in := range l.incoming {
		if had := l.rows[in.ID]; had != nil && had.Mark != in.Mark && had.kind == chat.Edit {
			l.lost[had.target] = append(l.lost[had.target], had.ID)
		}
	}
}

// forgetLost takes edits that the log lost from the lists of their messages: other entries get their ids. What they made of the
// messages remains.
func (l *logChange) forgetLost() error {
	for target, ids := range l.lost {
		one := l.rows[target]
		if one == nil {
			continue
		}
		m := one.Message
		m.Edits = slices.DeleteFunc(slices.Clone(m.Edits), func(id int64) bool { return slices.Contains(ids, id) })
		if len(m.Edits) == len(one.Edits) {
			continue
		}
		if one.stored {
			l.removed[one.doc] = true
		}
		if err := one.set(m); err != nil {
			return err
		}
	}
	return nil
}

// replace takes out an entry of a log that was rolled back, with its reactions or its effect on those of its target.
func (l *logChange) replace(had *row) {
	l.rebuilt[had.ID] = true
	if had.kind == chat.Reaction {
		l.rebuilt[had.target] = true
	}
	if had.stored {
		l.removed[had.doc], l.gone[had.ID] = true, true
	}
}

// follow applies what a new entry does to others.
func (l *logChange) follow(in *row) error {
	for _, id := range in.entry.Erased {
		if err := l.forgetAuthor(l.rows[id], in.entry); err != nil {
			return err
		}
	}
	target := l.rows[in.target]
	if in.kind == chat.Delete {
		return l.erase(target, in.entry)
	}
	if target == nil {
		return nil
	}
	switch in.kind {
	case chat.Reaction:
		if target.alive && counts(in.entry) {
			l.react(in.target, in.entry.Emoji, in.author, in.ID, !in.entry.Removed)
		}
	case chat.Edit:
		return l.revise(target, in.entry)
	}
	return nil
}

// counts tells whether a reaction, or its removal, is by someone who was not erased, to a target that was not deleted.
func counts(e chat.Entry) bool { return e.From != "" && e.DeletedAt == nil }

// forgetAuthor removes an erased person from an entry.
func (l *logChange) forgetAuthor(one *row, erasure chat.Entry) error {
	if one == nil || one.author == "" {
		return nil
	}
	if one.kind == chat.Reaction {
		key := reactionKey{one.target, one.entry.Emoji, one.author}
		l.unreacted = append(l.unreacted, unreacted{key, erasure.ID})
		if l.reactions[key].entry <= erasure.ID {
			delete(l.reactions, key)
		}
	}
	return l.revise(one, erasure)
}

// erase removes the content of the message that a deletion names, if it is stored, of its edits and of the entries of its
// reactions, and drops the reactions.
func (l *logChange) erase(target *row, deletion chat.Entry) error {
	l.deleted[deletion.Target] = true
	for key := range l.reactions {
		if key.target == deletion.Target {
			delete(l.reactions, key)
		}
	}
	for _, one := range l.rows {
		by := deletion
		switch {
		case one.target != deletion.Target:
			continue
		case one.kind == chat.Reaction && !one.entry.Removed:
			by.From = one.author // by another person, who stays the author
		case one.kind != chat.Edit:
			continue
		}
		if err := l.revise(one, by); err != nil {
			return err
		}
	}
	if target == nil {
		return nil
	}
	return l.revise(target, deletion)
}

// revise changes an entry as an edit or a deletion says.
func (l *logChange) revise(one *row, change chat.Entry) error {
	changed, err := chat.Applied(one.Message, change)
	if err != nil || slices.Equal(changed.JSON, one.JSON) && slices.Equal(changed.Edits, one.Edits) {
		return err
	}
	if one.stored {
		l.removed[one.doc] = true
	}
	return one.set(changed)
}

func (l *logChange) react(target int64, emoji, user string, entry int64, on bool) {
	key := reactionKey{target, emoji, user}
	if entry > l.reactions[key].entry {
		l.reactions[key] = reaction{entry, on}
	}
}

// changed are the rows to write, ascending; those that keep their doc come first.
func (l *logChange) changed() (rows []*row) {
	for _, one := range l.rows {
		if one.dirty {
			rows = append(rows, one)
		}
	}
	slices.SortFunc(rows, func(a, b *row) int {
		if a.stored != b.stored {
			return map[bool]int{true: -1, false: 1}[a.stored]
		}
		return int(a.ID - b.ID)
	})
	return rows
}
