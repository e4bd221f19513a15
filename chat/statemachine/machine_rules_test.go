package statemachine_test

import (
	"encoding/json"
	"maps"
	"slices"

	"pgregory.net/rapid"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/rules"
)

// modelRules are the rules of a group.
type modelRules struct {
	nobody bool            // posts
	slow   bool            // for longer than a test takes
	slowed map[string]bool // who has sent since then
	muted  map[string]bool
	banned map[string]bool   // for ever
	why    map[string]string // the reason of the last ban
	join   chat.Joining      // what counts where the group is public
	asked  map[string]bool   // to be let in
}

// forbids is the code with which the rules refuse an entry of a member; empty: they do not.
func (g *modelGroup) forbids(user string, kind chat.Kind) chat.Code {
	w := g.members[user]
	switch {
	case w == nil:
	case g.rules.nobody:
		return chat.CodeForbidden
	case g.rules.muted[user]:
		return chat.CodeMuted
	case kind == chat.Text && w.role == chat.Ordinary && g.rules.slow && g.rules.slowed[user]:
		return chat.CodeRateLimited
	}
	return ""
}

// noteSent notes that a member has sent a text.
func (g *modelGroup) noteSent(user string) {
	if g.rules.slow && g.members[user].role == chat.Ordinary {
		g.rules.slowed[user] = true
	}
}

// rule changes a rule of a group. A store that is rolled back forgets rules, so there are none then.
func (m *machine) rule(t *rapid.T, user, group string) {
	g := m.groups[group]
	if m.faults {
		return
	}
	by := g.members[user]
	manages := by != nil && by.role.Manages()
	switch evenly(t, "rule", 7) {
	case 0, 1:
		m.mute(t, user, group)
		return
	case 2:
		slow := int64(evenly(t, "slow", 2) * 21_600)
		_, err := m.service.UpdateGroup(m.ctx, caller(user), group, chat.GroupChange{SlowS: &slow})
		if m.ruled(t, user, group, manages, g.rules.slow != (slow > 0), err) {
			g.rules.slow, g.rules.slowed = slow > 0, map[string]bool{}
		}
	case 4, 5:
		m.ban(t, user, group)
	case 6:
		join := oneOf(t, "join", chat.JoinOpen, chat.JoinAsk, chat.JoinAsk, chat.JoinClosed)
		if !g.public {
			return // nobody adds themself there, whatever it says
		}
		_, err := m.service.UpdateGroup(m.ctx, caller(user), group, chat.GroupChange{Join: &join})
		if m.ruled(t, user, group, manages, g.rules.join != join, err) {
			g.rules.join = join
		}
	case 3:
		post := oneOf(t, "post", chat.PostMembers, chat.PostMembers, chat.PostNone)
		_, err := m.service.UpdateGroup(m.ctx, caller(user), group, chat.GroupChange{Post: &post})
		if m.ruled(t, user, group, manages, g.rules.nobody != (post == chat.PostNone), err) {
			g.rules.nobody = post == chat.PostNone
		}
	}
}

// ruled checks the answer to a change of settings, and tells whether something has changed.
func (m *machine) ruled(t *rapid.T, user, group string, manages, changes bool, err error) bool {
	if !manages {
		expect(t, "settings without rights", err, m.outsider(group), chat.CodeForbidden)
		return false
	}
	expect(t, "rule", err, "")
	if !changes {
		m.notices(t, user, group)
		return false
	}
	m.notices(t, user, group, chat.NoticeSettings)
	return true
}

// mute mutes a member, or lets them write again.
func (m *machine) mute(t *rapid.T, user, group string) {
	target := oneOf(t, "target", machineUsers...)
	mute := oneOf(t, "mute", true, false)
	until := json.RawMessage(`null`)
	if mute {
		until = json.RawMessage(`"9999-12-31T00:00:00.000Z"`)
	}
	_, err := m.rules.Mute(m.ctx, caller(user), group, target, until)
	m.mutedBy(t, caller(user), group, target, mute, err, chat.CodeNotFound)
}

// mutedBy takes a mute into the model, or its end. outside is the code for who is no member. done: it was not refused.
func (m *machine) mutedBy(t *rapid.T, c chat.Caller, group, target string, mute bool, err error, outside chat.Code) (done bool) {
	g := m.groups[group]
	by, had := g.members[c.User], g.members[target]
	switch {
	case !c.Admin && (by == nil || !by.role.Manages()):
		expect(t, "mute without rights", err, m.outsider(group), chat.CodeForbidden)
		return false
	case had == nil:
		expect(t, "mute who is no member", err, outside)
		return false
	case had.role == chat.Owner && mute, !c.Admin && had.role == chat.Admin && by.role != chat.Owner:
		expect(t, "mute who cannot be muted", err, chat.CodeForbidden)
		return false
	}
	expect(t, "mute", err, "")
	if g.rules.muted[target] == mute {
		m.notices(t, c.User, group)
	} else {
		g.rules.muted[target] = mute
		m.notices(t, c.User, group, chat.NoticeMuted)
	}
	if got := m.infoOf(t, target, group).MutedUntil != nil; got != mute {
		t.Fatalf("%s is muted in %s: %v, want %v", target, group, got, mute)
	}
	return true
}

// ban keeps a user out, or lets them in again.
func (m *machine) ban(t *rapid.T, user, group string) {
	g := m.groups[group]
	target := oneOf(t, "target", machineUsers...)
	by := g.members[user]
	manages := by != nil && by.role.Manages()
	if oneOf(t, "unban", true, false) {
		err := m.rules.Unban(m.ctx, caller(user), group, target)
		switch {
		case !manages:
			expect(t, "unban without rights", err, m.outsider(group), chat.CodeForbidden)
		case !g.rules.banned[target]:
			expect(t, "unban who is not banned", err, chat.CodeNotFound)
		default:
			expect(t, "unban", err, "")
			delete(g.rules.banned, target)
		}
		return
	}
	was := g.rules.banned[target]
	_, created, err := m.rules.Ban(m.ctx, caller(user), group, target, rules.BanDraft{})
	if m.bannedBy(t, caller(user), group, target, "", err) && created == was {
		t.Fatalf("%s was banned from %s: %v, and is said to be banned now: %v", target, group, was, created)
	}
}

// bannedBy takes a ban into the model. done: it was not refused. A ban again has a notice if its reason is another one.
func (m *machine) bannedBy(t *rapid.T, c chat.Caller, group, target, reason string, err error) (done bool) {
	g := m.groups[group]
	by, had := g.members[c.User], g.members[target]
	switch {
	case !c.Admin && (by == nil || !by.role.Manages()):
		expect(t, "ban without rights", err, m.outsider(group), chat.CodeForbidden)
		return false
	case had != nil && (had.role == chat.Owner || !c.Admin && had.role == chat.Admin && by.role != chat.Owner):
		expect(t, "ban who cannot be banned", err, chat.CodeForbidden)
		return false
	}
	expect(t, "ban", err, "")
	same := g.rules.banned[target] && g.rules.why[target] == reason
	g.rules.banned[target], g.rules.why[target] = true, reason
	delete(g.rules.asked, target)
	switch {
	case had != nil:
		g.leave(target)
		g.free()
		m.notices(t, c.User, group, chat.NoticeRemoved, chat.NoticeBanned)
	case !same:
		m.notices(t, c.User, group, chat.NoticeBanned)
	default:
		m.notices(t, c.User, group)
	}
	return true
}

// ask asks to be let in, takes that back, or answers somebody who asks.
func (m *machine) ask(t *rapid.T, user, group string) {
	g := m.groups[group]
	if m.faults {
		return
	}
	what, target := evenly(t, "of asking", 5), oneOf(t, "target", machineUsers...)
	if oneOf(t, "as it fits", true, true, false) { // members ask and outsiders answer, most of the time, if nothing is done about it
		var outside, managers []string
		for _, u := range machineUsers {
			if w := g.members[u]; w == nil {
				outside = append(outside, u)
			} else if w.role.Manages() {
				managers = append(managers, u)
			}
		}
		asking := slices.Sorted(maps.Keys(g.rules.asked))
		switch {
		case what < 2 && len(outside) > 0:
			user = oneOf(t, "outside", outside...)
		case what > 2 && len(asking) > 0 && len(managers) > 0:
			user, target = oneOf(t, "manager", managers...), oneOf(t, "asking", asking...)
		}
	}
	by := g.members[user]
	manages := by != nil && by.role.Manages()
	switch what {
	case 0, 1:
		_, created, err := m.rules.Ask(m.ctx, caller(user), group, "")
		switch {
		case by != nil:
			expect(t, "a member asks", err, chat.CodeConflict)
		case !g.public:
			expect(t, "ask a private group", err, chat.CodeNotFound)
		case g.rules.banned[user]:
			expect(t, "ask while banned", err, chat.CodeBanned)
		case g.rules.join == chat.JoinClosed:
			expect(t, "ask a closed group", err, chat.CodeForbidden)
		case g.rules.join == chat.JoinOpen:
			expect(t, "ask an open group", err, chat.CodeConflict)
		default:
			expect(t, "ask", err, "")
			if created == g.rules.asked[user] {
				t.Fatalf("%s had asked %s: %v, and is said to ask anew: %v", user, group, !created, created)
			}
			g.rules.asked[user] = true
		}
	case 2:
		err := m.rules.Unask(m.ctx, caller(user), group)
		if !g.rules.asked[user] {
			expect(t, "take back nothing", err, chat.CodeNotFound)
			return
		}
		expect(t, "take back", err, "")
		delete(g.rules.asked, user)
	default:
		accept := oneOf(t, "accept", true, true, false)
		err := m.rules.Answer(m.ctx, caller(user), group, target, accept)
		switch {
		case !manages:
			expect(t, "answer without rights", err, m.outsider(group), chat.CodeForbidden)
			return
		case !g.rules.asked[target]:
			expect(t, "answer who does not ask", err, chat.CodeNotFound)
			return
		}
		expect(t, "answer", err, "")
		delete(g.rules.asked, target)
		if accept {
			m.admitted(t, user, target, group, "", chat.NoticeJoined)
		}
	}
}
