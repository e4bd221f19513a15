package statemachine_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"pgregory.net/rapid"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/erase"
)

// modelErasure is an erasure that waits for the end of a legal hold. What comes behind last is of another person.
type modelErasure struct {
	user string
	last int64
}

// erase erases a user: nothing that they wrote is left, except for what is held.
func (m *machine) erase(t *rapid.T, user, _ string) {
	begun, err := m.archive.erase.Begin(m.ctx, caller(user), user)
	expect(t, "erase", err, "")
	for range 2 { // the second run finds nothing left to do
		m.runErase(t, erase.TaskErase, erase.Task{Erasure: begun.ID})
	}
	maps.DeleteFunc(m.blocked, func(b block, _ bool) bool { return b.user == user })
	m.directs = slices.DeleteFunc(m.directs, func(r modelReview) bool { return r.from == user || r.to == user })
	report, err := m.archive.erase.Get(m.ctx, root, begun.ID)
	m.must(t, err)
	for _, group := range machineGroups {
		g := m.groups[group]
		waits := slices.Contains(report.Held, group)
		if g == nil || !g.onHold {
			if waits {
				t.Fatalf("the erasure of %s waits for %s, which is not held", user, group)
			}
			if g == nil {
				continue
			}
		}
		g.reviews = slices.DeleteFunc(g.reviews, func(r modelReview) bool { return r.from == user })
		w := g.members[user]
		if g.onHold && (w != nil || g.wrote(user, g.last)) && !waits {
			t.Fatalf("the erasure of %s does not wait for %s: %+v", user, group, report)
		}
		if waits {
			g.waiting = append(g.waiting, modelErasure{user, g.last})
			happened("erase waits for a hold")
		}
		maps.DeleteFunc(g.sent, func(key string, _ modelSend) bool { return strings.HasPrefix(key, user+"/") })
		if w != nil && len(g.members) == 1 && !g.onHold {
			delete(m.groups, group)
			continue
		}
		if !g.onHold {
			g.dropReports(user, chat.IDMax)
		}
		if !g.onHold && g.wrote(user, g.cut) {
			happened("erase of an archived message")
		}
		m.takeErased(t, group, user)
		delete(g.rules.why, user)
		if g.members[user] == nil {
			g.disown(user)
			delete(g.rules.slowed, user)
		}
		if !g.onHold {
			m.checkErased(t, group, user, chat.IDMax)
		}
		m.checkIndex(t, group)
		m.check(t, group)
	}
	if report.State != erase.Done {
		t.Fatalf("the erasure of %s is %+v", user, report)
	}
}

func (m *machine) runErase(t *rapid.T, kind string, payload any) {
	m.must(t, m.archive.erase.Handlers()[kind].Run(m.ctx, chat.TaskRun{Payload: chat.Encode(payload)}))
}

// hold puts a group under legal hold, or ends that: then what waits is erased.
func (m *machine) hold(t *rapid.T, _, group string) {
	g := m.groups[group]
	if !g.onHold {
		_, err := m.service.PutHold(m.ctx, root, group, "a case")
		expect(t, "hold", err, "")
		g.onHold = true
		return
	}
	expect(t, "end of a hold", m.service.ReleaseHold(m.ctx, root, group), "")
	g.onHold = false
	for range 2 {
		m.runErase(t, erase.TaskHeld, chat.GroupTask{Group: group, Epoch: g.epoch})
	}
	last := map[string]int64{}
	stays := len(g.members)
	for _, w := range g.waiting {
		if member := g.members[w.user]; member != nil && member.joined <= w.last && member.joined > last[w.user] {
			stays--
		}
		last[w.user] = max(last[w.user], w.last)
		happened("erase after a hold")
	}
	g.waiting = nil
	if stays == 0 {
		delete(m.groups, group)
		return
	}
	users := make([]string, 0, len(last))
	for user := range last {
		users = append(users, user)
	}
	m.takeErased(t, group, users...)
	for user, to := range last {
		g.dropReports(user, to)
		m.checkErased(t, group, user, to)
	}
}

// takeErased takes into the model what the erasure of users has appended to a group.
func (m *machine) takeErased(t *rapid.T, group string, users ...string) {
	g := m.groups[group]
	for {
		list, end, err := m.store().Range(m.ctx, group, g.last+1, 100, 0)
		m.must(t, err)
		if end.Epoch != g.epoch || len(list) == 0 && end.Last > g.last {
			t.Fatalf("after an erasure %s ends at %+v, and has %d entries behind %d", group, end, len(list), g.last)
		}
		for _, msg := range list {
			var e chat.Entry
			m.must(t, json.Unmarshal(msg.JSON, &e))
			author, of := e.From, e.Target
			if len(e.Erased) > 0 {
				of = e.Erased[0]
			}
			if target := g.messages[of]; target != nil && author == "" {
				author = target.from
			}
			if msg.ID != g.last+1 || !slices.Contains(users, author) {
				t.Fatalf("the erasure of %q has appended %s behind %d", users, msg.JSON, g.last)
			}
			m.takeOne(t, g, e)
		}
		if g.last >= end.Last {
			return
		}
	}
}

func (m *machine) takeOne(t *rapid.T, g *modelGroup, e chat.Entry) {
	target := g.messages[e.Target]
	switch {
	case e.Kind == chat.Notice && e.Notice == chat.NoticeLeft && g.members[e.From] != nil:
		owner := g.members[e.From].role == chat.Owner
		g.leave(e.From)
		if owner {
			g.members[g.heir()].role = chat.Owner
		}
		g.append("", &modelMessage{from: e.From, kind: chat.Notice})
		g.free()
	case e.Kind == chat.Notice && e.Notice == chat.NoticeRole:
		g.append("", &modelMessage{from: e.From, kind: chat.Notice})
	case e.Kind == chat.Delete && len(e.Erased) > 0:
		for _, id := range e.Erased {
			g.takeAuthor(id)
		}
		g.append("", &modelMessage{from: g.messages[e.Erased[0]].from, kind: chat.Delete, target: e.Target, nameless: true})
	case e.Kind == chat.Delete && target != nil && target.kind == chat.Text && e.From == "" && (!target.deleted || e.Target <= g.below()):
		g.erase(e.Target, true)
		g.append("", &modelMessage{from: target.from, kind: chat.Delete, target: e.Target, nameless: true})
	case e.Kind == chat.Reaction && e.Removed:
		user := g.messages[e.Erased[0]].from
		key := reactionKey(e.Target, user, e.Emoji)
		if on := g.reacted[key]; on != e.Erased[0] {
			t.Fatalf("the erasure of %s takes back %q by %+v, which is %d on %d", user, e.Emoji, e, on, e.Target)
		}
		g.takeAuthor(e.Erased[0])
		delete(g.reacted, key)
		g.append("", &modelMessage{from: user, kind: chat.Reaction, target: e.Target, emoji: e.Emoji, removed: true, nameless: true})
	default:
		t.Fatalf("an erasure has appended %+v", e)
	}
}

// takeAuthor takes the author off an entry that has nothing else to lose, or a reaction.
func (g *modelGroup) takeAuthor(id int64) {
	e := g.messages[id]
	e.nameless = true
	switch {
	case e.kind == chat.Edit:
		e.body = ""
	case e.kind == chat.Reaction && !e.removed:
		e.loses = true
	}
}

// checkErased checks that nothing that a user wrote up to an id is left. Whether it is served so, check and pages tell.
func (m *machine) checkErased(t *rapid.T, group, user string, to int64) {
	g := m.groups[group]
	for id := g.below() + 1; id <= min(to, g.last); id++ {
		e := g.messages[id]
		if e.from != user {
			continue
		}
		target := g.messages[e.target]
		switch {
		case e.kind == chat.Text && !e.deleted:
			t.Fatalf("message %d of %s in %s was not erased", id, user, group)
		case e.kind == chat.Edit && e.body != "":
			t.Fatalf("the edit %d of %s in %s was not erased", id, user, group)
		case e.kind == chat.Reaction && e.target > g.below() && !target.deleted:
			if on, ok := g.reacted[reactionKey(e.target, user, e.emoji)]; ok && on <= to {
				t.Fatalf("the reaction %d of %s in %s was not taken back", id, user, group)
			}
		}
	}
}

// wrote tells whether a user has a message up to an id that an erasure would find.
func (g *modelGroup) wrote(user string, to int64) bool {
	for id := g.below() + 1; id <= to; id++ {
		if e := g.messages[id]; e.from == user && e.counts() {
			return true
		}
	}
	return false
}

// wroteIt tells whether a user wrote a message. What a legal hold keeps of an erased person is not the next one's of that name.
func (g *modelGroup) wroteIt(user string, id int64) bool {
	return g.messages[id].from == user &&
		!slices.ContainsFunc(g.waiting, func(w modelErasure) bool { return w.user == user && id <= w.last })
}

// disown makes the messages of a user those of someone else of that name.
func (g *modelGroup) disown(user string) {
	for _, e := range g.messages {
		e.former = e.former || e.from == user
	}
}
