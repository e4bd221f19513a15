package statemachine_test

import (
	"encoding/json"
	"fmt"
	"slices"

	"pgregory.net/rapid"

	"github.com/chatd/chatd/chat"
)

// root is an operator, who is in no group and manages all of them.
var root = chat.Caller{User: "root", Admin: true}

// operate does what an operator may do, and what they may not.
func (m *machine) operate(t *rapid.T, _, group string) {
	target := oneOf(t, "target", machineUsers...)
	switch evenly(t, "operation", 8) {
	case 0, 1, 2:
		m.operatorPuts(t, target, group)
	case 3, 4:
		m.operatorRemoves(t, target, group)
	case 5:
		m.set(t, root, group)
	case 6:
		_, _, err := m.service.Pull(m.ctx, root, group, chat.PullQuery{})
		expect(t, "operator reads", err, chat.CodeForbidden)
		_, _, err = m.service.Receipts(m.ctx, root, group, chat.ReceiptsQuery{ID: 1})
		expect(t, "operator reads", err, chat.CodeForbidden)
	case 7:
		if evenly(t, "delete", 3) == 0 {
			m.groupDeleted(t, group, m.service.DeleteGroup(m.ctx, root, group))
		}
	}
}

func (m *machine) operatorPuts(t *rapid.T, target, group string) {
	g := m.groups[group]
	role := oneOf(t, "role", "", chat.Ordinary, chat.Admin, chat.Owner)
	had := g.members[target]
	_, created, err := m.service.PutMember(m.ctx, root, group, target, role)
	if had != nil && had.role == chat.Owner && role != "" && role != chat.Owner {
		expect(t, "operator leaves a group without owner", err, chat.CodeConflict)
		return
	}
	if had == nil && g.rules.banned[target] {
		expect(t, "operator puts who is banned", err, chat.CodeConflict)
		return
	}
	expect(t, "operator puts", err, "")
	if created != (had == nil) {
		t.Fatalf("%s was a member: %v, and is said to be added: %v", target, had != nil, created)
	}
	before := g.owner()
	switch {
	case had == nil && role == chat.Owner:
		m.admitted(t, root.User, target, group, role, chat.NoticeJoined, chat.NoticeRole)
	case had == nil:
		m.admitted(t, root.User, target, group, role, chat.NoticeJoined)
		return
	case role == "" || role == had.role:
		m.notices(t, root.User, group)
		return
	default:
		m.notices(t, root.User, group, chat.NoticeRole)
		had.role = role
	}
	if role == chat.Owner {
		g.members[before].role = chat.Admin
	}
}

// owner is who owns the group.
func (g *modelGroup) owner() string {
	for u, w := range g.members {
		if w.role == chat.Owner {
			return u
		}
	}
	return ""
}

func (m *machine) operatorRemoves(t *rapid.T, target, group string) {
	g := m.groups[group]
	had := g.members[target]
	err := m.service.RemoveMember(m.ctx, root, group, target)
	if had == nil {
		expect(t, "remove who is no member", err, chat.CodeNotFound)
		return
	}
	if g.onHold && len(g.members) == 1 {
		expect(t, "the last member leaves a held group", err, chat.CodeConflict)
		return
	}
	expect(t, "operator removes", err, "")
	m.removed(t, root.User, target, group, chat.NoticeRemoved)
}

// removed takes a member out of the model whom by has taken out of the group.
func (m *machine) removed(t *rapid.T, by, target, group, notice string) {
	g := m.groups[group]
	had := g.members[target]
	g.leave(target)
	if len(g.members) == 0 {
		delete(m.groups, group)
		return
	}
	want := []string{notice}
	if had.role == chat.Owner {
		g.members[g.heir()].role = chat.Owner
		want = append(want, chat.NoticeRole)
	}
	g.free()
	m.notices(t, by, group, want...)
}

// receipts compares how far the others are with a message, page by page.
func (m *machine) receipts(t *rapid.T, user, group string) {
	g, w := m.groups[group], m.member(group, user)
	id, e := m.target(t, group)
	if g != nil && m.archive != nil && !m.faults { // a search archives every group, which are then trimmed
		m.sawCut(t, group, m.infoOf(t, machineUsers[0], group).Held)
	}
	sender := "" // a trimmed message says nothing of its sender
	if e != nil && id > g.cut {
		sender = e.from
	}
	limit := rapid.IntRange(1, 4).Draw(t, "limit")
	var seenBy, pending []string
	for cursor := ""; ; {
		r, next, err := m.service.Receipts(m.ctx, caller(user), group, chat.ReceiptsQuery{ID: id, Limit: limit, Cursor: cursor})
		switch {
		case w == nil:
			expect(t, "receipts from outside", err, m.outsider(group))
			return
		case id > g.last || !g.history && id < w.joined:
			expect(t, "receipts of what is gone", err, chat.CodeNotFound)
			return
		}
		expect(t, "receipts", err, "")
		var members, seen, read int64
		for u, other := range g.members {
			if u == sender {
				continue
			}
			members++
			if other.seen >= id {
				seen++
			}
			if other.read >= id {
				read++
			}
		}
		if r.Members != members || r.Seen != seen || r.Read != read {
			t.Fatalf("receipts of %d in %s: got %d members, %d seen, %d read; want %d, %d, %d", id, group, r.Members, r.Seen,
				r.Read, members, seen, read)
		}
		for _, s := range r.SeenBy {
			seenBy = append(seenBy, s.User)
		}
		pending = append(pending, r.Pending...)
		if cursor = next; cursor == "" {
			break
		}
	}
	var wantSeen, wantPending []string
	for u, other := range g.members {
		switch {
		case u == sender:
		case other.seen >= id:
			wantSeen = append(wantSeen, u)
		default:
			wantPending = append(wantPending, u)
		}
	}
	for _, list := range [][]string{seenBy, pending, wantSeen, wantPending} {
		slices.Sort(list)
	}
	if !slices.Equal(seenBy, wantSeen) || !slices.Equal(pending, wantPending) {
		t.Fatalf("receipts of %d in %s: got %q seen and %q pending, want %q and %q", id, group, seenBy, pending, wantSeen, wantPending)
	}
}

// tasks runs tasks that come late and twice, of this life of the group or of an earlier one: they change nothing that
// anybody can see, and the indexes are in line after them.
func (m *machine) tasks(t *rapid.T, user, group string) {
	epoch := oneOf(t, "epoch", m.groups[group].epoch, "earlier")
	m.runTask(t, chat.TaskTrim, chat.GroupTask{Group: group, Epoch: epoch})
	m.runTask(t, chat.TaskCleanup, chat.GroupTask{Group: group, Epoch: epoch})
	// A node wrote the index late, or not at all.
	if oneOf(t, "lost", true, false) {
		m.must(t, m.stores.DropUserGroup(m.ctx, user, group))
	} else {
		m.must(t, m.stores.AddUserGroups(m.ctx, []string{user}, chat.UserGroup{Group: group, Seen: 1 << 40}))
	}
	m.runTask(t, chat.TaskMember, chat.MemberTask{Group: group, Epoch: epoch, ID: 1, By: root.User,
		What: oneOf(t, "what", chat.NoticeJoined, chat.NoticeLeft, chat.NoticeRemoved), Users: machineUsers, AtMs: 1})
	m.checkIndex(t, group)
}

func (m *machine) must(t *rapid.T, err error) {
	if err != nil {
		t.Fatal(err)
	}
}

func (m *machine) runTask(t *rapid.T, kind string, task any) {
	payload, err := json.Marshal(task)
	m.must(t, err)
	for range 2 {
		expect(t, fmt.Sprintf("task %s", kind), m.service.Handlers()[kind].Run(m.ctx, chat.TaskRun{Payload: payload}), "")
	}
}

// checkIndex compares the index of every user with the group: who is in it has it there, with a hint that is a lower
// bound, and nobody else has.
func (m *machine) checkIndex(t *rapid.T, group string) {
	for _, u := range machineUsers {
		index, err := m.stores.UserGroups(m.ctx, u)
		m.must(t, err)
		at := slices.IndexFunc(index, func(g chat.UserGroup) bool { return g.Group == group })
		w := m.member(group, u)
		if (at >= 0) != (w != nil) {
			t.Fatalf("M2: %s is in %s: %v, and has it in the index: %v", u, group, w != nil, at >= 0)
		}
		if w != nil && index[at].Seen > w.seen {
			t.Fatalf("%s has seen %s up to %d, the index says %d", u, group, w.seen, index[at].Seen)
		}
	}
}

func (m *machine) checkInfo(t *rapid.T, got chat.Info, user, group string) {
	g, w := m.groups[group], m.member(group, user)
	if got.Epoch != g.epoch || got.Last != g.last || got.Members != int64(len(g.members)) {
		t.Fatalf("%s: got epoch %s last %d members %d, want %s %d %d", group, got.Epoch, got.Last, got.Members, g.epoch, g.last, len(g.members))
	}
	if w == nil {
		if got.Role != "" {
			t.Fatalf("X1: %s has role %q in %s, is no member", user, got.Role, group)
		}
		return
	}
	unread, mentions := g.unread(user)
	type view struct {
		Role               chat.Role
		Joined, Seen, Read int64
		Unread, Mentions   int64
		ThreadsUnread      int64
	}
	want := view{w.role, w.joined, w.seen, w.read, unread, mentions, g.threadsUnread(user)}
	if have := (view{got.Role, got.Joined, got.Seen, got.Read, got.Unread, got.MentionsUnread, got.ThreadsUnread}); have != want {
		t.Fatalf("%s in %s: got %+v, want %+v", user, group, have, want)
	}
}
