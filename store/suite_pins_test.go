package store_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/files"
	"github.com/chatd/chatd/chat/pins"
)

// pinning is a pin of a message as it reads now.
func (w *fixture) pinning(by chat.Caller, group string, id int64) pins.Put {
	w.Helper()
	was := w.entry(group, id)
	e := decode(w, was)
	return pins.Put{By: by, Group: group, Was: was, Author: e.From, SentAtMs: e.SentAt.UnixMilli(), AtMs: 7000, Notice: pinNotice(by.User, group, chat.NoticePinned, id)}
}

func pinNotice(by, group, what string, target int64) chat.NoticeEntry {
	e := chat.Entry{Group: group, From: by, Content: chat.Content{Kind: chat.Notice, Target: target}, SentAt: chat.TimeMs(7000), Notice: what}
	return chat.NoticeEntry{Mark: mark(), Rest: rest(e)}
}

func (w *fixture) pin(by, group string, id int64) {
	w.Helper()
	w.ok(w.PutPin(w.ctx, w.pinning(chat.Caller{User: by}, group, id)))
}

func (w *fixture) unpin(by chat.Caller, group string, id int64) error {
	return w.DropPin(w.ctx, by, group, id, 7000, pinNotice(by.User, group, chat.NoticeUnpinned, id))
}

// pinned are the pins of a group as a member sees them.
func (w *fixture) pinned(group, user string) []pins.Pin {
	w.Helper()
	list, next, err := w.PinPage(w.ctx, group, user, "", 100, 1<<20)
	w.ok(err)
	w.equal(next, "")
	return list
}

func (w *fixture) pinnedIDs(group, user string) (ids []int64) {
	w.Helper()
	for _, p := range w.pinned(group, user) {
		ids = append(ids, p.Message.ID)
	}
	return ids
}

// noPins checks that a group has nothing of pins at all.
func (w *fixture) noPins(group string) {
	w.Helper()
	left, err := w.Client().Exists(w.ctx, w.groupKey(group, "pins"), w.groupKey(group, "pinned")).Result()
	w.ok(err)
	w.equal([]any{left, w.Client().HExists(w.ctx, w.groupKey(group, "meta"), "pinned").Val()}, []any{int64(0), false})
}

// trims has all members see everything.
func (w *fixture) trims(group string, members ...string) {
	w.Helper()
	for _, user := range members {
		w.ack(group, user, w.info(group, user).Last)
	}
}

var pinTests = map[string]func(*fixture){
	"the newest pin first": func(w *fixture) {
		w.group("g", []string{"bob"})
		one, two := w.say("g", "bob", "x"), w.say("g", "alice", "y")
		w.noPins("g")
		last := w.info("g", "alice").Last
		w.pin("alice", "g", two)
		w.pin("alice", "g", one)
		w.pin("alice", "g", two) // again: no second notice
		w.equal(w.info("g", "alice").Last, last+2)
		w.equal(string(w.entry("g", last+1).JSON), fmt.Sprintf(`{"id":%d,"group":"g","from":"alice","kind":"notice","target":%d,"sent_at":"1970-01-01T00:00:07.000Z","notice":"pinned"}`, last+1, two))
		w.equal(w.info("g", "bob").Unread, int64(1)) // notices are no messages
		w.equal(w.pinned("g", "bob"), []pins.Pin{
			{Message: chat.MessageView{Message: w.entry("g", one)}, By: "alice", At: chat.TimeMs(7000)},
			{Message: chat.MessageView{Message: w.entry("g", two)}, By: "alice", At: chat.TimeMs(7000)},
		})
		for _, bounds := range [][2]int{{1, 1 << 20}, {10, 1}} { // by number, and by bytes
			var ids []int64
			for after := ""; ; {
				list, next, err := w.PinPage(w.ctx, "g", "bob", after, bounds[0], bounds[1])
				w.ok(err)
				w.equal(len(list), 1)
				ids = append(ids, list[0].Message.ID)
				if after = next; next == "" {
					break
				}
			}
			w.equal(ids, []int64{one, two})
		}
		m, err := w.Pinned(w.ctx, "g", two)
		w.ok(err)
		w.equal(m, w.entry("g", two))

		alice := chat.Caller{User: "alice"}
		last = w.info("g", "alice").Last
		for range 2 {
			w.ok(w.unpin(alice, "g", one))
		}
		w.equal(w.info("g", "alice").Last, last+1)
		w.equal(decode(w, w.entry("g", last+1)).Notice, "unpinned")
		w.equal(w.pinnedIDs("g", "bob"), []int64{two})
		w.ok(w.unpin(alice, "g", two))
		w.noPins("g")
		_, err = w.Pinned(w.ctx, "g", two)
		w.fails(err, chat.ErrNotFound)
	},
	"who may pin": func(w *fixture) {
		w.group("g", []string{"ann", "bob", "muted"})
		id := w.say("g", "bob", "x")
		_, _, err := w.SetRole(w.ctx, membership("g", "ann", "alice", chat.Admin))
		w.ok(err)
		both := func(user string, want error) {
			w.Helper()
			by := chat.Caller{User: user, Admin: user == operator.User}
			if err := w.PutPin(w.ctx, w.pinning(by, "g", id)); want != nil {
				w.fails(err, want)
				w.fails(w.unpin(by, "g", id), want)
				return
			}
			w.ok(w.PutPin(w.ctx, w.pinning(by, "g", id)))
			w.equal(w.pinned("g", "bob")[0].By, user)
			w.ok(w.unpin(by, "g", id))
			w.noPins("g")
		}
		set := func(change chat.GroupChange) {
			w.Helper()
			w.ok(w.UpdateGroup(w.ctx, operator, "g", nil, change, nil, 1))
		}
		for user, want := range map[string]error{"alice": nil, "ann": nil, "root": nil, "bob": chat.ErrManagersOnly, "eve": chat.ErrNotFound} {
			both(user, want)
		}
		w.equal(w.info("g", "bob").Pins, chat.PinManagers)
		set(chat.GroupChange{Pins: new(chat.PinMembers)})
		w.equal(w.info("g", "bob").Pins, chat.PinMembers)
		w.ok(second(w.Mute(w.ctx, membership("g", "muted", "alice", ""), w.now()+time.Hour.Milliseconds())))
		both("bob", nil)
		both("muted", &chat.Error{Code: chat.CodeMuted})
		both("eve", chat.ErrNotFound)
		set(chat.GroupChange{Post: new(chat.PostAdmins)})
		both("bob", chat.ErrPostersOnly)
		set(chat.GroupChange{Post: new(chat.PostNone)})
		both("bob", chat.ErrNobodyPosts)
		both("ann", nil)
		set(chat.GroupChange{Post: new(chat.PostMembers), Pins: new(chat.PinManagers)})
		both("bob", chat.ErrManagersOnly)
		w.leave("g", "ann")
		both("ann", chat.ErrNotFound)

		w.group("p", []string{"bob"}, public)
		said := w.say("p", "alice", "x")
		w.fails(w.PutPin(w.ctx, w.pinning(chat.Caller{User: "eve"}, "p", said)), chat.ErrMembersOnly)
		_, _, err = w.PinPage(w.ctx, "p", "eve", "", 10, 1<<20)
		w.fails(err, chat.ErrMembersOnly)
		for _, group := range []string{"g", "none"} {
			_, _, err = w.PinPage(w.ctx, group, "eve", "", 10, 1<<20)
			w.fails(err, chat.ErrNotFound)
		}
		w.fails(w.unpin(operator, "none", 1), chat.ErrNotFound)
	},
	"both of a direct group": func(w *fixture) {
		w.group("d", []string{"bob"}, directGroup)
		id := w.say("d", "alice", "x")
		w.equal(w.info("d", "bob").Pins, chat.PinMembers)
		w.pin("bob", "d", id)
		w.pin("alice", "d", w.say("d", "bob", "y"))
		w.equal(w.pinnedIDs("d", "alice"), []int64{w.info("d", "alice").Last - 1, id})
		w.blocks("alice", "bob", true)
		w.ok(w.UpdateGroup(w.ctx, operator, "d", nil, chat.GroupChange{Pins: new(chat.PinManagers)}, nil, 1))
		w.fails(w.unpin(chat.Caller{User: "alice"}, "d", id), chat.ErrManagersOnly)
	},
	"what has changed is read again": func(w *fixture) {
		w.group("g", []string{"bob"})
		edited, deleted := w.say("g", "bob", "x"), w.say("g", "bob", "y")
		alice := chat.Caller{User: "alice"}
		before := []pins.Put{w.pinning(alice, "g", edited), w.pinning(alice, "g", deleted)}
		for kind, id := range map[chat.Kind]int64{chat.Edit: edited, chat.Delete: deleted} {
			a, changes := revision(w, kind, "bob", id)
			w.ok(second(w.Revise(w.ctx, a, changes, false)))
		}
		below := w.pinning(alice, "g", edited)
		below.Below = &chat.Below{Epoch: w.info("g", "bob").Epoch} // it is not in the archive
		for _, p := range append(before, below) {
			w.fails(w.PutPin(w.ctx, p), chat.ErrConflict)
		}
		w.noPins("g")
	},
	"a message of the archive": func(w *fixture) {
		w.archiveOn()
		w.group("g", []string{"bob"}, keep(0))
		id := w.say("g", "bob", "x")
		p := w.pinning(chat.Caller{User: "alice"}, "g", id)
		w.archiveAll("g")
		w.trims("g", "alice", "bob")
		w.equal(len(w.kept("g")), 0)
		p.Below = &chat.Below{Epoch: w.info("g", "bob").Epoch, Late: 9}
		w.fails(w.PutPin(w.ctx, p), chat.ErrConflict)
		p.Below.Late = 0
		w.ok(w.PutPin(w.ctx, p))
		w.equal(w.pinned("g", "bob")[0].Message.Message, p.Was)
	},
	"the maximum": func(w *fixture) {
		w.with(func(l *chat.Limits) { l.GroupPinsMax = 2 })
		w.group("g", nil)
		last := w.says("g", "alice", 3)
		w.pin("alice", "g", last)
		w.pin("alice", "g", last-1)
		err := w.PutPin(w.ctx, w.pinning(chat.Caller{User: "alice"}, "g", last-2))
		w.fails(err, &chat.Error{Code: chat.CodeConflict})
		w.equal(strings.Contains(err.Error(), "unpin some"), true)
		w.pin("alice", "g", last)
		w.ok(w.unpin(chat.Caller{User: "alice"}, "g", last))
		w.pin("alice", "g", last-2)
	},
	"whole where the log is trimmed": func(w *fixture) {
		w.group("g", []string{"bob"}, keep(0))
		id, other := w.say("g", "bob", "x"), w.say("g", "bob", "y")
		w.send(reaction("alice", id, ":a:", false))
		w.pin("alice", "g", id)
		was := w.entry("g", id)
		w.equal(w.pinned("g", "alice")[0].Message, chat.MessageView{Message: was, Reactions: map[string]chat.ReactionCount{":a:": {Count: 1, Mine: true}}})
		w.equal(w.pinned("g", "bob")[0].Message.Reactions, map[string]chat.ReactionCount{":a:": {Count: 1}})
		w.trims("g", "alice", "bob")
		w.equal(len(w.kept("g")), 0)
		w.equal(w.pinned("g", "bob")[0].Message, chat.MessageView{Message: was})
		w.ok(w.PutPin(w.ctx, pins.Put{By: chat.Caller{User: "alice"}, Group: "g", Was: was, Notice: pinNotice("alice", "g", chat.NoticePinned, id)})) // again
		w.fails(w.PutPin(w.ctx, pins.Put{By: chat.Caller{User: "alice"}, Group: "g", Was: chat.Message{ID: other}, Notice: pinNotice("alice", "g", chat.NoticePinned, other)}), chat.ErrConflict)
	},
	"it reads as its message": func(w *fixture) {
		w.group("g", []string{"bob"}, keep(0))
		id := w.say("g", "bob", "x")
		w.pin("alice", "g", id)
		a, changes := revision(w, chat.Edit, "bob", id)
		w.ok(second(w.Revise(w.ctx, a, changes, false)))
		w.equal(w.pinned("g", "bob")[0].Message.Message, w.entry("g", id))
		w.equal(decode(w, w.entry("g", id)).Body, new("changed"))
		a, changes = revision(w, chat.Delete, "bob", id)
		w.ok(second(w.Revise(w.ctx, a, changes, false)))
		left := w.pinned("g", "bob")[0].Message.Message
		w.equal(left, w.entry("g", id))
		w.equal(strings.Contains(string(left.JSON), "body"), false)
		w.fails(w.PutPin(w.ctx, w.pinning(chat.Caller{User: "alice"}, "g", id)), chat.ErrNotFound)
		w.ok(w.unpin(chat.Caller{User: "alice"}, "g", id))
		w.noPins("g")
	},
	"edited and deleted where the log is trimmed": func(w *fixture) {
		w.group("g", []string{"bob"}, keep(0))
		id, other := w.say("g", "bob", "x"), w.say("g", "bob", "y")
		w.pin("alice", "g", id)
		edit, edited := revision(w, chat.Edit, "bob", id)
		del, deleted := revision(w, chat.Delete, "bob", id)
		gone, lost := revision(w, chat.Delete, "bob", other)
		w.trims("g", "alice", "bob")
		w.ok(second(w.Revise(w.ctx, edit, edited, false)))
		m := w.pinned("g", "bob")[0].Message.Message
		w.equal([]any{decode(w, m).Body, m.Edits}, []any{new("changed"), []int64{w.info("g", "bob").Last}})
		_, err := w.Revise(w.ctx, del, deleted, false)
		w.fails(err, chat.ErrConflict) // it was edited since
		deleted[0].Old = m
		w.ok(second(w.Revise(w.ctx, del, deleted, false)))
		m = w.pinned("g", "bob")[0].Message.Message
		w.equal([]any{string(m.JSON), len(m.Edits)}, []any{string(deleted[0].New.JSON), 0})
		_, err = w.Revise(w.ctx, del, deleted, false)
		w.fails(err, chat.ErrNotFound) // it is deleted
		_, err = w.Revise(w.ctx, gone, lost, false)
		w.fails(err, chat.ErrNotFound) // nothing has it
	},
	"its files stay where the log is trimmed": func(w *fixture) {
		w.group("g", []string{"bob"}, keep(0))
		ids := map[string]int64{}
		for _, name := range []string{"KEPT", "DELETED", "OTHER"} {
			w.whole(name)
			ids[name] = w.send(w.naming("alice", name)).ID
		}
		w.pin("alice", "g", ids["KEPT"])
		w.pin("alice", "g", ids["DELETED"])
		deletion, deleted := revision(w, chat.Delete, "alice", ids["DELETED"])
		trim := func() {
			w.trims("g", "alice", "bob")
			for range 2 {
				w.expireFiles()
			}
		}
		trim()
		w.equal(len(w.kept("g")), 0)
		w.removedFiles(w.f("OTHER"))
		for _, name := range []string{"KEPT", "DELETED"} {
			w.ok(second(w.ReadFile(w.ctx, "g", "bob", w.f(name))))
			w.fails(w.RemoveFile(w.ctx, "g", "alice", w.f(name)), files.ErrUsed)
			w.ok(w.DropFile(w.ctx, "g", "alice", w.f(name)))
		}
		w.send(w.naming("alice", "KEPT")) // once more, and trimmed as well
		trim()
		w.ok(second(w.ReadFile(w.ctx, "g", "bob", w.f("KEPT"))))

		w.ok(w.unpin(chat.Caller{User: "alice"}, "g", ids["KEPT"]))
		w.ok(second(w.Revise(w.ctx, deletion, deleted, false)))
		for _, name := range []string{"KEPT", "DELETED"} {
			w.fails(second(w.ReadFile(w.ctx, "g", "bob", w.f(name))), chat.ErrNotFound)
			w.poke("ZADD", w.groupKey("g", "files:unused"), "XX", 1, w.f(name)) // the time has come
		}
		w.expireFiles()
		w.removedFiles(w.f("KEPT"), w.f("DELETED"))
	},
	"hidden from who joined later": func(w *fixture) {
		w.group("g", []string{"bob"}, noHistory)
		id := w.say("g", "bob", "x")
		w.pin("alice", "g", id)
		w.join("g", "late", "alice")
		w.equal([][]int64{w.pinnedIDs("g", "late"), w.pinnedIDs("g", "bob")}, [][]int64{nil, {id}})
		w.ok(w.unpin(chat.Caller{User: "alice"}, "g", id))
		_, _, err := w.SetRole(w.ctx, membership("g", "late", "alice", chat.Admin))
		w.ok(err)
		w.fails(w.PutPin(w.ctx, w.pinning(chat.Caller{User: "late"}, "g", id)), chat.ErrNotFound)
		later := w.say("g", "bob", "y")
		w.pin("late", "g", later)
		w.equal(w.pinnedIDs("g", "late"), []int64{later})
	},
	"a group takes them with it": func(w *fixture) {
		w.group("g", nil)
		w.group("h", nil)
		for _, group := range []string{"g", "h"} {
			w.pin("alice", group, w.say(group, "alice", "x"))
		}
		w.ok(w.DeleteGroup(w.ctx, chat.Caller{User: "alice"}, "g", nil))
		w.leave("h", "alice") // the last one
		w.noPins("g")
		w.noPins("h")
	},
	"who pinned is erased": func(w *fixture) {
		w.group("g", []string{"bob", "carl"})
		id := w.say("g", "carl", "x")
		w.equal(w.found(operator.User, "g", 1).Traces, false)
		w.ok(w.PutPin(w.ctx, w.pinning(operator, "g", id)))
		w.equal(w.found(operator.User, "g", 1).Traces, true)
		w.ok(w.DropTraces(w.ctx, "g", operator.User))
		w.equal(w.found(operator.User, "g", 1).Traces, false)
		p := w.pinned("g", "bob")[0]
		w.equal([]any{p.Message.Message, p.By, p.At}, []any{w.entry("g", id), "", chat.TimeMs(7000)})
	},
	"an author is erased": func(w *fixture) {
		w.group("g", []string{"bob"}, keep(0))
		stored, trimmed, deleted := w.say("g", "alice", "one"), w.say("g", "alice", "two"), w.say("g", "alice", "three")
		ids := []int64{stored, trimmed, deleted}
		for _, id := range ids {
			w.pin("alice", "g", id)
		}
		a, changes := revision(w, chat.Delete, "alice", deleted)
		w.ok(second(w.Revise(w.ctx, a, changes, false)))
		rest := w.erasing("", chat.Content{Kind: chat.Delete, Target: deleted}, deleted)
		w.eraseEntry(w.deletes("g", stored, w.entry("g", stored)))
		w.equal(w.pinned("g", "bob")[2].Message.Message, w.entry("g", stored))
		w.trims("g", "alice", "bob")
		w.leave("g", "alice")
		w.trims("g", "bob")

		mine, err := w.PinsOf(w.ctx, "g", "alice")
		w.ok(err)
		slices.SortFunc(mine, func(a, b chat.Message) int { return int(a.ID - b.ID) })
		w.equal(len(mine), 2) // the first one names nobody any longer
		w.equal([]int64{mine[0].ID, mine[1].ID}, []int64{trimmed, deleted})
		e := w.deletes("g", trimmed, mine[0])
		w.eraseEntry(e)
		_, _, err = w.EraseEntry(w.ctx, e)
		w.fails(err, chat.ErrConflict)
		w.eraseEntry(rest)
		for i, p := range w.pinned("g", "bob") {
			w.equal([]any{p.Message.ID, strings.Contains(string(p.Message.JSON), "body")}, []any{ids[2-i], false})
		}
		w.equal(strings.Contains(string(w.pinned("g", "bob")[0].Message.JSON), `"from":""`), true)
		w.ok(w.DropTraces(w.ctx, "g", "alice"))
		w.equal(w.found("alice", "g", 1).Traces, false)
		mine, err = w.PinsOf(w.ctx, "g", "alice")
		w.ok(err)
		w.equal(mine, []chat.Message(nil))
	},
	"an author is erased in the archive": func(w *fixture) {
		w.archiveOn()
		w.group("g", []string{"bob"}, keep(0))
		id := w.say("g", "alice", "secret")
		was := w.entry("g", id)
		w.pin("alice", "g", id)
		w.archiveAll("g")
		w.trims("g", "alice", "bob")
		w.equal(len(w.kept("g")), 0)
		e := w.deletes("g", id, was)
		e.Below = true
		w.eraseEntry(e)
		w.equal(string(w.pinned("g", "bob")[0].Message.JSON), string(e.Changes[0].New.JSON))
		w.equal(w.found("alice", "g", 1).Traces, true) // she pinned it
		w.ok(w.DropTraces(w.ctx, "g", "alice"))
		w.equal(w.pinned("g", "bob")[0].By, "")
	},
	"they get too old": func(w *fixture) {
		w.group("g", []string{"bob"}, retain(1))
		old, young := w.say("g", "bob", "x"), w.say("g", "bob", "y")
		for id, sentMs := range map[int64]int64{old: w.now() - 25*time.Hour.Milliseconds(), young: w.now() - 23*time.Hour.Milliseconds()} {
			p := w.pinning(chat.Caller{User: "alice"}, "g", id)
			p.SentAtMs = sentMs
			w.ok(w.PutPin(w.ctx, p))
		}
		a := w.aging("g")
		w.equal(a.Pins, true)
		_, err := w.ExpirePins(w.ctx, "g", a.Epoch, 2)
		w.fails(err, chat.ErrConflict)
		_, err = w.ExpirePins(w.ctx, "g", "another", 1)
		w.fails(err, chat.ErrNotFound)
		w.hold("g")
		_, err = w.ExpirePins(w.ctx, "g", a.Epoch, 1)
		w.equal(chat.IsHeld(err), true)
		w.ok(second(w.ReleaseHold(w.ctx, operator, "g")))
		oldest, err := w.ExpirePins(w.ctx, "g", a.Epoch, 1)
		w.ok(err)
		w.equal(w.pinnedIDs("g", "bob"), []int64{young})
		fields := strings.Fields(w.Client().HGet(w.ctx, w.groupKey("g", "pins"), strconv.FormatInt(young, 10)).Val())
		w.equal(strconv.FormatInt(oldest.UnixMilli(), 10), fields[2])
		w.ok(w.unpin(operator, "g", young))
		w.equal(w.aging("g").Pins, false)
		oldest, err = w.ExpirePins(w.ctx, "g", a.Epoch, 1)
		w.ok(err)
		w.equal(oldest.IsZero(), true)
	},
	"races": func(w *fixture) {
		w.with(func(l *chat.Limits) { l.GroupPinsMax = 5 })
		w.group("g", []string{"bob"})
		last := w.says("g", "bob", 12)
		w.together(24, func(i int) error { // each twice, of which 5 have room
			err := w.PutPin(w.ctx, w.pinning(chat.Caller{User: "alice"}, "g", last-int64(i/2)))
			if chat.CodeOf(err) == chat.CodeConflict {
				return nil
			}
			return err
		})
		pinned := w.pinnedIDs("g", "bob")
		w.equal([]int64{int64(len(pinned)), w.info("g", "bob").Last}, []int64{5, last + 5})
		target := pinned[0]
		a, changes := revision(w, chat.Delete, "bob", target)
		w.together(4, func(i int) (err error) { // a deletion wins whatever comes beside it
			switch p := w.pinning(chat.Caller{User: "alice"}, "g", target); i {
			case 0:
				_, err = w.Revise(w.ctx, a, changes, false)
			case 1:
				err = w.unpin(chat.Caller{User: "alice"}, "g", target)
			default:
				err = w.PutPin(w.ctx, p)
			}
			if chat.CodeOf(err) == chat.CodeConflict || chat.CodeOf(err) == chat.CodeNotFound {
				return nil
			}
			return err
		})
		for _, p := range w.pinned("g", "bob") {
			if p.Message.ID == target && strings.Contains(string(p.Message.JSON), "body") {
				w.Errorf("a deleted message is pinned as %s", p.Message.JSON)
			}
		}
	},
}
