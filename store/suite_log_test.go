package store_test

import (
	"fmt"
	"time"

	"github.com/chatd/chatd/chat"
)

// pruneEvery is how many ids come into a set that is only counted until the old ones in it are looked for.
const pruneEvery = 64

var logTests = map[string]func(*fixture){
	"append": func(w *fixture) {
		w.group("g", []string{"bob"})
		w.ack("g", "alice", 2)
		a := text("g", "alice", `quotes " and \ and ü and 😀`)
		done := w.send(a)
		w.equal(done, chat.Appended{ID: 3, Epoch: w.info("g", "bob").Epoch, Mark: a.Mark, SentAtMs: 3000})
		m := w.entry("g", 3)
		w.equal(m.Mark, a.Mark)
		w.equal(string(m.JSON), `{"id":3,`+string(a.Rest))
		in := w.info("g", "alice")
		w.equal([]int64{in.Seen, in.Read, in.Unread, in.NewestID, in.ActiveMs}, []int64{3, 0, 0, 3, 3000})
		w.equal(in.LastMark, a.Mark)
		in = w.info("g", "bob")
		w.equal([]int64{in.Seen, in.Read, in.Unread}, []int64{0, 0, 1})
		// Who has read to the end stays at the end by sending.
		w.markRead("g", "bob", 3)
		w.say("g", "bob", "yes")
		in = w.info("g", "bob")
		w.equal([]int64{in.Seen, in.Read, in.Unread}, []int64{4, 4, 0})
	},
	"append refused": func(w *fixture) {
		w.group("g", []string{"bob"}, func(g *chat.NewGroup) { g.Post = chat.PostAdmins })
		w.group("p", nil, public)
		for _, c := range []struct {
			a    chat.Append
			want error
		}{
			{text("none", "alice", "x"), chat.ErrNotFound}, {text("g", "dora", "x"), chat.ErrNotFound},
			{text("p", "dora", "x"), chat.ErrForbidden}, {text("g", "bob", "x"), chat.ErrForbidden},
		} {
			_, err := w.Append(w.ctx, c.a)
			w.fails(err, c.want)
		}
		a := text("g", "alice", "x")
		a.ReplyTo = 3
		_, err := w.Append(w.ctx, a)
		w.fails(err, chat.ErrOutOfRange)
		w.equal(w.info("g", "alice").Last, int64(2))
		a.ReplyTo = 2
		w.equal(w.send(a).ID, int64(3))
	},
	"append looked at": func(w *fixture) {
		w.group("g", []string{"bob"})
		a := text("g", "alice", "x")
		a.Key, a.Content, a.ReplyTo, a.Look = "k", "c", 1, true
		done, err := w.Append(w.ctx, a)
		w.ok(err)
		if done.Epoch == "" {
			w.Errorf("a look names no epoch")
		}
		w.equal(done, chat.Appended{Epoch: done.Epoch})
		a.Look = false
		first := w.send(a)
		a.Look = true
		done, err = w.Append(w.ctx, a)
		w.ok(err)
		w.equal([]any{done.ID, done.Mark, done.Duplicate}, []any{first.ID, first.Mark, true})
		a.Content = "other"
		_, err = w.Append(w.ctx, a)
		w.fails(err, chat.ErrKeyReused)
		a.From = "dora"
		_, err = w.Append(w.ctx, a)
		w.fails(err, chat.ErrNotFound)
		a.From, a.Key, a.ReplyTo = "alice", "", 9
		_, err = w.Append(w.ctx, a)
		w.fails(err, chat.ErrOutOfRange)
		w.equal(w.info("g", "alice").Last, first.ID)
	},
	"append many": func(w *fixture) {
		// More groups than a cluster has masters, one with more messages than a script call takes; some messages are refused.
		var list []chat.Append
		want := map[string][]string{}
		for g := range 8 {
			group := fmt.Sprint("g", g)
			w.group(group, []string{"bob"})
			w.ack(group, "alice", 2)
			for i := range 5 + 20*g {
				a := text(group, []string{"alice", "alice", "bob"}[i%3], fmt.Sprint(i))
				a.Key, a.Content = fmt.Sprint("key ", i), "content"
				list, want[group] = append(list, a), append(want[group], string(a.Rest))
			}
			list = append(list, text(group, "dora", "x"), text("none", "alice", "x"))
		}
		first := w.AppendAll(w.ctx, list)
		again := w.AppendAll(w.ctx, list)
		got := map[string][]string{}
		for i, a := range list {
			if a.Key == "" {
				w.fails(first[i].Err, chat.ErrNotFound)
				continue
			}
			w.ok(first[i].Err)
			w.ok(again[i].Err)
			w.equal(first[i].ID, int64(3+len(got[a.Group])))
			w.equal([]any{again[i].ID, again[i].Duplicate, first[i].Duplicate}, []any{first[i].ID, true, false})
			got[a.Group] = append(got[a.Group], string(w.entry(a.Group, first[i].ID).JSON[len(fmt.Sprintf(`{"id":%d,`, first[i].ID)):]))
		}
		w.equal(got, want)
		in := w.info("g7", "alice")
		w.equal([]int64{in.Last, in.Seen, in.Unread}, []int64{147, 4, 48})
		w.equal(w.info("g7", "bob").Unread, int64(97))
	},
	"append with a key": func(w *fixture) {
		w.group("g", []string{"bob"})
		a := text("g", "alice", "x")
		a.Key, a.Content = "key 1", "content"
		first := w.send(a)
		second := a
		second.Mark, second.SentAtMs = mark(), 9999
		again := w.send(second)
		first.Duplicate = true
		w.equal(again, first)
		second.Content = "other"
		_, err := w.Append(w.ctx, second)
		w.fails(err, chat.ErrKeyReused)
		byBob := text("g", "bob", "x")
		byBob.Key, byBob.Content = "key 1", "other"
		w.equal(w.send(byBob).Duplicate, false)
		w.equal(w.info("g", "alice").Last, int64(4))
	},
	"the newest keys are kept": func(w *fixture) {
		// So many that Redis no longer hands them out in the order in which they came.
		const kept, over = 200, 512 // the older ones go once there are so many more
		w.with(func(l *chat.Limits) { l.KeysMax = kept })
		w.group("g", nil)
		keyed := func(i int) chat.Append {
			a := text("g", "alice", "x")
			a.Key, a.Content = fmt.Sprintf("k%d", i), "c"
			a.Mark = "A" + a.Mark[1:] // one message of 64 drops the oldest keys: any of these
			return a
		}
		for i := range kept + over {
			w.equal(w.send(keyed(i)).Duplicate, false)
		}
		w.equal(w.send(keyed(0)).Duplicate, true)
		w.equal(w.send(keyed(kept+over)).Duplicate, false)
		for i := range kept {
			w.equal(w.send(keyed(over+1+i)).Duplicate, true)
		}
		w.equal(w.send(keyed(over)).Duplicate, false)
	},
	"mentions": func(w *fixture) {
		w.group("g", []string{"bob", "carl"})
		w.send(mentioning("g", "alice", "bob", "dora", "alice"))
		w.say("g", "alice", "x")
		w.equal(w.info("g", "bob").MentionsUnread, int64(1))
		w.equal(w.info("g", "carl").MentionsUnread, int64(0))
		w.equal(w.info("g", "alice").MentionsUnread, int64(0))
		w.markRead("g", "bob", 4)
		w.equal(w.info("g", "bob").MentionsUnread, int64(0))
	},
	"the keys of an idle sender": func(w *fixture) {
		w.group("g", []string{"bob"})
		keyed := func(key string) chat.Append {
			a := text("g", "bob", "x")
			a.Key, a.Content = key, "c"
			return a
		}
		// Each 64th entry looks for a sender of nothing for a day, whom a separate step forgets.
		untilNext := func() {
			w.Helper()
			for w.say("g", "alice", "x")%64 != 0 {
			}
		}
		idleFor := func(d time.Duration) {
			w.Helper()
			w.poke("ZADD", w.groupKey("g", "senders"), w.now()-d.Milliseconds(), "bob")
		}
		w.send(keyed("old"))
		idleFor(24*time.Hour - time.Minute)
		untilNext()
		w.equal(w.send(keyed("old")).Duplicate, true)

		idleFor(24 * time.Hour)
		times := w.before(w.groupKey("g", "sent:bob"), func() { w.equal(w.send(keyed("of today")).Duplicate, false) })
		untilNext()
		w.equal(times.Load(), int64(1)) // bob was found idle, and has sent since
		w.equal(w.send(keyed("of today")).Duplicate, true)
		w.equal(w.send(keyed("old")).Duplicate, true)

		idleFor(24 * time.Hour)
		untilNext()
		w.equal(w.send(keyed("of today")).Duplicate, false)
	},
	"many mentions": func(w *fixture) {
		w.group("g", []string{"bob"})
		for i := range int64(pruneEvery + 1) {
			w.send(mentioning("g", "alice", "bob"))
			w.equal(w.info("g", "bob").MentionsUnread, i+1)
		}
	},
	"many own messages": func(w *fixture) {
		w.group("g", []string{"bob"})
		for range pruneEvery + 1 {
			w.say("g", "alice", "x")
			w.equal(w.info("g", "alice").Unread, int64(0))
		}
	},
	"durability": func(w *fixture) {
		w.group("g", nil)
		replicated := w.replicated("g")
		for _, d := range []chat.Durability{"", chat.DurabilityMemory, chat.DurabilityDisk, chat.DurabilityReplica} {
			a := text("g", "alice", "x")
			a.Durability, a.Key, a.Content = d, "k"+string(d), "c"
			for _, duplicate := range []bool{false, true} {
				done := w.send(a)
				w.equal(done.Duplicate, duplicate)
				byReplica := done.Durability == chat.DurabilityReplica
				if byReplica && !(replicated && d == chat.DurabilityReplica) || d == "" != (done.Durability == "") {
					w.Fatalf("got durability %q for %q", done.Durability, d)
				}
			}
		}
		w.ok(w.Ping(w.ctx))
	},
	"range, entries and lasts": func(w *fixture) {
		w.group("g", nil)
		w.group("h", nil)
		w.says("g", "alice", 9)
		messages, end, err := w.Range(w.ctx, "g", 4, 3, 0)
		w.ok(err)
		w.equal(ids(messages), span(4, 6))
		w.equal(end, chat.LogEnd{Last: 10, Epoch: w.info("g", "alice").Epoch})
		size := len(messages[0].JSON) // a little less than what is stored
		for bytesMax, last := range map[int]int64{1: 4, size: 4, 2 * size: 5, 1 << 20: 6} {
			some, bounded, err := w.Range(w.ctx, "g", 4, 3, bytesMax)
			w.ok(err)
			w.equal(ids(some), span(4, last))
			w.equal(bounded, end)
		}
		_, end, err = w.Range(w.ctx, "none", 1, 3, 1000)
		w.ok(err)
		w.equal(end, chat.LogEnd{Last: -1})
		_, end, err = w.Range(w.ctx, "none", 1, 3, 0)
		w.ok(err)
		w.equal(end, chat.LogEnd{Last: -1})
		found, err := w.Entries(w.ctx, "g", []int64{2, 99, 7})
		w.ok(err)
		w.equal(ids(found), []int64{2, 7})
		lasts, err := w.Lasts(w.ctx, []string{"h", "none", "g"})
		w.ok(err)
		w.equal(lasts, []chat.LogEnd{{Last: 1, Epoch: w.info("h", "alice").Epoch}, {Last: -1},
			{Last: 10, Epoch: w.info("g", "alice").Epoch}})
	},
	"looks": func(w *fixture) {
		w.group("g", []string{"bob"})
		w.group("h", nil)
		w.says("g", "alice", 9)
		w.ack("g", "bob", 7)
		g, h := w.info("g", "bob"), w.info("h", "bob")
		w.inbox("bob", chat.Position{}, 1)
		for at, want := range map[chat.LookAt][]chat.Look{
			chat.LookAtSeen: {{Last: 1, Seen: -1, Read: -1}, {Last: -1, Seen: -1, Read: -1}, {Last: g.Last, Seen: 7, Read: -1}},
			chat.LookAtRead: {{Last: 1, Seen: -1, Read: -1}, {Last: -1, Seen: -1, Read: -1}, {Last: g.Last, Seen: -1, Read: g.Read}},
			chat.LookAtPosition: {{Last: 1, Epoch: h.Epoch, Mark: h.LastMark, Seen: -1, Read: -1}, {Last: -1, Seen: -1, Read: -1},
				{Last: g.Last, Epoch: g.Epoch, Mark: g.LastMark, Seen: 7, Read: -1}},
			chat.LookAtActivity: {{Last: -1, Seen: -1, Read: -1, ActiveMs: h.ActiveMs}, {Last: -1, Seen: -1, Read: -1},
				{Last: -1, Seen: 7, Read: -1, ActiveMs: g.ActiveMs}},
		} {
			looks, err := w.Looks(w.ctx, "bob", []string{"h", "none", "g"}, at)
			w.ok(err)
			w.equal(looks, want)
			arrivals, err := w.Arrivals(w.ctx, "bob", chat.Arriving{Limit: 1, Groups: []string{"h", "none", "g"}, At: at})
			w.ok(err)
			w.equal(arrivals.Looks, want)
		}
		looks, err := w.Looks(w.ctx, "bob", nil, chat.LookAtSeen)
		w.ok(err)
		w.equal(looks, []chat.Look{})
	},
}

// revision is an edit or a deletion of target, with the changes that the service would make.
func revision(w *fixture, kind chat.Kind, from string, target int64) (chat.Append, []chat.Change) {
	w.Helper()
	body := "changed"
	old := w.entry("g", target)
	e := decode(w, old)
	e.Body = &body
	when := chat.TimeMs(5000)
	if kind == chat.Delete {
		e.Body, e.DeletedAt = nil, &when
	} else {
		e.EditedAt = &when
	}
	changes := []chat.Change{{Old: old, New: chat.Message{ID: target, Mark: old.Mark,
		JSON: fmt.Appendf(nil, `{"id":%d,%s`, target, rest(withoutID(e)))}}}
	if kind == chat.Delete {
		for _, id := range old.Edits {
			edit := w.entry("g", id)
			blank := decode(w, edit)
			blank.Body = nil
			changes = append(changes, chat.Change{Old: edit, New: chat.Message{ID: id, Mark: edit.Mark,
				JSON: fmt.Appendf(nil, `{"id":%d,%s`, id, rest(withoutID(blank)))}})
		}
	}
	return chat.Append{Group: "g", From: from, Kind: kind, Mark: mark(), SentAtMs: 5000, Target: target,
		Rest: rest(chat.Entry{Group: "g", From: from, Content: chat.Content{Kind: kind, Target: target, Body: &body}, SentAt: when})}, changes
}

func withoutID(e chat.Entry) chat.Entry {
	e.ID = 0
	return e
}

var reviseTests = map[string]func(*fixture){
	"edit and delete": func(w *fixture) {
		w.group("g", []string{"bob"})
		w.send(mentioning("g", "alice", "bob")) // 3
		before := w.entry("g", 3)
		for edit := range 2 {
			a, changes := revision(w, chat.Edit, "alice", 3)
			done, err := w.Revise(w.ctx, a, changes, false)
			w.ok(err)
			w.equal(done.ID, int64(4+edit))
		}
		m := w.entry("g", 3)
		w.equal(m.Edits, []int64{4, 5})
		w.equal(m.Mark, before.Mark)
		w.equal(*decode(w, m).Body, "changed")
		in := w.info("g", "bob")
		w.equal([]int64{in.Unread, in.MentionsUnread, in.Last}, []int64{1, 1, 5})

		a, changes := revision(w, chat.Delete, "alice", 3)
		a.Key, a.Content = "k", "c"
		_, err := w.Revise(w.ctx, a, changes, false)
		w.ok(err)
		in = w.info("g", "bob")
		w.equal([]int64{in.Unread, in.MentionsUnread, in.Last}, []int64{0, 0, 6})
		w.equal(decode(w, w.entry("g", 3)).Body == nil, true)
		w.equal(decode(w, w.entry("g", 4)).Body == nil, true)
		w.equal(ids(w.entries("g")), span(1, 6))
		done, err := w.Revise(w.ctx, a, changes, false)
		w.ok(err)
		w.equal([]any{done.Duplicate, done.ID}, []any{true, int64(6)})
		a.Key = ""
		_, err = w.Revise(w.ctx, a, changes, false)
		w.fails(err, chat.ErrNotFound)
	},
	"own deletion counts for others only": func(w *fixture) {
		w.group("g", []string{"bob"})
		w.says("g", "bob", 2)
		a, changes := revision(w, chat.Delete, "alice", 3)
		_, err := w.Revise(w.ctx, a, changes, true)
		w.ok(err)
		w.equal(w.info("g", "alice").Unread, int64(1))
		w.equal(w.info("g", "bob").Unread, int64(0))
	},
	"refused": func(w *fixture) {
		w.group("g", []string{"bob", "carl"})
		w.says("g", "bob", 1) // 4
		a, changes := revision(w, chat.Edit, "alice", 4)
		_, err := w.Revise(w.ctx, a, changes, false)
		w.fails(err, chat.ErrForbidden)
		a, changes = revision(w, chat.Delete, "carl", 4)
		_, err = w.Revise(w.ctx, a, changes, true)
		w.fails(err, chat.ErrForbidden)
		a, changes = revision(w, chat.Edit, "bob", 4)
		later, laterChanges := revision(w, chat.Edit, "bob", 4)
		_, err = w.Revise(w.ctx, a, changes, false)
		w.ok(err)
		_, err = w.Revise(w.ctx, later, laterChanges, false)
		w.fails(err, chat.ErrConflict)
		a, changes = revision(w, chat.Delete, "alice", 1) // a notice
		_, err = w.Revise(w.ctx, a, changes, true)
		w.fails(err, chat.ErrNotFound)
		w.equal(w.info("g", "bob").Last, int64(5))
	},
	"edits are bounded": func(w *fixture) {
		w.with(func(l *chat.Limits) { l.EditsMax = 2 })
		w.group("g", nil)
		w.say("g", "alice", "x")
		for _, want := range []chat.Code{"", "", chat.CodeConflict} {
			a, changes := revision(w, chat.Edit, "alice", 2)
			_, err := w.Revise(w.ctx, a, changes, false)
			w.equal(chat.CodeOf(err), want)
		}
	},
}

func reaction(from string, target int64, emoji string, removed bool) chat.Append {
	return chat.Append{Group: "g", From: from, Kind: chat.Reaction, Mark: mark(), SentAtMs: 6000, Target: target, Emoji: emoji,
		Removed: removed, Rest: rest(chat.Entry{Group: "g", From: from, Content: chat.Content{Kind: chat.Reaction, Target: target, Emoji: emoji, Removed: removed}, SentAt: chat.TimeMs(6000)})}
}

var reactionTests = map[string]func(*fixture){
	"react": func(w *fixture) {
		w.group("g", []string{"bob"})
		w.say("g", "alice", "x") // 3
		first := w.send(reaction("bob", 3, "👍", false))
		again := reaction("bob", 3, "👍", false)
		again.SentAtMs = 7000
		second := w.send(again)
		first.Duplicate = true
		w.equal(second, first)
		w.send(reaction("alice", 3, "👍", false))
		w.send(reaction("alice", 3, "a b", false))
		counts, err := w.Reactions(w.ctx, "g", "bob", 1, 10)
		w.ok(err)
		w.equal(counts, map[int64]map[string]chat.ReactionCount{3: {"👍": {Count: 2, Mine: true}, "a b": {Count: 1}}})

		removed := w.send(reaction("bob", 3, "👍", true))
		w.equal(removed.Duplicate, false)
		once := w.send(reaction("bob", 3, "👍", true))
		w.equal([]any{once.Duplicate, once.ID}, []any{true, removed.ID})
		w.send(reaction("alice", 3, "👍", true))
		counts, err = w.Reactions(w.ctx, "g", "bob", 1, 10)
		w.ok(err)
		w.equal(counts, map[int64]map[string]chat.ReactionCount{3: {"a b": {Count: 1}}})
		w.equal(w.send(reaction("bob", 3, "👍", false)).Duplicate, false)
		w.equal(w.info("g", "bob").Unread, int64(1))
	},
	"refused": func(w *fixture) {
		w.with(func(l *chat.Limits) { l.EmojisMax = 2 })
		w.group("g", []string{"bob"})
		w.say("g", "alice", "x") // 3
		for _, target := range []int64{1, 0, 99} {
			_, err := w.Append(w.ctx, reaction("bob", target, "a", false))
			w.fails(err, chat.ErrNotFound)
		}
		_, err := w.Append(w.ctx, reaction("bob", 3, "a", true))
		w.fails(err, chat.ErrNotFound)
		w.send(reaction("bob", 3, "a", false))
		w.send(reaction("bob", 3, "b", false))
		_, err = w.Append(w.ctx, reaction("bob", 3, "c", false))
		w.fails(err, chat.ErrConflict)
		w.send(reaction("alice", 3, "b", false))
		a, changes := revision(w, chat.Delete, "alice", 3)
		_, err = w.Revise(w.ctx, a, changes, false)
		w.ok(err)
		_, err = w.Append(w.ctx, reaction("bob", 3, "b", false))
		w.fails(err, chat.ErrNotFound)
		counts, err := w.Reactions(w.ctx, "g", "bob", 1, 10)
		w.ok(err)
		w.equal(len(counts), 0)
	},
	"what is hidden cannot be reacted to": func(w *fixture) {
		w.group("g", nil, noHistory)
		w.say("g", "alice", "x") // 2
		w.join("g", "bob", "alice")
		_, err := w.Append(w.ctx, reaction("bob", 2, "a", false))
		w.fails(err, chat.ErrNotFound)
		w.send(reaction("alice", 2, "a", false))
	},
}
