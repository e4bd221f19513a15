package statemachine_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/internal/pgtest"
	sqlarchive "github.com/chatd/chatd/store/archive"
)

// archiveOfBoth is one SQLite database, which both nodes have open together.
func archiveOfBoth(t *testing.T) [2]*sqlarchive.Store {
	db := openArchive(t, "sqlite:"+filepath.Join(memoryDir(t), "archive.db"))
	return [2]*sqlarchive.Store{db, db}
}

// archiveOfEach is a PostgreSQL database, with connections of its own for each node.
func archiveOfEach(t *testing.T) [2]*sqlarchive.Store {
	url := pgtest.Start(t).Database()
	return [2]*sqlarchive.Store{openArchive(t, url), openArchive(t, url)}
}

// doubts is what the model cannot know once the store has lost something that the archive may have got before. What an entry
// reads like in the archive may be newer then than in the store, but it is something that this very entry, by its mark, was at
// some time. Reactions may be newer until the archiver looks at the log again. A nil doubts has none.
type doubts struct {
	newest    map[string]modelMessage   // by mark, whatever became of it
	ever      map[string][]modelMessage // by mark: all that an entry was
	messages  map[string]bool           // marks of entries of which a change was lost
	reactions map[string]bool           // groups
}

func newDoubts() *doubts {
	return &doubts{newest: map[string]modelMessage{}, ever: map[string][]modelMessage{}, messages: map[string]bool{}, reactions: map[string]bool{}}
}

func alike(a, b modelMessage) bool {
	return a.body == b.body && a.edited == b.edited && a.deleted == b.deleted
}

// saw notes what an entry reads like.
func (d *doubts) saw(g *modelGroup, id int64) {
	mark, now := "", modelMessage{}
	if d != nil && g.messages[id] != nil {
		mark, now = g.marks[id], *g.messages[id]
	}
	if mark == "" {
		return
	}
	d.newest[mark] = now
	for _, was := range d.ever[mark] {
		if alike(was, now) {
			return
		}
	}
	d.ever[mark] = append(d.ever[mark], now)
}

func (d *doubts) sawAll(g *modelGroup) {
	for id := range g.marks {
		d.saw(g, id)
	}
}

// lost notes which entries are not any more what they were, after the store went back to groups.
func (d *doubts) lost(groups map[string]*modelGroup) {
	if d == nil {
		return
	}
	for group, g := range groups {
		d.reactions[group] = true
		for id, mark := range g.marks {
			if newest, ok := d.newest[mark]; ok && g.messages[id] != nil && !alike(newest, *g.messages[id]) {
				d.messages[mark] = true
			}
		}
	}
}

// archived notes that the archiver has looked at a log.
func (d *doubts) archived(group string) {
	if d != nil && d.reactions[group] {
		delete(d.reactions, group)
		happened("archive after a loss")
	}
}

func (d *doubts) of(mark string) bool           { return d != nil && d.messages[mark] }
func (d *doubts) reactionsOf(group string) bool { return d != nil && d.reactions[group] }

// allows tells whether an entry, as it was served, may read like that because the archive has it so: each of its properties is one
// that it had.
func (d *doubts) allows(want *modelMessage, group string, msg chat.Message) bool {
	var e chat.Entry
	if !d.of(msg.Mark) || json.Unmarshal(msg.JSON, &e) != nil {
		return false
	}
	one := *want
	one.loses = one.loses || e.Kind == chat.Reaction && !e.Removed
	for _, was := range d.ever[msg.Mark] {
		if was.edited == (e.EditedAt != nil) {
			one.edited = was.edited
		}
		if was.deleted == (e.DeletedAt != nil) {
			one.deleted = was.deleted
		}
		if e.Body != nil && was.body == *e.Body || e.Body == nil && was.body == "" {
			one.body = was.body
		}
	}
	if one.check(msg.ID, group, msg.JSON) != nil {
		return false
	}
	happened("served newer than the store had it")
	return true
}

// reactInDoubt takes into the model how a reaction to an archived message was answered, which the archive may know of from before
// the loss. Nobody is told of a reaction that is not in the log.
func (m *machine) reactInDoubt(t *rapid.T, user, group string, sent chat.Sent, err error, want *modelMessage) {
	g, key := m.groups[group], reactionKey(want.target, user, want.emoji)
	_, isOn := g.reacted[key]
	_, isOff := g.reacted["-"+key]
	if want.removed && !isOn && !isOff && chat.CodeOf(err) == chat.CodeNotFound {
		return
	}
	expect(t, "react in doubt", err, "")
	if want.removed {
		key = "-" + key
	}
	if sent.Duplicate {
		if g.reacted[key] != sent.ID {
			t.Fatalf("%s reacts to %d in %s, and is told that %d is that reaction already: it is %+v", user, want.target, group, sent.ID, g.messages[sent.ID])
		}
		return
	}
	if id := g.append(user, want); sent.ID != id {
		t.Fatalf("react: got id %d, want %d", sent.ID, id)
	}
	delete(g.reacted, reactionKey(want.target, user, want.emoji))
	delete(g.reacted, "-"+reactionKey(want.target, user, want.emoji))
	g.reacted[key] = g.last
}

// learnArchived takes marks into the model that were trimmed before they were seen in the store.
func (m *faultMachine) learnArchived(t *rapid.T, group string) {
	g := m.groups[group]
	var ids []int64
	for id := int64(1); m.archive != nil && id <= g.cut; id++ {
		if g.marks[id] == "" {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return
	}
	list, err := m.store().Entries(m.ctx, group, ids)
	m.must(t, err)
	if len(list) != len(ids) {
		t.Fatalf("of the archived entries %v of %s there are %d", ids, group, len(list))
	}
	for _, msg := range list {
		m.mark(t, g, msg.ID, msg.Mark)
	}
}

// unchange loses changes of archived messages, which the archive has got or not, and looks at them and reacts so again.
func (m *faultMachine) unchange(t *rapid.T, user, group string) {
	if m.member(group, user) == nil {
		return
	}
	for range m.groups[group].keep + 3 {
		m.send(t, user, group)
	}
	m.readByAll(t, "", group)
	m.check(t, group)
	m.learn(t)
	before, written := m.now(), m.redis.primary.Written()
	for range 3 {
		m.changeArchived(t, user, group)
	}
	m.check(t, group)
	if evenly(t, "archived before", 3) > 0 {
		m.catchUp(t, group)
	}
	m.learn(t)
	lost := m.groups[group]
	m.redis.primary.Rewind(written)
	m.back(before)
	m.recovered(t)
	if evenly(t, "overtaken", 2) == 0 {
		m.send(t, user, group)
	}
	for _, key := range slices.Sorted(maps.Keys(lost.reacted)) {
		if m.groups[group].reacted[key] != lost.reacted[key] {
			m.reactAgain(t, group, key)
		}
	}
	m.pagesUp(t, user, group)
}

// reactAgain sends a reaction to an archived message that the store has lost.
func (m *faultMachine) reactAgain(t *rapid.T, group, key string) {
	want := &modelMessage{kind: chat.Reaction, removed: strings.HasPrefix(key, "-")}
	if _, err := fmt.Sscan(strings.TrimPrefix(key, "-"), &want.target, &want.from, &want.emoji); err != nil {
		t.Fatal(err)
	}
	sent, err := m.service.Send(m.ctx, caller(want.from), group,
		chat.Content{Kind: chat.Reaction, Target: want.target, Emoji: want.emoji, Removed: want.removed}, "")
	if !m.outOfReach(t, "react to", want.from, group, want.target, m.groups[group].messages[want.target], err) {
		m.reactInDoubt(t, want.from, group, sent, err, want)
	}
}
