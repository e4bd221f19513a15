package store_test

import (
	"errors"
	"fmt"

	"github.com/chatd/chatd/chat"
)

var trimTests = map[string]func(*fixture){
	"what all have seen goes, except for keep": func(w *fixture) {
		w.group("g", []string{"bob"}, keep(3))
		w.says("g", "alice", 10) // 3..12
		w.ack("g", "alice", 12)
		w.equal(w.kept("g"), span(1, 12))
		w.ack("g", "bob", 7)
		w.equal(w.kept("g"), span(8, 12))
		w.ack("g", "bob", 12)
		w.equal(w.kept("g"), span(10, 12))
		w.equal(w.info("g", "bob").Held, int64(10))
	},
	"keep of nothing": func(w *fixture) {
		w.group("g", nil, keep(0))
		w.says("g", "alice", 5)
		w.ack("g", "alice", 6)
		in := w.info("g", "alice")
		w.equal([]int64{int64(len(w.kept("g"))), in.Held, in.Last}, []int64{0, 7, 6})
		w.equal(w.say("g", "alice", "x"), int64(7))
	},
	"who leaves holds nothing back": func(w *fixture) {
		w.group("g", []string{"bob"}, keep(2))
		w.ack("g", "alice", w.says("g", "alice", 10))
		w.equal(len(w.kept("g")), 12)
		w.leave("g", "bob") // 13
		w.equal(w.kept("g"), span(13-1, 13))
	},
	"who is too far behind holds nothing back": func(w *fixture) {
		w.group("g", []string{"bob"}, keep(2), backlog(10))
		last := w.says("g", "alice", 8) // 10: bob, at 0, is just as far behind as one may be
		w.ack("g", "alice", last)
		w.equal(len(w.kept("g")), 10)
		last = w.says("g", "alice", 10) // 20
		w.ack("g", "alice", last)
		w.equal(w.kept("g"), span(19, 20))
		w.equal(w.pull("bob", chat.Pull{Group: "g", Limit: 5}).Info.Held, int64(19))
	},
	"who is too far behind blocks a group": func(w *fixture) {
		w.group("g", []string{"bob", "carl"}, keep(0), blocking(10))
		last := w.says("g", "alice", 7) // 10: bob and carl, at 0, are as far behind as one may be
		_, err := w.Append(w.ctx, text("g", "alice", "refused"))
		w.fails(err, chat.ErrBacklogFull)
		var refused *chat.Error
		if errors.As(err, &refused) {
			w.equal(refused.Blockers, []chat.Blocker{{User: "bob", Behind: 10}, {User: "carl", Behind: 10}})
			w.equal(refused.RetryAfter > 0, true)
		}
		// Nobody is passed by, also where something else than a send makes the log grow.
		w.join("g", "dora", "alice") // 11
		last++
		w.ack("g", "alice", last)
		w.ack("g", "dora", last)
		w.equal(w.kept("g"), span(1, last))
		w.ack("g", "carl", last)
		// A sender is not waited for: bob may send, who is the one that is behind.
		w.equal(w.say("g", "bob", "mine"), last+1)
		_, err = w.Append(w.ctx, text("g", "carl", "refused"))
		w.fails(err, chat.ErrBacklogFull)
		w.ack("g", "bob", 5)
		w.equal(w.kept("g"), span(6, last+1))
		w.equal(w.say("g", "carl", "sent"), last+2)
		w.leave("g", "bob") // 14
		w.ack("g", "carl", last+3)
		w.ack("g", "dora", last+3)
		w.equal(w.kept("g"), span(last+1, last+3)) // alice has not seen these
	},
	"a known send is answered while the group is blocked": func(w *fixture) {
		w.group("g", []string{"bob"}, blocking(3))
		a := text("g", "alice", "once")
		a.Key, a.Content = "key", "content"
		first := w.send(a)
		_, err := w.Append(w.ctx, text("g", "alice", "refused"))
		w.fails(err, chat.ErrBacklogFull)
		again := w.send(a)
		w.equal([]any{again.ID, again.Duplicate}, []any{first.ID, true})
	},
	"who holds back trimming": func(w *fixture) {
		alice, root := chat.Caller{User: "alice"}, chat.Caller{User: "root", Admin: true}
		for group, overflow := range map[string]func(*chat.NewGroup){"g": blocking(20), "h": backlog(20)} {
			w.group(group, []string{"bob", "carl"}, keep(2), overflow)
			w.says(group, "alice", 7) // 10
			w.ack(group, "carl", 5)
			w.ack(group, "alice", 8)
			for _, by := range []chat.Caller{alice, root} {
				got, err := w.Blockers(w.ctx, by, group)
				w.ok(err)
				w.equal(len(got), 2)
				w.equal([]any{got[0].User, got[0].Behind, got[1].User, got[1].Behind}, []any{"bob", int64(10), "carl", int64(5)})
				w.equal(*got[1].Since, chat.TimeMs(3000))
			}
			_, err := w.Blockers(w.ctx, chat.Caller{User: "bob"}, group)
			w.fails(err, chat.ErrForbidden)
			_, err = w.Blockers(w.ctx, chat.Caller{User: "nobody"}, group)
			w.fails(err, chat.ErrNotFound)
		}
		w.says("h", "alice", 15) // bob is passed by, and holds back nothing any more
		got, err := w.Blockers(w.ctx, alice, "h")
		w.ok(err)
		w.equal([]any{len(got), got[0].User, got[0].Behind}, []any{1, "carl", int64(20)})
		_, err = w.Blockers(w.ctx, root, "none")
		w.fails(err, chat.ErrNotFound)
	},
	"who has a send refused is listed, whatever is kept": func(w *fixture) {
		w.group("g", []string{"bob", "carl"}, keep(100), blocking(20))
		w.says("g", "alice", 17) // 20
		w.ack("g", "carl", 10)
		_, err := w.Append(w.ctx, text("g", "alice", "refused"))
		w.fails(err, chat.ErrBacklogFull)
		listed := func(by chat.Caller) (users []string) {
			got, err := w.Blockers(w.ctx, by, "g")
			w.ok(err)
			for _, b := range got {
				users = append(users, b.User)
			}
			return users
		}
		w.equal(listed(chat.Caller{User: "alice"}), []string{"bob"}) // alice has not acked either, but does not wait for herself
		w.equal(listed(chat.Caller{User: "root", Admin: true}), []string{"alice", "bob"})
		w.ack("g", "bob", 1)
		w.equal(len(listed(chat.Caller{User: "alice"})), 0)
	},
	"sleepers do not let a group grow": func(w *fixture) {
		w.group("g", []string{"bob", "carl"}, keep(2), backlog(30))
		w.says("g", "alice", 4*64)
		if n := len(w.kept("g")); n > 30+64 {
			w.Fatalf("got %d messages, want at most backlog_max and what comes between two trims", n)
		}
	},
	"whatever the entries are a group does not grow": func(w *fixture) {
		bounded := func(group string) {
			w.Helper()
			if n := len(w.kept(group)); n > 30+64 {
				w.Fatalf("got %d messages of %d, want at most backlog_max and what comes between two trims", n, w.info(group, "bob").Last)
			}
		}
		w.group("g", []string{"bob"}, keep(2), backlog(30)) // 2 entries: each even one is an edit now
		for range 130 {
			id := w.say("g", "alice", "x")
			a, changes := revision(w, chat.Edit, "alice", id)
			_, err := w.Revise(w.ctx, a, changes, false)
			w.ok(err)
		}
		bounded("g")
		w.group("h", []string{"bob"}, keep(2), backlog(30))
		for i := range 200 {
			role := chat.Admin
			if i%2 == 1 {
				role = chat.Ordinary
			}
			_, _, err := w.SetRole(w.ctx, membership("h", "bob", "alice", role))
			w.ok(err)
		}
		bounded("h")
		w.group("j", []string{"bob"}, public, keep(2), backlog(30))
		for i := range 200 {
			w.join("j", fmt.Sprintf("u%d", i), "alice")
		}
		bounded("j")
	},
	"in steps": func(w *fixture) {
		w.group("g", []string{"bob"}, keep(10))
		last := w.says("g", "alice", 1300)
		w.ack("g", "alice", last)
		w.ack("g", "bob", last)
		w.equal(int64(len(w.kept("g"))), last-500)
		more, err := w.Trim(w.ctx, "g")
		w.ok(err)
		w.equal([]any{more, int64(len(w.kept("g")))}, []any{true, last - 1000})
		more, err = w.Trim(w.ctx, "g")
		w.ok(err)
		w.equal([]any{more, int64(len(w.kept("g")))}, []any{false, int64(10)})
		more, err = w.Trim(w.ctx, "none")
		w.ok(err)
		w.equal(more, false)
	},
	"lowering keep": func(w *fixture) {
		w.group("g", nil, keep(100))
		w.ack("g", "alice", w.says("g", "alice", 50))
		few := int64(5)
		w.ok(w.UpdateGroup(w.ctx, chat.Caller{User: "alice"}, "g", nil, chat.GroupChange{Keep: &few}, nil, 1))
		w.equal(len(w.kept("g")), 5)
	},
	"many reactions go in steps": func(w *fixture) {
		w.group("g", nil, keep(0))
		first := w.says("g", "alice", 26) - 25
		for i := range int64(26) {
			for emoji := range 20 {
				w.send(reaction("alice", first+i, fmt.Sprint(emoji), false))
			}
		}
		w.ack("g", "alice", w.info("g", "alice").Last)
		for more := true; more; {
			var err error
			more, err = w.Trim(w.ctx, "g")
			w.ok(err)
		}
		counts, err := w.Reactions(w.ctx, "g", "alice", 0, 1000)
		w.ok(err)
		w.equal([]int{len(w.kept("g")), len(counts)}, []int{0, 0})
		w.equal(w.sizes(w.groupKey("g", "reactions"), w.groupKey("g", "reacted")), []int64{0, 0})
	},
	"reactions go with their message": func(w *fixture) {
		w.group("g", nil, keep(0))
		w.say("g", "alice", "x")
		w.send(reaction("alice", 2, "a", false))
		w.send(reaction("alice", 2, "b", false))
		last := w.send(reaction("alice", 2, "b", true)).ID
		w.equal(w.sizes(w.groupKey("g", "reactions"), w.groupKey("g", "reacted")), []int64{1, 3})
		w.ack("g", "alice", last)
		w.equal(w.sizes(w.groupKey("g", "reactions"), w.groupKey("g", "reacted")), []int64{0, 0})
		counts, err := w.Reactions(w.ctx, "g", "alice", 0, 100)
		w.ok(err)
		w.equal(len(counts), 0)
		_, err = w.Append(w.ctx, reaction("alice", 2, "b", false))
		w.fails(err, chat.ErrNotFound)
	},
}
