package store_test

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/erase"
	"github.com/chatd/chatd/chat/rules"
)

var erasureTests = map[string]func(*fixture){
	"BeginErasure":                    testBeginErasure,
	"FinishErasure":                   testFinishErasure,
	"ErasePerson":                     testErasePerson,
	"UsersFrom":                       testUsersFrom,
	"EraseInboxes":                    testEraseInboxes,
	"FindAuthored":                    testFindAuthored,
	"EraseEntry":                      testEraseEntry,
	"EraseEntry of a changed message": testEraseChangedEntry,
	"EraseEntry of a reaction":        testEraseReaction,
	"EraseEntry of edits alone":       testEraseEditsAlone,
	"EraseEntry of what is left":      testEraseRest,
	"EraseEntry below what is stored": testEraseBelow,
	"EraseEntry trims":                testEraseEntryTrims,
	"DropTraces":                      testDropTraces,
	"traces of who is banned":         testBannedTraces,
	"traces of who has banned":        testBannerTraces,
	"HoldErasure and WaitingErasures": testHoldErasure,
	"EraseEntry under a legal hold":   testEraseUnderHold,
}

func (w *fixture) erasure(user string) erase.Record {
	w.Helper()
	id, err := w.BeginErasure(w.ctx, operator, user)
	w.ok(err)
	return w.erasureOf(id)
}

func (w *fixture) erasureOf(id string) erase.Record {
	w.Helper()
	r, err := w.Erasure(w.ctx, id)
	w.ok(err)
	slices.Sort(r.Held)
	return r
}

func testBeginErasure(w *fixture) {
	first := w.erasure("alice")
	w.equal(first, erase.Record{User: "alice", Erasure: erase.Erasure{ID: first.ID, State: erase.Pending, Held: []string{}}})
	w.equal(w.erasure("alice").ID, first.ID)
	if other := w.erasure("bob"); other.ID == first.ID {
		w.Errorf("two users have the erasure %s", other.ID)
	}
	w.equal(len(w.takeTasks(erase.TaskErase)), 2)
	for _, id := range []string{"p00-none", "p99-none", "none"} {
		_, err := w.Erasure(w.ctx, id)
		w.fails(err, chat.ErrNotFound)
	}
	w.ok(w.MoveErasure(w.ctx, first, erase.Progress{Phase: "groups", Cursor: "7", Groups: []string{"g", "h"}, Held: []string{"h", "i"}}))
	w.ok(w.MoveErasure(w.ctx, first, erase.Progress{Phase: "groups", Cursor: "8", Groups: []string{"h"}, Free: []string{"i"}}))
	w.equal(w.erasureOf(first.ID), erase.Record{User: "alice", Phase: "groups", Cursor: "8",
		Erasure: erase.Erasure{ID: first.ID, State: erase.Running, Groups: 2, Held: []string{"h"}}})
	groups, err := w.ErasureGroups(w.ctx, first)
	w.ok(err)
	slices.Sort(groups)
	w.equal(groups, []string{"g", "h"})
	w.fails(w.MoveErasure(w.ctx, erase.Record{User: "alice", Erasure: erase.Erasure{ID: "p00-none"}}, erase.Progress{}), chat.ErrNotFound)
}

func testFinishErasure(w *fixture) {
	w.ok(w.Know(w.ctx, "alice"))
	w.ok(w.Know(w.ctx, "bob"))
	w.ok(w.SawUsers(w.ctx, map[string]int64{"alice": 1000, "bob": 2000}))
	r := w.erasure("alice")
	w.ok(w.MoveErasure(w.ctx, r, erase.Progress{Phase: "end", Held: []string{"g"}}))
	w.ok(w.FinishErasure(w.ctx, r, time.Hour))
	w.ok(w.FinishErasure(w.ctx, r, time.Hour))
	w.equal(w.erasureOf(r.ID).State, erase.Done)
	users, _, err := w.UsersFrom(w.ctx, "", 10)
	w.ok(err)
	w.equal(users, []string{"bob"})
	w.ok(w.SawUsers(w.ctx, map[string]int64{"alice": 3000})) // by a node that remembers them
	seen, err := w.LastSeen(w.ctx, []string{"alice", "bob"})
	w.ok(err)
	w.equal(seen, []int64{0, 2000})
	// What is held keeps the record.
	w.equal(len(w.waiting(erase.TaskForget)), 0)
	w.ok(w.ForgetErasure(w.ctx, r))
	w.ok(w.MoveErasure(w.ctx, r, erase.Progress{Free: []string{"g"}}))
	w.equal(w.erasureOf(r.ID).State, erase.Done)
	w.ok(w.FinishErasure(w.ctx, r, time.Hour))
	w.equal(len(w.waiting(erase.TaskForget)), 1)
	again := w.erasure("alice")
	if again.ID == r.ID {
		w.Error("an erasure that is done is joined")
	}
	w.ok(w.FinishErasure(w.ctx, r, time.Hour)) // late
	w.equal(w.erasure("alice").ID, again.ID)
	w.ok(w.ForgetErasure(w.ctx, again))
	w.ok(w.ForgetErasure(w.ctx, r))
	_, err = w.Erasure(w.ctx, r.ID)
	w.fails(err, chat.ErrNotFound)
	w.equal(w.erasureOf(again.ID).ID, again.ID)
}

func testErasePerson(w *fixture) {
	w.device("alice", "phone")
	for i := range 150 {
		from := fmt.Sprint("user", i)
		w.put(chat.NewItem{To: "alice", From: from, Cause: from, Key: "k", Content: "c", Rest: []byte(`"kind":"direct"}`), SentAtMs: 1, ToStrangers: true})
	}
	w.put(item("stranger", "alice", "k")) // which alice's keys count, with the name
	_, err := w.Claim(w.ctx, "alice", "key", "content")
	w.ok(err)
	steps := 0
	for more := true; more; steps++ {
		more, err = w.ErasePerson(w.ctx, "alice")
		w.ok(err)
	}
	if steps < 2 {
		w.Errorf("%d steps", steps)
	}
	keys := []string{}
	for scan := w.Client().Scan(w.ctx, 0, w.userKey("alice", "*"), 1000).Iterator(); scan.Next(w.ctx); {
		keys = append(keys, scan.Val())
	}
	w.equal(keys, []string{})
	w.equal(w.away("alice"), []string(nil))
}

func testUsersFrom(w *fixture) {
	want := []string{}
	for i := range 25 {
		want = append(want, fmt.Sprintf("user%02d", i))
	}
	for _, users := range [][]string{want, want[:3], nil} { // a repetition changes nothing
		written, err := w.KnowAll(w.ctx, users)
		w.ok(err)
		w.equal(len(written), len(users))
	}
	var got []string
	for after := ""; ; {
		users, next, err := w.UsersFrom(w.ctx, after, 10)
		w.ok(err)
		got = append(got, users...)
		if after = next; next == "" {
			break
		}
	}
	slices.Sort(got)
	w.equal(got, want)
}

func testEraseInboxes(w *fixture) {
	put := func(to, from, kind, content string) {
		w.put(chat.NewItem{To: to, From: from, Cause: from, Key: fmt.Sprint(content), Content: "c", SentAtMs: 1, ToStrangers: true,
			Rest: []byte(`"kind":"` + kind + `","from":"` + from + `","body":"` + content + `","sent_at":"2026-01-01T00:00:00.000Z"}`)})
	}
	for i := range 300 {
		put("bob", []string{"alice", "carol"}[i%2], "direct", fmt.Sprint("content ", i, ` \",\"sent_at\":\"x\"}`))
	}
	put("bob", "alice", "mention", "kept")
	put("dora", "alice", "direct", "one")
	w.put(chat.NewItem{To: "dora", From: "alice", Cause: "alice", Key: "by a program", Content: "c", SentAtMs: 1, ToStrangers: true,
		Rest: []byte(`"kind":"direct","from":"alice","data":{"sent_at":"x"},"sent_at":"2026-01-01T00:00:00.000Z","via":"k","expires_at":"2036-01-01T00:00:00.000Z"}`)})
	at := []erase.At{{Name: "bob"}, {Name: "dora"}, {Name: "nobody"}}
	r, steps := w.erasure("alice"), 0
	for len(at) > 0 {
		rest, err := w.EraseInboxes(w.ctx, r.ID, "alice", at, chat.TimeMs(5000))
		w.ok(err)
		at, steps = rest, steps+1
	}
	w.equal([]int64{w.erasureOf(r.ID).Messages, int64(steps)}, []int64{152, 2})
	w.equal(string(w.inbox("dora", chat.Position{Set: true}, 10).Items[1].JSON),
		`{"seq":2,"kind":"direct","sent_at":"2026-01-01T00:00:00.000Z","deleted_at":"1970-01-01T00:00:05.000Z"}`)
	batch := w.inbox("bob", chat.Position{Set: true}, 1000)
	w.equal(len(batch.Items), 301)
	w.equal(batch.Complete, true)
	w.equal(string(batch.Items[0].JSON), `{"seq":1,"kind":"direct","sent_at":"2026-01-01T00:00:00.000Z","deleted_at":"1970-01-01T00:00:05.000Z"}`)
	for i, item := range batch.Items[:300] {
		if has := strings.Contains(string(item.JSON), "content"); has != (i%2 == 1) || item.Mark == "" {
			w.Fatalf("item %d is %s", i, item.JSON)
		}
	}
	w.ok(second(w.EraseInboxes(w.ctx, r.ID, "alice", []erase.At{{Name: "bob"}}, chat.TimeMs(6000))))
	w.equal(w.erasureOf(r.ID).Messages, int64(152))
	w.ok(w.FinishErasure(w.ctx, r, time.Hour))
	w.ok(w.ForgetErasure(w.ctx, r))
	w.equal(w.sizes(w.tag("bob")+"erased", w.tag("dora")+"erased"), []int64{0, 0})
}

// found is what a group has of a user.
func (w *fixture) found(user, group string, from int64) erase.Found {
	w.Helper()
	found, err := w.FindAuthored(w.ctx, user, []erase.At{{Name: "none"}, {Name: group, Pos: from}})
	w.ok(err)
	if len(found) != 1 {
		w.Fatalf("got %+v", found)
	}
	return found[0]
}

func testFindAuthored(w *fixture) {
	w.group("g", []string{"bob"})
	for i := range 600 {
		w.say("g", []string{"alice", "bob"}[i%2], fmt.Sprint(i))
	}
	f := w.found("bob", "g", 1)
	w.equal([]any{f.Epoch, f.Last, f.Held, f.ArchivedFrom, f.OnHold, f.Members, f.Member, f.Traces, f.Next},
		[]any{w.info("g", "bob").Epoch, int64(602), int64(1), int64(0), false, int64(2), true, true, int64(501)})
	w.equal([]int64{f.Messages[0].ID, int64(len(f.Messages))}, []int64{4, 249})
	f = w.found("bob", "g", f.Next)
	w.equal([]int64{f.Messages[0].ID, int64(len(f.Messages)), f.Next}, []int64{502, 51, 0})
	f = w.found("dora", "g", 1)
	w.equal([]any{f.Member, f.Traces, len(f.Messages), f.Next}, []any{false, false, 0, int64(501)})
}

// deletes erases a message that alice wrote, as it reads with its edits.
func (w *fixture) deletes(group string, target int64, was ...chat.Message) erase.EntryErasure {
	w.Helper()
	e := erase.EntryErasure{Group: group, Epoch: w.found("alice", group, 1).Epoch, User: "alice", Kind: chat.Delete, Mark: mark(), SentAtMs: 5000, Target: target}
	entry := chat.Entry{Group: group, From: "alice", Content: chat.Content{Kind: chat.Delete, Target: target}, SentAt: chat.TimeMs(5000)}
	e.Rest = rest(entry)
	for _, m := range was {
		erased, err := chat.Applied(m, entry)
		w.ok(err)
		e.Changes = append(e.Changes, chat.Change{Old: m, New: erased})
	}
	return e
}

func (w *fixture) eraseEntry(e erase.EntryErasure) int64 {
	w.Helper()
	id, held, err := w.EraseEntry(w.ctx, e)
	w.ok(err)
	w.equal(held, false)
	return id
}

func testEraseEntry(w *fixture) {
	w.group("g", []string{"bob"})
	a := text("g", "alice", "secret")
	a.Mentions = []string{"bob"}
	a.Rest = rest(chat.Entry{Group: "g", From: "alice", Content: chat.Content{Kind: chat.Text, Mentions: a.Mentions, Body: new("secret")}, SentAt: chat.TimeMs(3000)})
	id := w.send(a).ID
	w.equal(w.info("g", "bob").MentionsUnread, int64(1))
	w.leave("g", "alice")
	last := w.info("g", "bob").Last
	e := w.deletes("g", id, w.entry("g", id))
	r := w.erasure("alice")
	e.Erasure = r.ID
	w.equal(w.eraseEntry(e), last+1)
	w.equal(w.erasureOf(r.ID).Messages, int64(1))
	in := w.info("g", "bob")
	w.equal([]int64{in.Last, in.Unread, in.MentionsUnread, in.Changed}, []int64{last + 1, 0, 0, last + 1})
	w.equal(in.LastMark, e.Mark)
	m := w.entry("g", id)
	w.equal(string(m.JSON), `{"id":3,"group":"g","from":"alice","kind":"text","sent_at":"1970-01-01T00:00:03.000Z","deleted_at":"1970-01-01T00:00:05.000Z"}`)
	w.equal(m.Mark, a.Mark)
	_, _, err := w.EraseEntry(w.ctx, e)
	w.fails(err, chat.ErrConflict)
	e.Epoch = "another"
	_, _, err = w.EraseEntry(w.ctx, e)
	w.fails(err, chat.ErrNotFound)
	w.equal(w.info("g", "bob").Last, last+1)
}

// edit edits a message of alice's in g, by content that says secret.
func (w *fixture) edit(id int64) {
	w.Helper()
	a, changes := revision(w, chat.Edit, "alice", id)
	_, err := w.Revise(w.ctx, a, changes, false)
	w.ok(err)
}

func testEraseChangedEntry(w *fixture) {
	w.group("g", []string{"bob"})
	id := w.say("g", "alice", "secret")
	e := w.deletes("g", id, w.entry("g", id))
	w.edit(id)
	_, _, err := w.EraseEntry(w.ctx, e)
	w.fails(err, chat.ErrConflict)
	edit := w.info("g", "bob").Last
	w.eraseEntry(w.deletes("g", id, w.entry("g", id), w.entry("g", edit)))
	for _, one := range []int64{id, edit} {
		if m := w.entry("g", one); strings.Contains(string(m.JSON), "body") || len(m.Edits) > 0 {
			w.Errorf("%d is %s, with the edits %v", one, m.JSON, m.Edits)
		}
	}
}

func testEraseReaction(w *fixture) {
	w.group("g", []string{"bob"})
	id := w.say("g", "bob", "x")
	for _, user := range []string{"alice", "bob"} {
		w.send(reaction(user, id, "+1", false))
	}
	w.leave("g", "alice")
	e := w.erasing(chat.Reaction, chat.Content{Kind: chat.Reaction, Target: id, Emoji: "+1", Removed: true}, id+1)
	count := func() int64 {
		counts, err := w.Reactions(w.ctx, "g", "bob", id, id)
		w.ok(err)
		return counts[id]["+1"].Count
	}
	w.equal(count(), int64(2))
	other := e
	other.Changes = []chat.Change{{Old: w.entry("g", id+2), New: w.entry("g", id+2)}}
	w.equal(w.eraseEntry(other), int64(0)) // it is another's
	w.equal(w.eraseEntry(e), w.info("g", "bob").Last)
	w.equal(count(), int64(1))
	if left := decode(w, w.entry("g", id+1)); left.From != "" || left.Emoji != "" || left.Target != id || left.DeletedAt == nil {
		w.Errorf("the reaction is %s", chat.Encode(left))
	}
	w.equal(w.eraseEntry(e), int64(0))
	w.equal(count(), int64(1))
	w.nowhere("g", "alice")
}

// erasing is what erases entries of alice in g, by an entry of this content.
func (w *fixture) erasing(kind chat.Kind, c chat.Content, ids ...int64) erase.EntryErasure {
	w.Helper()
	entry := chat.Entry{Group: "g", Content: c, Erased: ids, SentAt: chat.TimeMs(5000)}
	e := erase.EntryErasure{Group: "g", Epoch: w.info("g", "bob").Epoch, User: "alice", Kind: kind, Mark: mark(), SentAtMs: 5000, Target: c.Target,
		Emoji: c.Emoji, Rest: rest(entry)}
	for _, id := range ids {
		was := w.entry("g", id)
		left, err := chat.Applied(was, entry)
		w.ok(err)
		e.Changes = append(e.Changes, chat.Change{Old: was, New: left})
	}
	return e
}

// nowhere checks that nothing in a group but its notices names a user who has left.
func (w *fixture) nowhere(group, user string) {
	w.Helper()
	for _, key := range []string{"msgs", "reacted", "reactions"} {
		for _, member := range w.Client().ZRange(w.ctx, w.groupKey(group, key), 0, -1).Val() {
			if strings.Contains(member, user) && !strings.Contains(member, `"kind":"notice"`) {
				w.Errorf("%s has %s", key, member)
			}
		}
	}
}

// testEraseRest: reactions that were taken back, deletions and what was deleted lose their author; their log grows by one entry.
func testEraseRest(w *fixture) {
	w.group("g", []string{"bob"})
	id := w.say("g", "bob", "x")
	w.send(reaction("alice", id, ":a:", false))
	w.send(reaction("alice", id, ":a:", true))
	a, changes := revision(w, chat.Delete, "alice", w.say("g", "alice", "y"))
	_, err := w.Revise(w.ctx, a, changes, false)
	w.ok(err)
	w.leave("g", "alice")
	e := w.erasing("", chat.Content{Kind: chat.Delete, Target: id + 1}, id+1, id+2, id+3, id+4)
	stale := e
	stale.Changes = []chat.Change{{Old: w.entry("g", id), New: w.entry("g", id)}}
	stale.Changes[0].New.Mark = "another"
	last := w.info("g", "bob").Last
	w.equal(w.eraseEntry(e), last+1)
	in := w.info("g", "bob")
	w.equal([]int64{in.Last, in.Unread, in.Changed, in.Late}, []int64{last + 1, 0, last + 1, last + 1})
	w.nowhere("g", "alice")
	for i, want := range []string{
		`"kind":"reaction","target":3,"sent_at":"1970-01-01T00:00:06.000Z","deleted_at":"1970-01-01T00:00:05.000Z"}`,
		`"kind":"reaction","target":3,"emoji":":a:","removed":true,"sent_at":"1970-01-01T00:00:06.000Z"}`,
	} {
		n := id + 1 + int64(i)
		w.equal(string(w.entry("g", n).JSON), fmt.Sprintf(`{"id":%d,"group":"g","from":"",`, n)+want)
	}
	w.eraseEntry(stale) // the log was rolled back since it was read
	if m := w.entry("g", id); m.Mark == "another" {
		w.Errorf("another entry was erased: %s", m.JSON)
	}
}

func testEraseEditsAlone(w *fixture) {
	w.group("g", []string{"bob"}, func(g *chat.NewGroup) { g.Keep = 1 })
	id := w.say("g", "alice", "secret")
	w.edit(id)
	edit := w.info("g", "bob").Last
	was := w.entry("g", edit)
	_, _, err := w.EraseEntry(w.ctx, w.deletes("g", id, was))
	w.fails(err, chat.ErrConflict) // its target is there
	for _, user := range []string{"alice", "bob"} {
		w.ack("g", user, edit)
	}
	w.equal(w.kept("g"), []int64{edit})
	w.eraseEntry(w.deletes("g", id, was))
	if m := w.entry("g", edit); strings.Contains(string(m.JSON), "body") {
		w.Errorf("the edit is %s", m.JSON)
	}
}

func testEraseBelow(w *fixture) {
	w.archiveOn()
	w.group("g", []string{"bob"}, func(g *chat.NewGroup) { g.Keep = 1 })
	a := text("g", "alice", "secret")
	a.Mentions = []string{"bob"}
	a.Rest = rest(chat.Entry{Group: "g", From: "alice", Content: chat.Content{Kind: chat.Text, Mentions: a.Mentions, Body: new("secret")}, SentAt: chat.TimeMs(3000)})
	id := w.send(a).ID
	w.say("g", "alice", "x")
	was := w.entry("g", id)
	for _, user := range []string{"alice", "bob"} {
		w.ack("g", user, id+1)
	}
	w.archiveAll("g")
	w.equal(w.kept("g"), []int64{id + 1})
	e := w.deletes("g", id, was)
	e.Below, e.Late = true, 9
	_, _, err := w.EraseEntry(w.ctx, e)
	w.fails(err, chat.ErrConflict)
	e.Late = 0
	w.equal(w.info("g", "bob").MentionsUnread, int64(1))
	w.equal(w.eraseEntry(e), id+2)
	in := w.info("g", "bob")
	w.equal([]int64{in.Late, in.Changed, in.Unread, in.MentionsUnread}, []int64{id + 2, id + 2, 1, 0})
	_, _, err = w.EraseEntry(w.ctx, e)
	w.fails(err, chat.ErrConflict)
}

func testEraseEntryTrims(w *fixture) {
	w.group("g", nil, func(g *chat.NewGroup) { g.Keep = 1 })
	for range 62 {
		w.say("g", "alice", "x")
	}
	id := w.info("g", "alice").Last
	w.ack("g", "alice", id)
	w.eraseEntry(w.deletes("g", id, w.entry("g", id)))
	w.equal(w.kept("g"), []int64{id + 1})
}

// testBannedTraces: of somebody who is only banned in a group, why is a trace, and the ban none.
func testBannedTraces(w *fixture) {
	w.group("g", nil)
	traces := func() bool {
		found, err := w.FindAuthored(w.ctx, "bob", []erase.At{{Name: "g", Pos: 1}})
		w.ok(err)
		return found[0].Traces
	}
	w.ban("g", "bob", rules.Ban{})
	w.equal(traces(), false)
	w.ban("g", "bob", rules.Ban{Reason: "spam"})
	w.equal(traces(), true)
	w.ok(w.DropTraces(w.ctx, "g", "bob"))
	w.equal(traces(), false)
	bans, _, err := w.Bans(w.ctx, chat.Caller{User: "alice"}, "g", "", 10)
	w.ok(err)
	w.equal([]string{bans[0].User, bans[0].Reason}, []string{"bob", ""})
}

// testBannerTraces: somebody who has banned others leaves no name there, and the bans hold as before.
func testBannerTraces(w *fixture) {
	w.group("g", nil)
	root := chat.Caller{User: "root", Admin: true}
	traces := func() bool {
		found, err := w.FindAuthored(w.ctx, root.User, []erase.At{{Name: "g", Pos: 1}})
		w.ok(err)
		return found[0].Traces
	}
	w.equal(traces(), false)
	for user, reason := range map[string]string{"bob": "spam  twice", "carol": ""} {
		m := membership("g", user, "alice", "")
		m.By = root
		_, _, _, err := w.Ban(w.ctx, m, rules.Ban{Reason: reason}, 0, noticeEntry("g", "root", chat.NoticeBanned, user))
		w.ok(err)
	}
	w.equal(traces(), true)
	w.ok(w.DropTraces(w.ctx, "g", "root"))
	w.ok(w.DropTraces(w.ctx, "g", "root"))
	w.equal(traces(), false)
	list := func() []rules.Ban {
		bans, _, err := w.Bans(w.ctx, root, "g", "", 10)
		w.ok(err)
		slices.SortFunc(bans, func(a, b rules.Ban) int { return strings.Compare(b.User, a.User) })
		for i := range bans {
			bans[i].At = chat.Time{}
		}
		return bans
	}
	w.equal(list(), []rules.Ban{{User: "carol"}, {User: "bob", Reason: "spam  twice"}})
	w.ok(w.DropTraces(w.ctx, "g", "bob")) // of which nobody is known who made it
	w.equal(list(), []rules.Ban{{User: "carol"}, {User: "bob"}})
}

func testDropTraces(w *fixture) {
	w.group("g", []string{"bob"})
	a := text("g", "alice", "x")
	a.Key, a.Content = "k", "c"
	w.send(a)
	w.ok(w.DropTraces(w.ctx, "g", "alice"))
	w.equal(w.sizes(w.groupKey("g", "sent:alice"), w.groupKey("g", "by:alice")), []int64{0, 1})
	w.leave("g", "alice")
	w.ok(w.DropTraces(w.ctx, "g", "alice"))
	w.equal(w.sizes(w.groupKey("g", "sent:alice"), w.groupKey("g", "by:alice"), w.groupKey("g", "senders")), []int64{0, 0, 0})
	w.equal(w.found("alice", "g", 1).Traces, false)
}

// hold puts a group under a legal hold.
func (w *fixture) hold(group string) {
	w.Helper()
	_, err := w.PutHold(w.ctx, operator, group, chat.Hold{Reason: "a reason", By: "root", Since: chat.TimeMs(1)})
	w.ok(err)
}

func testHoldErasure(w *fixture) {
	w.group("g", []string{"bob"})
	epoch := w.info("g", "bob").Epoch
	wait := func(epoch string) (waits bool, list []erase.Waiting) {
		w.Helper()
		waits, err := w.HoldErasure(w.ctx, "p00-e", "g", epoch, "alice")
		w.ok(err)
		list, err = w.WaitingErasures(w.ctx, "g")
		w.ok(err)
		return waits, list
	}
	waits, list := wait(epoch)
	w.equal([]any{waits, len(list)}, []any{false, 0})
	w.hold("g")
	w.equal(w.found("alice", "g", 1).OnHold, true)
	want := []erase.Waiting{{Erasure: "p00-e", User: "alice", Epoch: epoch, Last: 2}}
	waits, list = wait(epoch)
	w.equal([]any{waits, list}, []any{true, want})
	w.say("g", "bob", "x")
	_, list = wait(epoch)
	w.equal(list, want)
	w.equal(len(w.takeTasks(erase.TaskHeld)), 0)
	released, err := w.ReleaseHold(w.ctx, operator, "g")
	w.ok(err)
	w.equal([]any{released, len(w.takeTasks(erase.TaskHeld))}, []any{true, 1})
	waits, list = wait("another")
	w.equal([]any{waits, len(list)}, []any{false, 0})
}

func testEraseUnderHold(w *fixture) {
	w.group("g", []string{"bob"})
	id := w.say("g", "alice", "kept")
	e := w.deletes("g", id, w.entry("g", id))
	w.hold("g")
	got, held, err := w.EraseEntry(w.ctx, e)
	w.ok(err)
	w.equal([]any{got, held, w.info("g", "bob").Last}, []any{int64(0), true, id})
}
