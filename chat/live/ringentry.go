package live

import (
	"bytes"
	"encoding/json"

	"github.com/chatd/chatd/chat"
)

// ringEntry is a message in memory, with its effect. Rings hold many, so its size matters.
type ringEntry struct {
	chat.Message
	effect *effect // nil for most: no lasting effect
}

// effect is what an entry does to others, or to a member.
type effect struct {
	kind    chat.Kind     // Edit, Delete, or Notice for the one that ends a membership
	target  int64         // of an edit or a delete
	leavers []string      // whose memberships a notice ends
	blank   *chat.Message // an edit without its content; made when first needed, under the lock of the feed
}

// facts are the fields of an entry that tell what it does. The JSON of one that does nothing is not decoded.
type facts struct {
	Kind   chat.Kind `json:"kind"`
	Notice string    `json:"notice"`
	User   string    `json:"user"`  // whom a notice concerns
	Users  []string  `json:"users"` // in place of User where it concerns several
	Target int64     `json:"target"`

	Settings struct {
		History *bool `json:"history"`
	} `json:"settings"`
}

// hides reports whether from this entry on members may see more, or less, of what came before they joined.
func (f *facts) hides() bool { return f.Kind == chat.Notice && f.Settings.History != nil }

func (f *facts) leaves() bool {
	return f.Kind == chat.Notice && (f.Notice == chat.NoticeLeft || f.Notice == chat.NoticeRemoved)
}

// concerned are the users whom a notice concerns.
func (f *facts) concerned() []string {
	if len(f.Users) > 0 {
		return f.Users
	}
	return []string{f.User}
}

func newRingEntry(m chat.Message) (e ringEntry, f facts) {
	e.Message = m
	// An entry that cannot be decoded is served as it is and has no effect; a pull from the store checks membership anyway.
	if inert(m.JSON) || json.Unmarshal(m.JSON, &f) != nil {
		return e, facts{}
	}
	switch {
	case f.Kind == chat.Edit:
		e.effect = &effect{kind: chat.Edit, target: f.Target}
	case f.Kind == chat.Delete:
		e.effect = &effect{kind: chat.Delete, target: f.Target}
	case f.leaves():
		e.effect = &effect{kind: chat.Notice, leavers: f.concerned()}
	}
	return e, f
}

// inert reports whether an entry begins as the server writes it, with id, group, sender and kind, and has a kind without effect on
// others. Most have, and decoding an entry costs more than everything else that a feed does with it.
func inert(entry []byte) bool {
	head, rest, _ := bytes.Cut(entry, []byte(`,"group":"`))
	if bytes.Count(head, []byte{'"'}) != 2 { // more than {"id":N
		return false
	}
	for _, next := range []string{`,"from":"`, `,"kind":"`} {
		_, after, _ := bytes.Cut(rest, []byte{'"'}) // an id with an escaped quote is cut short, and does not match
		var ok bool
		if rest, ok = bytes.CutPrefix(after, []byte(next)); !ok {
			return false
		}
	}
	kind, _, _ := bytes.Cut(rest, []byte{'"'})
	switch chat.Kind(kind) {
	case chat.Text, chat.Data, chat.Reaction:
		return true
	}
	return false
}

// shownTo is the entry as served to a member who may not see anything below hidden.
func (e *ringEntry) shownTo(hidden int64) *chat.Message {
	if !e.edits() || e.effect.target >= hidden {
		return &e.Message
	}
	if e.effect.blank == nil {
		m := chat.Redacted(e.Message, hidden)
		e.effect.blank = &m
	}
	return e.effect.blank
}

func (e *ringEntry) edits() bool { return e.effect != nil && e.effect.kind == chat.Edit }

// leavers are the users whose memberships the entry ends.
func (e *ringEntry) leavers() []string {
	if e.effect == nil {
		return nil
	}
	return e.effect.leavers
}
