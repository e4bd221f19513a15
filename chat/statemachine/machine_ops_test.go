package statemachine_test

import (
	"encoding/json"
	"fmt"
	"slices"

	"pgregory.net/rapid"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/live"
)

// notices reads what the service appended beyond the model's last, checks that each is a notice by user, and takes them
// into the model. It returns the first id.
func (m *machine) notices(t *rapid.T, user, group string, want ...string) int64 {
	g := m.groups[group]
	stored, end, err := m.stores.Range(m.ctx, group, g.last+1, 100, 0)
	if err != nil {
		t.Fatal(err)
	}
	first := g.last + 1
	// With a small keep the step may have trimmed its own notice already; whether it might, check tells.
	trimmed := min(int(end.Last-g.last)-len(stored), len(want))
	var got []string
	for _, notice := range want[:max(0, trimmed)] {
		got = append(got, notice)
		g.append(user, &modelMessage{from: user, kind: chat.Notice})
	}
	for _, msg := range stored {
		var e chat.Entry
		if err := json.Unmarshal(msg.JSON, &e); err != nil {
			t.Fatal(err)
		}
		if e.Kind != chat.Notice || e.From != user {
			t.Fatalf("after an action of %s there is a %s from %s: %s", user, e.Kind, e.From, msg.JSON)
		}
		got = append(got, e.Notice)
		g.append(user, &modelMessage{from: user, kind: chat.Notice})
	}
	if end.Last != g.last || !slices.Equal(got, want) {
		t.Fatalf("notices of %s in %s: got %q up to %d, want %q up to %d", user, group, got, end.Last, want, g.last)
	}
	return first
}

// put joins, adds, or changes a role.
func (m *machine) put(t *rapid.T, user, group string) {
	g := m.groups[group]
	target := oneOf(t, "target", machineUsers...)
	role := oneOf[chat.Role](t, "role", "", chat.Ordinary, chat.Admin)
	if evenly(t, "for themself", 2) == 0 {
		user, role = target, ""
	}
	by, had := g.members[user], g.members[target]
	_, created, err := m.service.PutMember(m.ctx, caller(user), group, target, role)
	manages := by != nil && by.role.Manages()
	switch {
	case had == nil && g.rules.banned[target] && role == chat.Admin && user == target:
		expect(t, "make oneself an admin while banned", err, m.outsider(group))
		return
	case had == nil && manages && user != target && m.blocked[block{target, user}]:
		expect(t, "add who blocks them", err, chat.CodeBlocked)
		return
	case had == nil && g.rules.banned[target] && (manages || user == target && g.public):
		expect(t, "put who is banned", err, map[bool]chat.Code{true: chat.CodeBanned, false: chat.CodeConflict}[user == target])
		return
	case by == nil && user == target && g.public && g.rules.join != chat.JoinOpen:
		expect(t, "join where one asks", err, chat.CodeForbidden)
		return
	case by == nil && user == target && g.public && (role == "" || role == chat.Ordinary):
		expect(t, "join", err, "")
	case by == nil:
		expect(t, "put from outside", err, m.outsider(group), chat.CodeForbidden)
		if !g.public {
			expect(t, "put from outside a private group", err, chat.CodeNotFound)
		}
		return
	case had == nil && !manages:
		expect(t, "add without rights", err, chat.CodeForbidden)
		return
	case had != nil && (role == "" || role == had.role):
		// Nothing to change: rights do not matter for an answer that says how it is.
		if err == nil && created {
			t.Fatalf("%s was a member of %s, now is said to be added", target, group)
		}
		expect(t, "put again", err, "", chat.CodeForbidden)
		m.notices(t, user, group)
		return
	case had != nil && (!manages || had.role == chat.Owner):
		expect(t, "role without rights", err, chat.CodeForbidden, chat.CodeConflict)
		return
	}
	if had != nil && err != nil && by.role == chat.Admin && had.role == chat.Admin {
		expect(t, "admin on admin", err, chat.CodeForbidden)
		return
	}
	if err != nil && role == chat.Admin && by != nil && by.role == chat.Admin {
		expect(t, "admin makes admin", err, chat.CodeForbidden)
		return
	}
	expect(t, "put", err, "")
	if had != nil {
		m.notices(t, user, group, chat.NoticeRole)
		had.role = role
		return
	}
	if !created {
		t.Fatalf("%s was no member of %s and is not said to be added", target, group)
	}
	m.admitted(t, user, target, group, role, chat.NoticeJoined)
}

// admitted takes a new member into the model, whom user has let in with these notices.
func (m *machine) admitted(t *rapid.T, user, target, group string, role chat.Role, notices ...string) {
	g := m.groups[group]
	// The joiner's place is taken at the instant of joining: read before the notice goes into the model, which may
	// already let more be trimmed.
	info := m.infoOf(t, target, group)
	joined := m.notices(t, user, group, notices...)
	if role == "" {
		role = chat.Ordinary
	}
	w := newModelMember(g, role, joined)
	if g.history {
		// The log may have been trimmed by the step itself, never beyond what was allowed.
		w.seen, w.read = info.Seen, info.Read
		if info.Seen < g.cut || info.Seen > g.freed {
			t.Fatalf("T3: %s joins %s at %d; trimmed up to %d, allowed %d", target, group, info.Seen, g.cut, g.freed)
		}
	}
	g.members[target] = w
	delete(g.rules.asked, target)
	g.free()
}

func (m *machine) infoOf(t *rapid.T, user, group string) chat.Info {
	got, err := m.stores.Infos(m.ctx, user, []string{group})
	if err != nil {
		t.Fatal(err)
	}
	return got[0]
}

// remove leaves, or removes another.
func (m *machine) remove(t *rapid.T, user, group string) {
	g := m.groups[group]
	target := user
	if oneOf(t, "another", true, false) {
		target = oneOf(t, "target", machineUsers...)
	}
	by, had := g.members[user], g.members[target]
	err := m.service.RemoveMember(m.ctx, caller(user), group, target)
	switch {
	case by == nil:
		expect(t, "remove from outside", err, m.outsider(group), chat.CodeNotFound)
		return
	case user != target && !by.role.Manages():
		expect(t, "remove without rights", err, chat.CodeForbidden)
		return
	case had == nil:
		expect(t, "remove who is no member", err, chat.CodeNotFound)
		return
	case user != target && had.role == chat.Owner:
		expect(t, "remove the owner", err, chat.CodeForbidden)
		return
	case user != target && by.role == chat.Admin && had.role == chat.Admin && err != nil:
		expect(t, "admin removes admin", err, chat.CodeForbidden)
		return
	}
	if g.onHold && len(g.members) == 1 {
		expect(t, "the last member leaves a held group", err, chat.CodeConflict)
		return
	}
	expect(t, "remove", err, "")
	if user == target {
		m.removed(t, user, target, group, chat.NoticeLeft)
	} else {
		m.removed(t, user, target, group, chat.NoticeRemoved)
	}
}

// target picks an id of the log: mostly a text that is there, else any, also one that is gone or never was.
func (m *machine) target(t *rapid.T, group string) (int64, *modelMessage) {
	g := m.groups[group]
	if archived := slices.DeleteFunc(g.alive(), func(id int64) bool { return id > g.cut }); m.below && len(archived) > 0 {
		id := oneOf(t, "archived", archived...)
		return id, g.messages[id]
	}
	if len(g.pinned) > 0 && evenly(t, "pinned target", 5) == 0 {
		id := oneOf(t, "pinned", g.pinned...)
		return id, g.messages[id]
	}
	id := max(1, g.below()-1) + int64(evenly(t, "target", int(g.last+2-max(1, g.below()-1))))
	if evenly(t, "any target", 5) > 0 {
		for try := id; try > g.below(); try-- {
			if e := g.messages[try]; e != nil && e.counts() {
				return try, e
			}
		}
	}
	return id, g.messages[id]
}

// author is mostly the writer of the message, else user.
func author(t *rapid.T, user string, e *modelMessage) string {
	if e != nil && evenly(t, "another than the author", 4) > 0 {
		return e.from
	}
	return user
}

// gone tells whether the target cannot be had any more.
func (m *machine) gone(group string, id int64, e *modelMessage) bool {
	g := m.groups[group]
	return e == nil || e.deleted || id <= g.below() && !slices.Contains(g.pinned, id)
}

// outOfReach checks how a change of message id was refused that user cannot see or that is no text. Of all others it says
// false, and leaves err to the caller.
func (m *machine) outOfReach(t *rapid.T, what, user, group string, id int64, e *modelMessage, err error) bool {
	g := m.groups[group]
	switch {
	case g.members[user] == nil:
		expect(t, what+" from outside", err, m.outsider(group))
	case m.gone(group, id, e) || g.hides(user, id) || what == "react to" && id <= g.below(): // pinned, it can still be edited
		expect(t, what+" what is gone", err, chat.CodeNotFound)
	case e.kind != chat.Text:
		expect(t, what+" what is no text", err, chat.CodeInvalid, chat.CodeForbidden, chat.CodeNotFound)
	case id <= g.cut && m.doubts.of(g.marks[id]) && chat.CodeOf(err) == chat.CodeNotFound:
		happened(what + " what the archive has as deleted")
	default:
		return false
	}
	return true
}

func (m *machine) edit(t *rapid.T, user, group string) {
	g := m.groups[group]
	id, e := m.target(t, group)
	user = author(t, user, e)
	if e.over() {
		return
	}
	m.serial++
	body := fmt.Sprintf("edited m%d %s", m.serial, oneOf(t, "word", machineWords...))
	verdict := m.hook.draw(t)
	sent, err := m.service.Send(m.ctx, caller(user), group, chat.Content{Kind: chat.Edit, Target: id, Body: &body}, "")
	m.hook.done(t, err)
	if m.outOfReach(t, "edit", user, group, id, e, err) {
		return
	}
	if !g.wroteIt(user, id) {
		expect(t, "edit another's", err, chat.CodeForbidden)
		return
	}
	if code := g.forbids(user, chat.Edit); code != "" {
		expect(t, "edit against a rule", err, code)
		return
	}
	if m.kept(t, verdict, "an edit", modelReview{group: group, from: user, kind: chat.Edit, body: body, target: id}, err, &modelSend{}) {
		return
	}
	m.changed(t, "edit", g, id, err)
	body = verdict.text(body)
	e.edited, e.body = true, body
	m.doubts.saw(g, id)
	e.edits = append(e.edits, g.append(user, &modelMessage{from: user, kind: chat.Edit, body: body, target: id}))
	if sent.ID != g.last {
		t.Fatalf("edit: got id %d, want %d", sent.ID, g.last)
	}
}

func (m *machine) delete(t *rapid.T, user, group string) {
	id, e := m.target(t, group)
	m.deleteOne(t, author(t, user, e), group, id, e)
}

func (m *machine) deleteOne(t *rapid.T, user, group string, id int64, e *modelMessage) {
	g := m.groups[group]
	sent, err := m.service.Send(m.ctx, caller(user), group, chat.Content{Kind: chat.Delete, Target: id}, "")
	if m.outOfReach(t, "delete", user, group, id, e, err) {
		return
	}
	if !g.wroteIt(user, id) && !g.members[user].role.Manages() {
		expect(t, "delete another's", err, chat.CodeForbidden)
		return
	}
	m.changed(t, "delete", g, id, err)
	g.erase(id, false)
	g.append(user, &modelMessage{from: user, kind: chat.Delete, target: id})
	if sent.ID != g.last {
		t.Fatalf("delete: got id %d, want %d", sent.ID, g.last)
	}
}

func (m *machine) react(t *rapid.T, user, group string) {
	g := m.groups[group]
	id, e := m.target(t, group)
	emoji := oneOf(t, "emoji", "👍", "❤️")
	removed := rapid.IntRange(0, 2).Draw(t, "removed") == 0
	sent, err := m.service.Send(m.ctx, caller(user), group, chat.Content{Kind: chat.Reaction, Target: id, Emoji: emoji, Removed: removed}, "")
	key := reactionKey(id, user, emoji)
	on, isOn := g.reacted[key]
	off, isOff := g.reacted["-"+key]
	if code := g.forbids(user, chat.Reaction); code != "" {
		expect(t, "react against a rule", err, code, chat.CodeNotFound, chat.CodeInvalid)
		return
	}
	if g.members[user] != nil && g.full(user) {
		// Whether there is something to react to may be found out before, from the archive.
		expect(t, "react while others are behind", err, chat.CodeBacklogFull, chat.CodeNotFound, chat.CodeInvalid)
		return
	}
	if m.outOfReach(t, "react to", user, group, id, e, err) {
		return
	}
	if id <= g.cut && m.doubts.reactionsOf(group) {
		m.reactInDoubt(t, user, group, sent, err, &modelMessage{from: user, kind: chat.Reaction, target: id, emoji: emoji, removed: removed})
		return
	}
	if removed && !isOn && !isOff {
		expect(t, "remove a reaction that never was", err, chat.CodeNotFound)
		return
	}
	m.changed(t, "react", g, id, err)
	if !removed && isOn || removed && isOff {
		if want := max(on, off); sent.ID != want || !sent.Duplicate {
			t.Fatalf("the same reaction twice: got id %d duplicate %v, want %d and a duplicate", sent.ID, sent.Duplicate, want)
		}
		return
	}
	want := g.append(user, &modelMessage{from: user, kind: chat.Reaction, target: id, emoji: emoji, removed: removed})
	if sent.ID != want {
		t.Fatalf("react: got id %d, want %d", sent.ID, want)
	}
	delete(g.reacted, key)
	delete(g.reacted, "-"+key)
	if removed {
		key = "-" + key
	}
	g.reacted[key] = want
	m.checkReactions(t, user, group, id)
}

func reactionKey(target int64, user, emoji string) string {
	return fmt.Sprintf("%d %s %s", target, user, emoji)
}

func (m *machine) checkReactions(t *rapid.T, user, group string, id int64) {
	g := m.groups[group]
	if id <= g.cut && (m.doubts.reactionsOf(group) || m.doubts.of(g.marks[id])) {
		return
	}
	got, err := m.store().Reactions(m.ctx, group, user, id, id)
	if err != nil {
		t.Fatal(err)
	}
	for _, emoji := range []string{"👍", "❤️"} {
		var want chat.ReactionCount
		for _, u := range machineUsers {
			if _, on := g.reacted[reactionKey(id, u, emoji)]; on {
				want.Count++
				want.Mine = want.Mine || u == user
			}
		}
		if got[id][emoji] != want {
			t.Fatalf("reactions %s on %d for %s: got %+v, want %+v", emoji, id, user, got[id][emoji], want)
		}
	}
}

// trim lets the store trim to the end: then exactly what the rules ask for is left.
func (m *machine) trim(t *rapid.T, _, group string) {
	g := m.groups[group]
	m.catchUp(t, group)
	for range 100 {
		more, err := m.stores.Trim(m.ctx, group)
		if err != nil {
			t.Fatal(err)
		}
		if !more {
			break
		}
	}
	if got := m.infoOf(t, machineUsers[0], group).Held - 1; got < g.bound() {
		t.Fatalf("T6: %s is trimmed up to %d, %d is free", group, got, g.bound())
	}
}

func (m *machine) settings(t *rapid.T, user, group string) {
	m.set(t, caller(user), group)
}

// set changes some of the settings.
func (m *machine) set(t *rapid.T, by chat.Caller, group string) {
	g := m.groups[group]
	keep, backlog, history := g.keep, g.backlogMax, g.history
	if evenly(t, "change keep", 2) == 0 {
		keep = rapid.Int64Range(0, 6).Draw(t, "keep")
	}
	if evenly(t, "change backlog_max", 2) == 0 {
		backlog = rapid.Int64Range(3, 25).Draw(t, "backlog")
	}
	if !m.faults && evenly(t, "change history", 4) == 0 {
		history = !history
	}
	expireS := g.expireS
	if m.clock != nil && evenly(t, "change expire_s", 4) == 0 {
		expireS = oneOf[int64](t, "expire_s", 0, 2*3600, 35*daySeconds)
	}
	overflow := chat.OverflowDrop
	if !m.faults && oneOf(t, "block", true, false) {
		overflow = chat.OverflowBlock
	}
	_, err := m.service.UpdateGroup(m.ctx, by, group, chat.GroupChange{Keep: &keep, BacklogMax: &backlog, History: &history, Overflow: &overflow, ExpireS: &expireS})
	if w := g.members[by.User]; !by.Admin && (w == nil || !w.role.Manages()) {
		expect(t, "settings without rights", err, m.outsider(group), chat.CodeForbidden)
		return
	}
	expect(t, "settings", err, "")
	changed := keep != g.keep || backlog != g.backlogMax || history != g.history || expireS != g.expireS || overflow == chat.OverflowBlock != g.block
	if backlog > g.backlogMax {
		g.counted = max(g.counted, g.last-g.backlogMax)
	}
	g.keep, g.backlogMax, g.history, g.block, g.expireS = keep, backlog, history, overflow == chat.OverflowBlock, expireS
	g.free()
	if changed {
		m.notices(t, by.User, group, chat.NoticeSettings)
	} else {
		m.notices(t, by.User, group)
	}
}

func (m *machine) deleteGroup(t *rapid.T, user, group string) {
	err := m.service.DeleteGroup(m.ctx, caller(user), group)
	if w := m.groups[group].members[user]; w == nil || w.role != chat.Owner {
		expect(t, "delete a group without rights", err, m.outsider(group), chat.CodeForbidden)
		return
	}
	m.groupDeleted(t, group, err)
}

// groupDeleted takes into the model that someone who may delete a group has done so.
func (m *machine) groupDeleted(t *rapid.T, group string, err error) {
	if m.groups[group].onHold {
		expect(t, "delete a held group", err, chat.CodeConflict)
		return
	}
	expect(t, "delete a group", err, "")
	delete(m.groups, group)
}

// sync asks for everything with the server's own cursors, and with acks of its own.
func (m *machine) sync(t *rapid.T, user, _ string) {
	limit := rapid.IntRange(1, 30).Draw(t, "limit")
	got, err := m.live.Sync(m.ctx, caller(user), live.SyncRequest{Limit: limit})
	expect(t, "sync", err, "")
	served := map[string]bool{}
	total, owed := int64(0), int64(0)
	for id, g := range m.groups {
		if w := g.members[user]; w != nil {
			owed += g.last - max(w.seen, m.infoOf(t, user, id).Visible()-1)
		}
	}
	for _, b := range got.Groups {
		w := m.member(b.Group, user)
		if w == nil {
			t.Fatalf("X1: sync serves %s to %s, who is no member", b.Group, user)
		}
		m.sawCut(t, b.Group, m.infoOf(t, user, b.Group).Held)
		m.checkBatch(t, b, user, b.Group, limit)
		if b.From != max(w.seen+1, m.groups[b.Group].visible(user)) {
			t.Fatalf("sync: %s begins at %d, seen is %d", b.Group, b.From, w.seen)
		}
		served[b.Group] = true
		total += int64(len(b.Messages))
		// No group takes from another what that one could use.
		if share := min(b.Last-b.From+1, int64(limit/len(machineGroups))); int64(len(b.Messages)) < share {
			t.Fatalf("sync with limit %d serves %d messages of %s, which has %d..%d", limit, len(b.Messages), b.Group, b.From, b.Last)
		}
	}
	if total != min(owed, int64(limit)) {
		t.Fatalf("sync served %d messages; the limit is %d, %d are owed", total, limit, owed)
	}
	for id, g := range m.groups {
		if w := g.members[user]; w != nil && w.seen < g.last && !served[id] && limit >= len(machineGroups) {
			t.Fatalf("sync leaves out %s, seen %d of %d", id, w.seen, g.last)
		}
	}
}

// sawCut takes a first that an answer showed into the model, within the rules.
func (m *machine) sawCut(t *rapid.T, group string, first int64) {
	g := m.groups[group]
	if first-1 < g.cut || first-1 > g.freed {
		t.Fatalf("T1/T2: %s shows first %d; it was %d, the rules allow %d", group, first, g.cut+1, g.freed+1)
	}
	g.cut = first - 1
}

// list compares the list of groups and the unread counts over all of them.
func (m *machine) list(t *rapid.T, user, _ string) {
	views, err := m.service.Groups(m.ctx, caller(user), 10, "")
	expect(t, "groups", err, "")
	counts, err := m.service.UnreadCounts(m.ctx, caller(user))
	expect(t, "unread counts", err, "")
	var total, mentions, replies, in int64
	for _, g := range m.groups {
		if g.members[user] != nil {
			u, at := g.unread(user)
			total, mentions, replies, in = total+u, mentions+at, replies+g.threadsUnread(user), in+1
		}
	}
	if counts.Total != total || counts.Mentions != mentions || counts.Threads != replies {
		t.Fatalf("unread of %s: got %+v, want %d, %d mentions and %d replies", user, counts, total, mentions, replies)
	}
	if int64(len(views.Items)) != in {
		t.Fatalf("%s is in %d groups, the list has %d", user, in, len(views.Items))
	}
	for _, v := range views.Items {
		w := m.member(v.ID, user)
		u, at := m.groups[v.ID].unread(user)
		if w == nil || v.Seen != w.seen || v.Read != w.read || v.Unread != u || v.MentionsUnread != at || v.ThreadsUnread != m.groups[v.ID].threadsUnread(user) {
			t.Fatalf("list of %s: %s is %+v, want %+v unread %d mentions %d", user, v.ID, v, w, u, at)
		}
	}
}
