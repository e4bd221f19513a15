package statemachine_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sort"
	"time"

	"github.com/chatd/chatd/chat"
)

// The model is chatd without a store: plain maps, no bounds on work, no concurrency. The random machine in
// machine_test.go does everything twice, here and in a real service, and compares what every user can see.

// modelMessage is what an entry of a log must read like.
type modelMessage struct {
	from     string
	kind     chat.Kind
	body     string // of text and edit
	target   int64
	thread   int64 // the root; 0: it is no reply
	emoji    string
	removed  bool
	mentions []string
	edited   bool
	deleted  bool
	edits    []int64
	sentAtMs int64 // 0: not looked up yet
	expireS  int64 // after how many seconds it goes by itself; 0: never
	endsMs   int64 // when that is; 0: never, or it was gone before anybody could tell
	former   bool  // its author was erased: who has the name now is another person
	nameless bool  // its content was erased with its author, or the author was: the deletion names nobody
	loses    bool  // a reaction whose emoji may be gone, with its target or its author
}

func (m *modelMessage) counts() bool {
	return (m.kind == chat.Text || m.kind == chat.Data) && !m.deleted
}

type modelMember struct {
	role       chat.Role
	joined     int64 // id of the notice of joining
	seen, read int64
	since      int64 // mentions at or below this id were before the member joined
}

type modelSend struct {
	id      int64
	review  string // that it waited as
	content string
	thread  int64
	expireS int64
}

// modelGroup is one life of a group. cut is the highest trimmed id as the service last showed it; freed is the highest
// that the rules ever allowed to be trimmed.
type modelGroup struct {
	epoch      string
	before     string // epoch of its life before
	last       int64
	cut        int64
	freed      int64
	keep       int64
	backlogMax int64
	block      bool  // nobody is passed by
	counted    int64 // backlog_max was raised: what the smaller one had left out up to here is counted no more
	history    bool
	public     bool
	archived   bool                    // what is trimmed is still served
	retainDays int64                   // 0: for ever
	expireS    int64                   // after how many seconds what is sent goes by itself; 0: never
	expired    int64                   // the highest id that went because of its age
	onHold     bool                    // legally
	waiting    []modelErasure          // for the end of the hold
	pinned     []int64                 // ids of messages, the newest pin last
	messages   map[int64]*modelMessage // also trimmed ones
	marks      map[int64]string        // theirs, as far as they were seen
	members    map[string]*modelMember
	sent       map[string]modelSend // "user/client_id"
	rules      modelRules
	reviews    []modelReview // what waits, the oldest first
	reports    []modelReport // the open ones, the oldest first
	threads    modelThreads
	reacted    map[string]int64 // "target user emoji", or "-target user emoji" for a removal
}

// below is the highest id that nobody is served any more.
func (g *modelGroup) below() int64 {
	if g.archived {
		return g.expired
	}
	return g.cut
}

// bound is the highest id that may be trimmed now: what every counted reader has seen, except for the newest keep. A
// reader more than backlogMax behind is not counted, unless the group blocks; with nobody counted the newest backlogMax stay.
func (g *modelGroup) bound() int64 {
	floor := g.last - g.backlogMax
	lowest, counted := int64(0), false
	for _, m := range g.members {
		if m.seen < floor && !g.block {
			continue
		}
		if !counted || m.seen < lowest {
			lowest, counted = m.seen, true
		}
	}
	if !counted {
		lowest = floor
	}
	return max(0, min(lowest, g.last-g.keep))
}

// full tells whether a send of user has to wait for another member.
func (g *modelGroup) full(user string) bool {
	for other, m := range g.members {
		if g.block && other != user && g.last-m.seen >= g.backlogMax {
			return true
		}
	}
	return false
}

// lost tells whether a position is not of this log: of another life of the group, or of messages that the store lost.
func (g *modelGroup) lost(at chat.Position) bool {
	return at.Epoch != g.epoch || at.ID > g.last || g.differs(at)
}

func (g *modelGroup) differs(at chat.Position) bool {
	mark := g.marks[at.ID]
	return mark != "" && at.HasMark() && mark != at.Mark
}

// refuses tells whether an ack of a position is refused, because the log is not the one that the position is of. Below
// what is trimmed nobody can tell, and an ack frees nothing.
func (g *modelGroup) refuses(at chat.Position) bool {
	return at.Epoch != "" && (at.Epoch != g.epoch || at.ID > g.last || at.ID >= g.below() && g.differs(at))
}

// clone is a copy that shares nothing that changes.
func (g *modelGroup) clone() *modelGroup {
	c := *g
	c.messages, c.members = map[int64]*modelMessage{}, map[string]*modelMember{}
	for id, m := range g.messages {
		message := *m
		message.edits = slices.Clone(m.edits)
		c.messages[id] = &message
	}
	for u, w := range g.members {
		member := *w
		c.members[u] = &member
	}
	c.marks, c.sent, c.reacted, c.pinned = maps.Clone(g.marks), maps.Clone(g.sent), maps.Clone(g.reacted), slices.Clone(g.pinned)
	return &c
}

// free notes what the rules allow to be trimmed from now on.
func (g *modelGroup) free() { g.freed = max(g.freed, g.bound()) }

// append adds an entry and moves the writer's own cursors along if they were at the end.
func (g *modelGroup) append(by string, m *modelMessage) int64 {
	g.last++
	g.messages[g.last] = m
	if w := g.members[by]; w != nil {
		if w.read == g.last-1 && w.seen == g.last-1 {
			w.read = g.last
		}
		if w.seen == g.last-1 {
			w.seen = g.last
		}
	}
	g.free()
	return g.last
}

// unread is the rule of the wire contract, counted the slow way.
func (g *modelGroup) unread(user string) (unread, mentions int64) {
	m := g.members[user]
	floor := max(m.read, g.below(), g.last-g.backlogMax, g.counted)
	if !g.history {
		floor = max(floor, m.joined-1) // what is hidden is not unread
	}
	for id := floor + 1; id <= g.last; id++ {
		e := g.messages[id]
		if e == nil || !e.counts() || e.thread != 0 {
			continue
		}
		if e.from != user || e.former {
			unread++
		}
		for _, u := range e.mentions {
			if u == user && id > m.since && (e.from != user || e.former) {
				mentions++
			}
		}
	}
	return unread, mentions
}

// mentioned are the members that the mentions of a message name now.
func (g *modelGroup) mentioned(mentions []string) []string {
	if slices.Contains(mentions, chat.MentionAll) {
		return slices.Sorted(maps.Keys(g.members))
	}
	return slices.DeleteFunc(slices.Clone(mentions), func(user string) bool { return g.members[user] == nil })
}

// visible is the lowest id that user may be served.
func (g *modelGroup) visible(user string) int64 {
	if m := g.members[user]; !g.history && m.joined > g.below()+1 {
		return m.joined
	}
	return g.below() + 1
}

// alive are the ids of texts that can be had.
func (g *modelGroup) alive() (ids []int64) {
	for id := g.below() + 1; id <= g.last; id++ {
		if e := g.messages[id]; e != nil && e.counts() {
			ids = append(ids, id)
		}
	}
	return ids
}

// heir is who becomes owner when the owner leaves: the longest-standing admin, else member.
func (g *modelGroup) heir() string {
	users := make([]string, 0, len(g.members))
	for u := range g.members {
		users = append(users, u)
	}
	sort.Slice(users, func(i, j int) bool {
		a, b := g.members[users[i]], g.members[users[j]]
		if (a.role == chat.Admin) != (b.role == chat.Admin) {
			return a.role == chat.Admin
		}
		if a.joined == b.joined { // with the same notice
			return users[i] < users[j]
		}
		return a.joined < b.joined
	})
	if len(users) == 0 {
		return ""
	}
	return users[0]
}

// shownTo is the message as user may be served it: an edit of what is hidden says no more than which message it was of.
func (g *modelGroup) shownTo(user string, id int64) *modelMessage {
	m := g.messages[id]
	if g.history || m == nil || m.kind != chat.Edit || m.target >= g.members[user].joined {
		return m
	}
	hidden := *m
	hidden.body = ""
	return &hidden
}

// erase notes that a message was deleted, with its edits and its reactions.
func (g *modelGroup) erase(id int64, nameless bool) {
	target := g.messages[id]
	target.deleted, target.nameless = true, target.nameless || nameless && !target.deleted
	for _, edit := range target.edits {
		e := g.messages[edit]
		e.body, e.nameless = "", e.nameless || nameless
	}
	for _, e := range g.messages {
		if e.kind == chat.Reaction && e.target == id && !e.removed {
			e.loses = true
		}
	}
}

// check compares an entry as it was served with what it must be.
func (m *modelMessage) check(id int64, group string, raw []byte) error {
	var e chat.Entry
	if err := json.Unmarshal(raw, &e); err != nil {
		return fmt.Errorf("message %d is no JSON: %w: %s", id, err, raw)
	}
	body := ""
	if e.Body != nil {
		body = *e.Body
	}
	wantBody := m.body
	if m.deleted {
		wantBody = ""
	}
	from, emoji, deleted := m.from, m.emoji, m.deleted
	if m.nameless && (m.kind != chat.Edit || e.From == "") { // an edit that was deleted before keeps its author
		from = ""
	}
	if m.loses && e.DeletedAt != nil {
		emoji, deleted = "", true
		if e.From == "" {
			from = ""
		}
	}
	switch {
	case e.ID != id || e.Group != group:
		return fmt.Errorf("message %d of %s says it is %d of %s", id, group, e.ID, e.Group)
	case e.Kind != m.kind || e.From != from:
		return fmt.Errorf("message %d: got %s from %s, want %s from %s", id, e.Kind, e.From, m.kind, from)
	case body != wantBody:
		return fmt.Errorf("message %d: got body %q, want %q", id, body, wantBody)
	case e.Thread != m.thread:
		return fmt.Errorf("message %d: got thread %d, want %d", id, e.Thread, m.thread)
	case m.kind != chat.Edit && (e.EditedAt != nil) != (m.edited && !m.deleted):
		return fmt.Errorf("message %d: edited_at is %v, want edited %v", id, e.EditedAt, m.edited)
	case m.kind != chat.Edit && (e.DeletedAt != nil) != deleted:
		return fmt.Errorf("message %d: deleted_at is %v, want deleted %v", id, e.DeletedAt, deleted)
	case !m.deleted && (e.ExpiresAt != nil) != (m.expireS > 0) && m.kind == chat.Text:
		return fmt.Errorf("message %d: expires_at is %v, want it after %d s", id, e.ExpiresAt, m.expireS)
	case m.kind == chat.Text && e.ExpiresAt != nil && e.ExpiresAt.Sub(e.SentAt.Time) != time.Duration(m.expireS)*time.Second:
		return fmt.Errorf("message %d of %v expires at %v, want it after %d s", id, e.SentAt, e.ExpiresAt, m.expireS)
	case e.Target != m.target || e.Emoji != emoji || e.Removed != m.removed:
		return fmt.Errorf("message %d: got target %d %q %v, want %d %q %v", id, e.Target, e.Emoji, e.Removed, m.target, emoji, m.removed)
	}
	return nil
}
