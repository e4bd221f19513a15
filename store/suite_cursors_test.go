package store_test

import (
	"github.com/chatd/chatd/chat"
)

var cursorTests = map[string]func(*fixture){
	"ack and read": func(w *fixture) {
		w.group("g", []string{"bob"})
		w.says("g", "alice", 8) // 3..10
		w.equal(w.ack("g", "bob", 5), chat.Cursors{Seen: 5, Read: 0, Unread: 8})
		w.equal(w.ack("g", "bob", 4), chat.Cursors{Seen: 5, Read: 0, Unread: 8})
		w.equal(w.markRead("g", "bob", 7), chat.Cursors{Seen: 7, Read: 7, Unread: 3})
		w.equal(w.markRead("g", "bob", 6), chat.Cursors{Seen: 7, Read: 7, Unread: 3})
		w.equal(w.ack("g", "bob", -5), chat.Cursors{Seen: 7, Read: 7, Unread: 3})
		for _, id := range []int64{11, 1 << 60} {
			_, err := w.Ack(w.ctx, "g", "bob", chat.At(id), true, "")
			w.fails(err, chat.ErrOutOfRange)
		}
		w.equal(w.info("g", "bob").Seen, int64(7))
	},
	"refused": func(w *fixture) {
		w.group("g", nil)
		w.group("p", nil, public)
		for group, want := range map[string]error{"g": chat.ErrNotFound, "none": chat.ErrNotFound, "p": chat.ErrForbidden} {
			_, err := w.Ack(w.ctx, group, "dora", chat.At(1), true, "")
			w.fails(err, want)
			_, err = w.Unread(w.ctx, group, "dora", 1)
			w.fails(err, want)
			_, err = w.Receipts(w.ctx, group, "dora", 1, "", 10)
			w.fails(err, want)
		}
	},
	"ack by cursor": func(w *fixture) {
		w.group("g", []string{"bob"}, keep(2))
		w.says("g", "alice", 4) // 3..6
		epoch := w.info("g", "bob").Epoch
		at := func(id int64) chat.Position {
			return chat.Position{Set: true, ID: id, Epoch: epoch, Mark: w.entry("g", id).Mark}
		}
		fourth, fifth, end := at(4), at(5), at(6)
		moved := func(p chat.Position, want chat.Cursors) {
			w.Helper()
			got, err := w.Ack(w.ctx, "g", "bob", p, false, "")
			w.ok(err)
			w.equal(got, want)
		}
		refused := func(p chat.Position) {
			w.Helper()
			before, stored := w.info("g", "bob"), w.entries("g")
			for _, read := range []bool{false, true} {
				_, err := w.Ack(w.ctx, "g", "bob", p, read, "")
				w.fails(err, chat.ErrConflict)
			}
			w.equal(w.info("g", "bob"), before)
			w.equal(w.entries("g"), stored)
		}
		moved(fourth, chat.Cursors{Seen: 4, Unread: 4})
		// The log loses its end, and is rewritten over it.
		w.poke("ZREMRANGEBYSCORE", w.groupKey("g", "msgs"), 5, 6)
		w.poke("DEL", w.groupKey("g", "id"))
		for range 4 {
			w.poke("INCR", w.groupKey("g", "id"))
		}
		refused(end)
		w.says("g", "alice", 3) // 5..7
		refused(fifth)
		refused(end)
		moved(fourth, chat.Cursors{Seen: 4, Unread: 5})
		other := at(5)
		other.Epoch = "other"
		refused(other)
		moved(at(5), chat.Cursors{Seen: 5, Unread: 5})
		moved(at(7), chat.Cursors{Seen: 7, Unread: 5})
		refused(end)
	},
	"ack by the cursor of what was trimmed last": func(w *fixture) {
		w.group("g", []string{"bob"}, keep(2))
		w.equal(w.info("g", "bob").Trimmed, chat.Trimmed{})
		w.says("g", "alice", 6) // 3..8
		old := w.entry("g", 5).Mark
		w.poke("ZREMRANGEBYSCORE", w.groupKey("g", "msgs"), 5, 8)
		w.poke("SET", w.groupKey("g", "id"), 4)
		w.says("g", "alice", 4) // 5..8, again
		mark := w.entry("g", 5).Mark
		w.ack("g", "alice", 8)
		ack := func(mark string) error {
			_, err := w.Ack(w.ctx, "g", "bob", chat.Position{Set: true, ID: 5, Epoch: w.info("g", "bob").Epoch, Mark: mark}, true, "")
			return err
		}
		w.fails(ack(old), chat.ErrConflict)
		w.ack("g", "bob", 5)
		trimmed := chat.Trimmed{ID: 5, Mark: mark}
		w.equal(w.kept("g"), span(6, 8))
		w.equal(w.info("g", "bob").Trimmed, trimmed)
		w.equal(w.info("g", "dora").Trimmed, trimmed)
		_, end, err := w.Range(w.ctx, "g", 6, 1, 0)
		w.ok(err)
		w.equal(end.Trimmed, trimmed)
		lasts, err := w.Lasts(w.ctx, []string{"g"})
		w.ok(err)
		w.equal(lasts[0], end)
		w.fails(ack(old), chat.ErrConflict)
		w.ok(ack(mark))
		w.ok(ack("-"))
		// What an earlier version trimmed has left no mark, or that of an entry below.
		w.poke("HSET", w.groupKey("g", "meta"), "trimmed", "4 "+mark)
		w.ok(ack(old))
		w.poke("HDEL", w.groupKey("g", "meta"), "trimmed")
		w.ok(ack(old))
	},
	"unread": func(w *fixture) {
		w.group("g", []string{"bob"})
		w.says("g", "alice", 8)
		w.markRead("g", "bob", 9)
		c, err := w.Unread(w.ctx, "g", "bob", 5)
		w.ok(err)
		w.equal(c, chat.Cursors{Seen: 9, Read: 4, Unread: 6})
		c, err = w.Unread(w.ctx, "g", "bob", 8)
		w.ok(err)
		w.equal(c, chat.Cursors{Seen: 9, Read: 4, Unread: 6})
		c, err = w.Unread(w.ctx, "g", "bob", 0)
		w.ok(err)
		w.equal(c, chat.Cursors{Seen: 9, Read: 0, Unread: 8})
		_, err = w.Unread(w.ctx, "g", "bob", 11)
		w.fails(err, chat.ErrOutOfRange)
	},
	"unread goes no lower than the member may see": func(w *fixture) {
		w.group("g", nil, noHistory)
		w.says("g", "alice", 5)
		w.join("g", "bob", "alice") // 7
		w.says("g", "alice", 2)
		w.markRead("g", "bob", 9)
		c, err := w.Unread(w.ctx, "g", "bob", 2)
		w.ok(err)
		w.equal(c, chat.Cursors{Seen: 9, Read: 6, Unread: 2})
	},
	"the newest backlog_max are counted": func(w *fixture) {
		w.group("g", []string{"bob"}, backlog(10))
		w.says("g", "alice", 30)
		w.equal(w.info("g", "bob").Unread, int64(10))
		more := int64(40)
		w.ok(w.UpdateGroup(w.ctx, chat.Caller{User: "alice"}, "g", nil, chat.GroupChange{BacklogMax: &more}, nil, 1))
		w.says("g", "alice", 5)
		w.equal(w.info("g", "bob").Unread, int64(15))
	},
	"what is trimmed is not counted": func(w *fixture) {
		w.group("g", []string{"bob"}, keep(2))
		w.send(mentioning("g", "alice", "bob")) // 3
		w.says("g", "alice", 3)                 // 4..6
		counts := func() []int64 { in := w.info("g", "bob"); return []int64{in.Held, in.Unread, in.MentionsUnread} }
		w.equal(counts(), []int64{1, 4, 1})
		w.ack("g", "alice", 6)
		w.equal(w.ack("g", "bob", 6), chat.Cursors{Seen: 6, Unread: 2})
		w.equal(counts(), []int64{5, 2, 0})
		c, err := w.Unread(w.ctx, "g", "bob", 6)
		w.ok(err)
		w.equal(c, chat.Cursors{Seen: 6, Unread: 2}) // read stays at 0, below what is left
		w.equal(w.markRead("g", "bob", 5), chat.Cursors{Seen: 6, Read: 5, Unread: 1})
	},
	"receipts": func(w *fixture) {
		w.group("g", []string{"bob", "carl", "dora"})
		id := w.say("g", "bob", "x") // 5
		w.ack("g", "carl", id)
		w.markRead("g", "dora", id)
		got, err := w.Receipts(w.ctx, "g", "alice", id, "", 10)
		w.ok(err)
		w.equal(got, chat.Receipts{ID: id, Members: 3, Seen: 2, Read: 1, Pending: []string{"alice"}, All: 4, Receipting: chat.ReceiptsOptional, LastUser: "dora",
			SeenBy: []chat.Receipt{{User: "carl", Seen: 5}, {User: "dora", Seen: 5, Read: 5}}})
		page, err := w.Receipts(w.ctx, "g", "alice", id, "", 2)
		w.ok(err)
		w.equal([]any{page.Pending, len(page.SeenBy), page.Next}, []any{[]string{"alice"}, 1, "3.carl"})
		page, err = w.Receipts(w.ctx, "g", "alice", id, page.Next, 2)
		w.ok(err)
		w.equal([]any{len(page.SeenBy), page.Next}, []any{1, ""})
		page, err = w.Receipts(w.ctx, "g", "alice", id, "", 3) // the page is full, and there is no other
		w.ok(err)
		w.equal([]any{len(page.Pending) + len(page.SeenBy), page.Next}, []any{3, ""})
		w.leave("g", "bob") // the sender counts neither way
		got, err = w.Receipts(w.ctx, "g", "alice", id, "", 10)
		w.ok(err)
		w.equal([]int64{got.Members, got.Seen}, []int64{3, 2})
		for _, wrong := range []int64{0, 99} {
			_, err = w.Receipts(w.ctx, "g", "alice", wrong, "", 10)
			w.fails(err, chat.ErrNotFound)
		}
	},
	"receipts of a trimmed message": func(w *fixture) {
		w.group("g", []string{"bob", "carl"}, keep(0), backlog(3))
		id := w.say("g", "bob", "x") // 4
		w.says("g", "alice", 3)      // 5..7
		w.ack("g", "alice", 7)
		w.markRead("g", "bob", 7) // carl is too far behind to be waited for
		w.equal(w.info("g", "bob").Held > id, true)
		got, err := w.Receipts(w.ctx, "g", "alice", id, "", 10)
		w.ok(err)
		w.equal(got, chat.Receipts{ID: id, Members: 3, Seen: 2, Read: 1, Pending: []string{"carl"}, All: 3, Receipting: chat.ReceiptsOptional, LastUser: "carl",
			SeenBy: []chat.Receipt{{User: "alice", Seen: 7}, {User: "bob", Seen: 7, Read: 7}}})
		w.join("g", "dora", "alice") // who came later does not stand behind what was trimmed before
		got, err = w.Receipts(w.ctx, "g", "dora", id, "", 10)
		w.ok(err)
		w.equal([]int64{got.Members, got.Seen}, []int64{4, 3})
	},
	"receipts of a trimmed message that is hidden": func(w *fixture) {
		w.group("g", nil, keep(0), noHistory)
		id := w.say("g", "alice", "x") // 2
		w.join("g", "bob", "alice")    // 3
		w.ack("g", "alice", 3)
		w.ack("g", "bob", 3)
		w.equal(w.info("g", "alice").Held, int64(4))
		_, err := w.Receipts(w.ctx, "g", "bob", id, "", 10)
		w.fails(err, chat.ErrNotFound)
		_, err = w.Receipts(w.ctx, "g", "bob", 3, "", 10)
		w.ok(err)
	},
}

func (w *fixture) kept(group string) []int64 { return ids(w.entries(group)) }

// hiddenTests are of a group whose history was taken back: what lies before the joining of a member is not served any
// longer, so it is not unread either.
var hiddenTests = map[string]func(*fixture){
	"what is hidden is not counted": func(w *fixture) {
		w.group("g", nil)
		w.send(mentioning("g", "alice", "bob"))
		w.says("g", "alice", 3)
		w.join("g", "bob", "alice") // 6
		w.equal(w.info("g", "bob").Unread, int64(4))
		hidden := false
		w.ok(w.UpdateGroup(w.ctx, chat.Caller{User: "alice"}, "g", nil, chat.GroupChange{History: &hidden}, nil, 1))
		w.send(mentioning("g", "alice", "bob"))
		in := w.info("g", "bob")
		w.equal([]int64{in.Visible(), in.Unread, in.MentionsUnread}, []int64{6, 1, 1})
		w.equal(w.ack("g", "bob", 2), chat.Cursors{Seen: 2, Unread: 1})
		c, err := w.Unread(w.ctx, "g", "bob", 1)
		w.ok(err)
		w.equal(c, chat.Cursors{Seen: 2, Unread: 1})
		w.equal(ids(w.reads("bob", "g", chat.Position{}, 0, 10).Messages), span(6, 7))
		hidden = true
		w.ok(w.UpdateGroup(w.ctx, chat.Caller{User: "alice"}, "g", nil, chat.GroupChange{History: &hidden}, nil, 1))
		w.equal(w.info("g", "bob").Unread, int64(5))
	},
	"edits of what is hidden are served without content": func(w *fixture) {
		w.group("g", nil, noHistory)
		w.say("g", "alice", "secret") // 2
		w.join("g", "bob", "alice")   // 3
		w.say("g", "alice", "open")   // 4
		for _, target := range []int64{2, 4} {
			a, changes := revision(w, chat.Edit, "alice", target) // 5, 6
			_, err := w.Revise(w.ctx, a, changes, false)
			w.ok(err)
		}
		for user, served := range map[string][]bool{"bob": {false, true}, "alice": {true, true}} {
			after := w.pull(user, chat.Pull{Group: "g", From: 5, Limit: 10}).Messages
			before := w.pull(user, chat.Pull{Group: "g", Before: 7, Limit: 2}).Messages
			for _, page := range [][]chat.Message{after, before} {
				w.equal(ids(page), span(5, 6))
				for i, m := range page {
					e, stored := decode(w, m), w.entry("g", m.ID)
					w.equal([]any{e.Body != nil, e.Target, m.Mark}, []any{served[i], int64(2 + 2*i), stored.Mark})
				}
			}
		}
	},
	"no reply to what is hidden": func(w *fixture) {
		w.group("g", []string{"carl"}, noHistory)
		w.says("g", "alice", 2)     // 3, 4
		w.join("g", "bob", "alice") // 5
		for _, c := range []struct {
			from string
			to   int64
			want error
		}{{"bob", 4, chat.ErrOutOfRange}, {"bob", 5, nil}, {"alice", 1, nil}, {"carl", 2, nil}, {"carl", 1, chat.ErrOutOfRange}, {"alice", 99, chat.ErrOutOfRange}} {
			a := text("g", c.from, "x")
			a.ReplyTo = c.to
			_, err := w.Append(w.ctx, a)
			if c.want == nil {
				w.ok(err)
			} else {
				w.fails(err, c.want)
			}
		}
		show := true
		w.ok(w.UpdateGroup(w.ctx, chat.Caller{User: "alice"}, "g", nil, chat.GroupChange{History: &show}, nil, 1))
		a := text("g", "bob", "x")
		a.ReplyTo = 3
		w.send(a)
	},
}
