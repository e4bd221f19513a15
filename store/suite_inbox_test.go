package store_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/live"
)

func item(to, from, body string) chat.NewItem {
	text, _ := json.Marshal(chat.Item{Kind: chat.ItemDirect, From: from, To: to, Body: &body, SentAt: chat.TimeMs(1)})
	return chat.NewItem{To: to, From: from, Rest: text[len(`{"seq":0,`):], SentAtMs: 1, Cause: from}
}

func (w *fixture) put(i chat.NewItem) int64 {
	w.Helper()
	seq, _, _, err := w.InboxAppend(w.ctx, i)
	w.ok(err)
	return seq
}

func (w *fixture) inbox(user string, after chat.Position, limit int) chat.InboxBatch {
	w.Helper()
	b, err := w.InboxPull(w.ctx, user, after, limit)
	w.ok(err)
	together, err := w.Arrivals(w.ctx, user, chat.Arriving{After: after, Limit: limit})
	w.ok(err)
	w.equal(together.Inbox, b)
	for i, text := range b.Items {
		var got chat.Item
		w.ok(json.Unmarshal(text.JSON, &got))
		w.equal(got.Seq, b.From+int64(i))
	}
	return b
}

func after(seq int64) chat.Position { return chat.Position{Set: true, ID: seq} }

func (w *fixture) ackInbox(user string, seq int64) {
	w.Helper()
	_, err := w.InboxAck(w.ctx, user, after(seq))
	w.ok(err)
}

// inboxRefuses checks that an ack is refused and moves nothing.
func (w *fixture) inboxRefuses(user string, at chat.Position, want error) {
	w.Helper()
	before := w.inbox(user, chat.Position{}, 1000)
	_, err := w.InboxAck(w.ctx, user, at)
	w.fails(err, want)
	w.equal(w.inbox(user, chat.Position{}, 1000), before)
}

// serverItem is an item of the server.
func serverItem(to, body string) chat.NewItem {
	i := item(to, "$chat", body)
	i.System, i.Cause = true, ""
	return i
}

// drain reads an inbox batch by batch from a position to its end: seqs, and "missing" for what is said to be gone.
func (w *fixture) drain(user string, at chat.Position) []string {
	w.Helper()
	out := []string{}
	for range 1000 {
		b := w.inbox(user, at, 7)
		if !b.Complete {
			out = append(out, "missing")
		}
		for seq := b.From; seq <= b.To && len(b.Items) > 0; seq++ {
			out = append(out, fmt.Sprint(seq))
		}
		if at = b.Position(); !b.HasMore {
			return out
		}
	}
	w.Fatalf("no end of the inbox in sight at %+v", at)
	return nil
}

// rollBack takes the newest items out of an inbox, as a failover may do.
func (w *fixture) rollBack(user string, items int) {
	w.Helper()
	w.poke("LTRIM", w.userKey(user, "inbox"), 0, -1-items)
}

var inboxTests = map[string]func(*fixture){
	"append, pull, ack": func(w *fixture) {
		empty := w.inbox("bob", chat.Position{}, 10)
		w.equal(empty, chat.InboxBatch{Epoch: empty.Epoch, From: 1, First: 1, Complete: true, Cursor: empty.Epoch + ".0.-", Items: []chat.StoredItem{}})
		if empty.Epoch == "" {
			w.Fatal("got no epoch")
		}
		for i := range 5 {
			w.equal(w.put(item("bob", "alice", fmt.Sprint(i))), int64(i+1))
		}
		b := w.inbox("bob", chat.Position{}, 3)
		w.equal([]any{b.Epoch, b.From, b.To, b.First, b.Last, b.Complete, b.HasMore},
			[]any{empty.Epoch, int64(1), int64(3), int64(1), int64(5), true, true})
		w.equal(b.Position(), chat.Position{Set: true, ID: 3, Epoch: b.Epoch, Mark: b.Items[2].Mark})
		w.ackInbox("bob", 2)
		w.ackInbox("bob", 2)
		w.ackInbox("bob", 1)
		w.inboxRefuses("bob", after(6), chat.ErrOutOfRange)
		b = w.inbox("bob", chat.Position{}, 10)
		w.equal([]int64{b.From, b.To, b.Last, b.Acked, int64(len(b.Items))}, []int64{3, 5, 5, 2, 3})
		b = w.inbox("bob", after(4), 10)
		w.equal([]any{b.From, b.To, b.Complete}, []any{int64(5), int64(5), true})
		fifth := b.Items[0].Mark
		b = w.inbox("bob", after(5), 10)
		w.equal([]any{b.From, b.To, b.Complete, b.HasMore, b.Position().Mark}, []any{int64(6), int64(5), true, false, fifth})
		b = w.inbox("bob", after(50), 10)
		w.equal([]any{b.From, b.To, b.Complete, len(b.Items)}, []any{int64(1), int64(5), false, 5})
		ends, err := w.InboxEnds(w.ctx, []string{"bob", "nobody"})
		w.ok(err)
		w.equal(ends, []chat.InboxEnd{{Last: 5, Mark: fifth, Epoch: b.Epoch}, {Mark: "-"}})
		w.ackInbox("bob", 5)
		w.equal(w.put(item("bob", "alice", "x")), int64(6))
	},
	"begin": func(w *fixture) {
		w.with(func(l *chat.Limits) { l.InboxKeep = 2 })
		begin := func(user string) live.Beginning {
			w.Helper()
			b, err := w.Begin(w.ctx, user, nil)
			w.ok(err)
			return b
		}
		_, known := begin("bob").Pull(chat.Position{})
		w.equal(known, false) // the first pull gives the inbox its epoch
		w.inbox("bob", chat.Position{}, 1)
		var cursors []chat.Position
		answered := 0
		compare := func() {
			w.Helper()
			b := begin("bob")
			for _, pos := range append(cursors, chat.Position{}, after(0), after(3), after(99),
				chat.Position{Set: true, ID: 3, Mark: "other"}, chat.Position{Set: true, ID: 3, Epoch: "other"}) {
				got, ok := b.Pull(pos)
				if !ok {
					continue
				}
				answered++
				w.equal(got, w.inbox("bob", pos, 100))
			}
		}
		compare()
		for range 9 {
			w.put(item("bob", "alice", "x"))
			all := w.inbox("bob", chat.Position{}, 100)
			cursors = append(cursors, all.Position())
			compare()
			if all.To%3 == 0 {
				w.ackInbox("bob", all.To-1)
				compare()
			}
		}
		w.equal(answered > 60, true)
		w.put(item("bob", "alice", strings.Repeat("x", 8<<10))) // long: only a pull reads it
		_, known = begin("bob").Pull(chat.Position{})
		w.equal(known, false)
	},
	"begin with standings": func(w *fixture) {
		w.group("g", []string{"bob"})
		w.group("h", nil)
		groups := []string{"h", "none", "g"}
		b, err := w.Begin(w.ctx, "bob", groups)
		w.ok(err)
		want, err := w.Standings(w.ctx, "bob", groups)
		w.ok(err)
		w.equal(b.Standings, want)
		w.equal([]any{b.Standings[0].Role, b.Standings[1].Epoch, b.Standings[2].Role}, []any{chat.Role(""), "", chat.Ordinary})
	},
	"what is acked stays for other devices": func(w *fixture) {
		w.with(func(l *chat.Limits) { l.InboxKeep, l.InboxItemsMax = 3, 4 })
		for range 4 {
			w.put(item("bob", "alice", "x"))
		}
		w.ackInbox("bob", 2)
		w.equal(w.drain("bob", after(0)), []string{"1", "2", "3", "4"})
		w.put(item("bob", "alice", "x"))
		w.put(item("bob", "alice", "x")) // only what is not acked counts
		_, _, _, err := w.InboxAppend(w.ctx, item("bob", "alice", "x"))
		w.fails(err, chat.ErrInboxFull)
		w.ackInbox("bob", 6)
		b := w.inbox("bob", chat.Position{}, 10)
		w.equal([]int64{b.From, b.To, b.First, b.Last, b.Acked}, []int64{7, 6, 4, 6, 6})
		w.equal(w.drain("bob", after(3)), []string{"4", "5", "6"})
		w.equal(w.drain("bob", after(2)), []string{"missing", "4", "5", "6"})
		w.equal(w.drain("bob", after(0)), []string{"missing", "4", "5", "6"})
	},
	"nothing is kept": func(w *fixture) {
		w.with(func(l *chat.Limits) { l.InboxKeep = 0 })
		w.put(item("bob", "alice", "x"))
		at := w.inbox("bob", chat.Position{}, 10).Position()
		_, err := w.InboxAck(w.ctx, "bob", at)
		w.ok(err)
		w.equal(w.inbox("bob", at, 10).Position(), at)
		w.equal(w.drain("bob", after(0)), []string{"missing"})
		w.put(item("bob", "alice", "x"))
		w.equal(w.drain("bob", at), []string{"2"})
	},
	"an inbox of an earlier version": func(w *fixture) {
		// It kept nothing that was acked, and had no marks.
		inbox, base := w.userKey("bob", "inbox"), w.userKey("bob", "inbox:base")
		w.poke("HSET", base, "base", "4", "epoch", "old", "acked", "4", "lost", "2")
		w.poke("RPUSH", inbox, `{"seq":5,"kind":"direct"}`, `{"seq":6,"kind":"direct"}`)
		b := w.inbox("bob", chat.Position{}, 10)
		w.equal([]any{b.From, b.To, b.First, b.Last, b.Acked, b.Complete, b.Cursor}, []any{int64(5), int64(6), int64(5), int64(6), int64(4), true, "old.6.-"})
		w.equal(w.drain("bob", after(3)), []string{"missing", "5", "6"})
		w.equal(w.put(item("bob", "alice", "x")), int64(7))
		_, err := w.InboxAck(w.ctx, "bob", b.Position())
		w.ok(err)
		w.equal(w.drain("bob", chat.Position{}), []string{"7"})
		w.equal(w.drain("bob", after(4)), []string{"5", "6", "7"})
	},
	"a list that was rolled back": func(w *fixture) {
		for range 3 {
			w.put(item("bob", "alice", "x"))
		}
		first := w.inbox("bob", chat.Position{}, 1).Position()
		third := w.inbox("bob", chat.Position{}, 10).Position()
		w.rollBack("bob", 2)
		w.inboxRefuses("bob", third, chat.ErrConflict)
		w.inboxRefuses("bob", after(3), chat.ErrOutOfRange)
		w.equal(w.drain("bob", third), []string{"missing", "1"})
		for range 3 {
			w.put(item("bob", "carl", "y"))
		}
		w.inboxRefuses("bob", third, chat.ErrConflict)
		w.equal(w.drain("bob", third), []string{"missing", "1", "2", "3", "4"})
		w.equal(w.drain("bob", first), []string{"2", "3", "4"})
		other := first
		other.Epoch = "other"
		w.inboxRefuses("bob", other, chat.ErrConflict)
		w.equal(w.drain("bob", other), []string{"missing", "1", "2", "3", "4"})
		acked, err := w.InboxAck(w.ctx, "bob", first)
		w.ok(err)
		w.equal(acked, int64(1))
		w.inboxRefuses("bob", third, chat.ErrConflict)
	},
	"the end of a list that was rolled back": func(w *fixture) {
		ends := func() chat.InboxEnd {
			w.Helper()
			got, err := w.InboxEnds(w.ctx, []string{"bob"})
			w.ok(err)
			b := w.inbox("bob", chat.Position{}, 10)
			w.equal(got[0], chat.InboxEnd{Last: b.Last, Mark: b.Position().Mark, Epoch: b.Epoch})
			return got[0]
		}
		w.put(item("bob", "alice", "x"))
		before := ends()
		w.rollBack("bob", 1)
		w.put(item("bob", "alice", "x"))
		if now := ends(); now == before {
			w.Fatalf("got the same end %+v", now)
		}
		w.ackInbox("bob", 1)
		ends()
	},
	"items of the server displace each other": func(w *fixture) {
		w.with(func(l *chat.Limits) { l.InboxItemsMax, l.InboxKeep = 4, 1 })
		w.put(item("bob", "alice", "1"))
		w.put(serverItem("bob", "2"))
		w.put(item("bob", "alice", "3"))
		w.put(serverItem("bob", "4"))
		w.equal(w.put(serverItem("bob", "5")), int64(5))
		w.equal(w.drain("bob", chat.Position{}), []string{"1", "missing", "3", "4", "5"})
		for range 3 {
			w.put(serverItem("bob", "x"))
		}
		w.equal(w.drain("bob", chat.Position{}), []string{"1", "missing", "3", "missing", "7", "8"})
		w.equal(w.drain("bob", after(3)), []string{"missing", "7", "8"})
		w.equal(w.drain("bob", after(7)), []string{"8"})
		_, _, _, err := w.InboxAppend(w.ctx, item("bob", "alice", "x"))
		w.fails(err, chat.ErrInboxFull)
		w.ackInbox("bob", 7)
		w.equal(w.drain("bob", chat.Position{}), []string{"8"})
		w.equal(w.drain("bob", after(3)), []string{"missing", "7", "8"})
		for range 3 {
			w.put(item("bob", "alice", "x"))
		}
		w.equal(w.put(serverItem("bob", "x")), int64(12))
		w.equal(w.drain("bob", chat.Position{}), []string{"missing", "9", "10", "11", "12"})
		w.ackInbox("bob", 12)
		w.equal(w.drain("bob", chat.Position{}), []string{})
		w.equal(w.drain("bob", after(10)), []string{"missing", "12"})
	},
	"no room for an item of the server": func(w *fixture) {
		w.with(func(l *chat.Limits) { l.InboxItemsMax = 2 })
		w.put(item("bob", "alice", "1"))
		w.put(item("bob", "alice", "2"))
		w.put(serverItem("bob", "x"))
		w.put(serverItem("bob", "x")) // one that is missing stands for both
		b := w.inbox("bob", chat.Position{}, 10)
		w.equal([]any{b.From, b.To, b.Last, b.Complete, b.HasMore}, []any{int64(1), int64(2), int64(3), true, true})
		w.equal(w.drain("bob", chat.Position{}), []string{"1", "2", "missing"})
		end := w.inbox("bob", after(2), 10).Position()
		w.equal(end.ID, int64(3))
		w.equal(w.inbox("bob", end, 10).Complete, true)
		_, err := w.InboxAck(w.ctx, "bob", end)
		w.ok(err)
		w.equal(w.put(item("bob", "alice", "x")), int64(4))
		w.equal(w.drain("bob", end), []string{"4"})
	},
	"nobody fills an inbox alone": func(w *fixture) {
		w.with(func(l *chat.Limits) { l.InboxItemsMax, l.InboxSenderMax = 6, 3 })
		for range 3 {
			w.put(item("bob", "mallory", "x"))
		}
		_, _, _, err := w.InboxAppend(w.ctx, item("bob", "mallory", "x"))
		w.fails(err, chat.ErrInboxFull)
		w.equal(w.put(item("bob", "alice", "x")), int64(4))
		w.ackInbox("bob", 1)
		w.put(item("bob", "mallory", "x"))
		_, _, _, err = w.InboxAppend(w.ctx, item("bob", "mallory", "x"))
		w.fails(err, chat.ErrInboxFull)
		added := serverItem("bob", "added")
		added.Cause = "mallory"
		w.put(added) // dropped: it is mallory's doing
		w.put(serverItem("bob", "x"))
		w.equal(w.drain("bob", chat.Position{}), []string{"2", "3", "4", "5", "missing", "7"})
	},
	"mentions by one sender": func(w *fixture) {
		w.with(func(l *chat.Limits) { l.InboxMentionsMax, l.InboxItemsMax = 3, 30 })
		for range 20 {
			w.put(item("bob", "alice", "x"))
		}
		mention := func(by string) {
			i := serverItem("bob", "x")
			i.Cause, i.Mention = by, true
			w.put(i)
		}
		for range 1000 {
			mention("mallory")
		}
		mention("alice")
		b := w.inbox("bob", chat.Position{}, 1000)
		w.equal([]int64{b.From, b.To, b.Last}, []int64{1, 23, 25})
		w.equal(w.inbox("bob", b.Position(), 10).Complete, false)
		w.ackInbox("bob", 21)
		mention("mallory")
		w.equal(w.drain("bob", chat.Position{}), []string{"22", "23", "missing", "25", "26"})
	},
	"an idle sender is forgotten, except for items that wait": func(w *fixture) {
		by, senders := w.userKey("bob", "inbox:by:alice"), w.userKey("bob", "inbox:senders")
		w.put(item("bob", "alice", "x"))
		age := func() { w.poke("ZADD", senders, w.now()-25*time.Hour.Milliseconds(), "alice") }
		age()
		w.put(item("bob", "carl", "x"))
		w.equal(w.sizes(by, senders), []int64{1, 2})
		w.ackInbox("bob", 2)
		age()
		w.put(item("bob", "carl", "x"))
		w.equal(w.sizes(by, senders), []int64{0, 1})
	},
	"strangers": func(w *fixture) {
		w.with(func(l *chat.Limits) { l.StrangersBytesMax = 5000 })
		send := func(from, to string) error {
			_, _, _, err := w.InboxAppend(w.ctx, item(to, from, "x"))
			return err
		}
		for i := range 4 {
			w.ok(send("mallory", fmt.Sprint("nobody", i)))
		}
		w.fails(send("mallory", "nobody4"), chat.ErrInboxFull)
		w.fails(send("mallory", "nobody0"), chat.ErrInboxFull)
		w.equal(w.inbox("nobody4", chat.Position{}, 10).Last, int64(0))
		w.ok(send("alice", "nobody0"))
		w.ok(w.Know(w.ctx, "bob"))
		w.ok(send("mallory", "bob"))
		w.ok(w.AddUserGroups(w.ctx, []string{"added"}, chat.UserGroup{Group: "g", Invited: true}))
		w.fails(send("mallory", "added"), chat.ErrInboxFull) // put into a group, and never seen
		w.ok(w.Know(w.ctx, "nobody0"))
		w.ok(send("mallory", "nobody1")) // what was for who is known by now is free again
		w.fails(send("mallory", "nobody1"), chat.ErrInboxFull)
		operator := item("nobody1", "mallory", "x")
		operator.ToStrangers = true
		w.put(operator)
	},
	"a look says what is against an item, and puts nothing in": func(w *fixture) {
		w.with(func(l *chat.Limits) { l.InboxItemsMax = 1 })
		look := directly(false)
		look.Look = true
		w.equal(w.put(look), int64(0))
		w.blocks("alice", "bob", true)
		_, _, _, err := w.InboxAppend(w.ctx, look)
		w.fails(err, chat.ErrBlocked)
		w.blocks("alice", "bob", false)
		w.equal(w.put(directly(false)), int64(1))
		_, _, _, err = w.InboxAppend(w.ctx, look)
		w.fails(err, chat.ErrInboxFull)
		w.equal(w.inbox("alice", chat.Position{}, 10).Last, int64(1))
	},
	"a batch is bounded in bytes": func(w *fixture) {
		w.with(func(l *chat.Limits) { l.PageBytesMax = 1000 })
		for range 100 {
			w.put(item("bob", "alice", strings.Repeat("x", 400)))
		}
		if n := len(w.inbox("bob", chat.Position{}, 100).Items); n > 10 {
			w.Fatalf("got %d items of 400 bytes, want about 1000 bytes", n)
		}
		w.equal(len(w.drain("bob", chat.Position{})), 100)
	},
	"with a key": func(w *fixture) {
		i := item("bob", "alice", "x")
		i.Key, i.Content = "k", "c"
		look := i
		look.Look = true
		seq, ms, duplicate, err := w.InboxAppend(w.ctx, look)
		w.ok(err)
		w.equal([]any{seq, ms, duplicate}, []any{int64(0), int64(0), false})
		seq, ms, duplicate, err = w.InboxAppend(w.ctx, i)
		w.ok(err)
		w.equal([]any{seq, ms, duplicate}, []any{int64(1), int64(1), false})
		i.SentAtMs = 99
		seq, ms, duplicate, err = w.InboxAppend(w.ctx, i)
		w.ok(err)
		w.equal([]any{seq, ms, duplicate}, []any{int64(1), int64(1), true})
		seq, ms, duplicate, err = w.InboxAppend(w.ctx, look)
		w.ok(err)
		w.equal([]any{seq, ms, duplicate}, []any{int64(1), int64(1), true})
		i.Content, look.Content = "other", "other"
		_, _, _, err = w.InboxAppend(w.ctx, look)
		w.fails(err, chat.ErrKeyReused)
		_, _, _, err = w.InboxAppend(w.ctx, i)
		w.fails(err, chat.ErrKeyReused)
		i.From, i.To = "carl", "bob"
		w.equal(w.put(i), int64(2))
	},
	"a full inbox": func(w *fixture) {
		w.with(func(l *chat.Limits) { l.InboxItemsMax = 3 })
		for range 3 {
			w.put(item("bob", "alice", "x"))
		}
		_, _, _, err := w.InboxAppend(w.ctx, item("bob", "alice", "x"))
		w.fails(err, chat.ErrInboxFull)
		w.ackInbox("bob", 1)
		w.equal(w.put(item("bob", "alice", "x")), int64(4))
	},
}
