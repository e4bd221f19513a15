package store_test

import (
	"fmt"
	"slices"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/bulk"
)

var memberTests = map[string]func(*fixture){
	"join": func(w *fixture) {
		w.group("g", nil)
		w.says("g", "alice", 3)
		m := w.join("g", "bob", "alice")
		w.equal(m, chat.Member{User: "bob", Role: chat.Ordinary, JoinedAt: chat.TimeMs(4000)})
		in := w.info("g", "bob")
		w.equal([]int64{in.Joined, in.Last, in.Members, in.Unread}, []int64{5, 5, 2, 3})
		again, added, err := w.Join(w.ctx, membership("g", "bob", "alice", chat.Ordinary))
		w.ok(err)
		w.equal([]any{again, added}, []any{m, false})
		w.equal(w.info("g", "bob").Last, int64(5))
		// The one who added was at the end and stays there.
		w.ack("g", "alice", 5)
		w.join("g", "carl", "alice")
		w.equal(w.info("g", "alice").Seen, int64(6))
	},
	"join without history": func(w *fixture) {
		w.group("g", nil, noHistory)
		w.says("g", "alice", 3)
		m := w.join("g", "bob", "alice")
		w.equal([]int64{m.Seen, m.Read}, []int64{4, 4})
		w.says("g", "alice", 1)
		in := w.info("g", "bob")
		w.equal([]int64{in.Visible(), in.Unread}, []int64{5, 1})
	},
	"join begins before what is kept": func(w *fixture) {
		w.group("g", nil, keep(2))
		w.ack("g", "alice", w.says("g", "alice", 9))
		m := w.join("g", "bob", "alice")
		w.equal(m.Seen, int64(8)) // 9 and 10 were kept
		w.equal(ids(w.entries("g")), span(9, 11))
	},
	"join refused": func(w *fixture) {
		w.group("g", []string{"bob"})
		w.group("p", []string{"bob"}, public)
		for _, c := range []struct {
			group, user, by string
			want            error
		}{
			{"g", "dora", "dora", chat.ErrNotFound}, {"none", "dora", "dora", chat.ErrNotFound},
			{"g", "dora", "eve", chat.ErrNotFound}, {"g", "dora", "bob", chat.ErrForbidden},
			{"p", "dora", "eve", chat.ErrForbidden}, {"p", "dora", "bob", chat.ErrForbidden},
		} {
			_, _, err := w.Join(w.ctx, membership(c.group, c.user, c.by, ""))
			w.fails(err, c.want)
		}
		_, _, err := w.Join(w.ctx, membership("p", "dora", "alice", chat.Owner))
		w.equal(chat.CodeOf(err), chat.CodeInvalid)
		_, err = w.Leave(w.ctx, membership("none", "alice", "alice", ""))
		w.fails(err, chat.ErrNotFound)
	},
	"join by oneself is ordinary": func(w *fixture) {
		w.group("p", nil, public)
		m, added, err := w.Join(w.ctx, membership("p", "bob", "bob", chat.Admin))
		w.ok(err)
		w.equal([]any{m.Role, added}, []any{chat.Ordinary, true})
		operator := membership("p", "carl", "root", chat.Admin)
		operator.By.Admin = true
		m, _, err = w.Join(w.ctx, operator)
		w.ok(err)
		w.equal(m.Role, chat.Admin)
	},
	"join of a full group": func(w *fixture) {
		w.with(func(l *chat.Limits) { l.GroupMembersMax = 2 })
		w.group("p", []string{"bob"}, public)
		_, _, err := w.Join(w.ctx, membership("p", "carl", "carl", ""))
		w.fails(err, chat.ErrOutOfRange)
		w.equal(w.info("p", "alice").Last, int64(2))
	},
	"role": func(w *fixture) {
		w.group("g", []string{"bob", "carl"})
		set := func(user, by string, role chat.Role) (chat.Member, bool, error) {
			return w.SetRole(w.ctx, membership("g", user, by, role))
		}
		_, _, err := set("bob", "carl", chat.Admin)
		w.fails(err, chat.ErrForbidden)
		_, _, err = set("dora", "alice", chat.Admin)
		w.fails(err, chat.ErrNotFound)
		_, _, err = set("bob", "dora", chat.Admin)
		w.fails(err, chat.ErrNotFound)
		m, changed, err := set("bob", "alice", chat.Admin)
		w.ok(err)
		w.equal([]any{m.Role, changed, w.info("g", "bob").Role}, []any{chat.Admin, true, chat.Admin})
		_, changed, err = set("bob", "alice", chat.Admin)
		w.ok(err)
		w.equal([]any{changed, w.info("g", "bob").Last}, []any{false, int64(4)})

		_, _, err = set("carl", "bob", chat.Owner)
		w.fails(err, chat.ErrForbidden)
		_, _, err = set("alice", "bob", chat.Ordinary)
		w.fails(err, chat.ErrForbidden)
		_, _, err = set("alice", "alice", chat.Admin)
		w.fails(err, chat.ErrConflict)
		_, _, err = set("carl", "alice", chat.Owner)
		w.ok(err)
		w.equal([]chat.Role{w.info("g", "carl").Role, w.info("g", "alice").Role}, []chat.Role{chat.Owner, chat.Admin})
		_, _, err = set("bob", "alice", chat.Ordinary)
		w.ok(err)
		w.equal(w.info("g", "bob").Role, chat.Ordinary)
	},
	"leave": func(w *fixture) {
		w.group("g", []string{"bob"})
		w.send(mentioning("g", "alice", "bob"))
		w.leave("g", "bob")
		in := w.info("g", "bob")
		w.equal([]any{in.Role, in.Members, in.Last}, []any{chat.Role(""), int64(1), int64(4)})
		_, err := w.Leave(w.ctx, membership("g", "bob", "bob", ""))
		w.fails(err, chat.ErrNotFound)
		// What a late ack finds is no member, and it makes none.
		_, err = w.Ack(w.ctx, "g", "bob", chat.At(4), true, "")
		w.fails(err, chat.ErrNotFound)
		w.join("g", "bob", "alice")
		w.equal(w.info("g", "bob").MentionsUnread, int64(0))
	},
	"own messages stay own over a leave": func(w *fixture) {
		w.group("g", []string{"bob"})
		w.says("g", "bob", 3)
		w.leave("g", "bob")
		w.join("g", "bob", "alice")
		w.equal(w.info("g", "bob").Unread, int64(0))
	},
	"remove": func(w *fixture) {
		w.group("g", []string{"bob", "carl", "dora"})
		_, _, err := w.SetRole(w.ctx, membership("g", "bob", "alice", chat.Admin))
		w.ok(err)
		for _, c := range []struct {
			user, by string
			want     error
		}{
			{"dora", "carl", chat.ErrForbidden}, {"alice", "bob", chat.ErrForbidden}, {"eve", "alice", chat.ErrNotFound},
			{"dora", "eve", chat.ErrNotFound},
		} {
			_, err := w.Leave(w.ctx, membership("g", c.user, c.by, ""))
			w.fails(err, c.want)
		}
		_, err = w.Leave(w.ctx, membership("g", "dora", "bob", ""))
		w.ok(err)
		w.equal(w.info("g", "dora").Role, chat.Role(""))
	},
	"succession": func(w *fixture) {
		w.group("g", []string{"bob", "carl", "dora"})
		_, _, err := w.SetRole(w.ctx, membership("g", "dora", "alice", chat.Admin))
		w.ok(err)
		before := w.info("g", "bob").Last
		w.leave("g", "alice") // the admin before the older member
		w.equal(w.info("g", "dora").Role, chat.Owner)
		w.equal(w.info("g", "bob").Last, before+2)
		e := decode(w, w.entry("g", before+2))
		w.equal([]any{e.Notice, e.User, e.Role}, []any{chat.NoticeRole, "dora", chat.Owner})
		w.leave("g", "dora") // the oldest member
		w.equal(w.info("g", "bob").Role, chat.Owner)
		w.leave("g", "bob")
		deleted, err := w.Leave(w.ctx, membership("g", "carl", "carl", ""))
		w.ok(err)
		w.equal([]any{deleted, w.info("g", "carl").Epoch}, []any{true, ""})
	},
	"several at once": func(w *fixture) {
		w.group("g", []string{"bob"}, noHistory)
		step := func(by, what string, users ...string) bulk.Change {
			return bulk.Change{Group: "g", By: chat.Caller{User: by}, Users: users, Roles: slices.Repeat([]chat.Role{chat.Ordinary}, len(users)), AtMs: 1000,
				Notice: chat.NewUsersNotice(chat.Caller{User: by}, "g", 1000, chat.Entry{Notice: what})}
		}
		_, err := w.AddMembers(w.ctx, step("bob", chat.NoticeJoined, "carl"))
		w.fails(err, chat.ErrForbidden)
		_, err = w.AddMembers(w.ctx, step("dora", chat.NoticeJoined, "carl"))
		w.fails(err, chat.ErrNotFound)
		adding := step("alice", chat.NoticeJoined, "bob", "dora", "carl", "alice")
		adding.Roles[1] = chat.Admin
		added, err := w.AddMembers(w.ctx, adding)
		w.ok(err)
		w.equal(added, bulk.Added{Epoch: w.info("g", "alice").Epoch, Start: 2, Last: 3, Had: []chat.Role{chat.Ordinary, "", "", chat.Owner}})
		e := decode(w, w.entry("g", 3))
		w.equal([]any{e.Notice, e.User, e.Users, e.From}, []any{chat.NoticeJoined, "", []string{"dora", "carl"}, "alice"})
		for user, role := range map[string]chat.Role{"carl": chat.Ordinary, "dora": chat.Admin} {
			in := w.info("g", user)
			w.equal([]any{in.Role, in.Joined, in.Seen, in.Read, in.Visible()}, []any{role, int64(3), int64(2), int64(2), int64(3)})
		}
		var all []string
		for after := ""; ; { // carl and dora joined with the same notice
			page, next, err := w.Members(w.ctx, "g", "bob", after, 1)
			w.ok(err)
			for _, m := range page {
				all = append(all, m.User)
			}
			if after = next; next == "" {
				break
			}
		}
		w.equal(all, []string{"alice", "bob", "carl", "dora"})
		added, err = w.AddMembers(w.ctx, adding)
		w.ok(err)
		w.equal([]any{added.Last, w.info("g", "alice").Last}, []any{int64(0), int64(3)})

		_, _, err = w.RemoveMembers(w.ctx, step("bob", chat.NoticeRemoved, "carl"))
		w.fails(err, chat.ErrForbidden)
		removed, left, err := w.RemoveMembers(w.ctx, step("dora", chat.NoticeRemoved, "carl", "nobody", "alice", "bob"))
		w.ok(err)
		w.equal([]any{removed, left}, []any{[]string{"carl", "bob"}, []string{"alice"}})
		e = decode(w, w.entry("g", 4))
		w.equal([]any{e.Notice, e.Users, e.From}, []any{chat.NoticeRemoved, []string{"carl", "bob"}, "dora"})
		w.equal([]any{w.info("g", "bob").Role, w.info("g", "carl").Role, w.info("g", "alice").Group.Members}, []any{chat.Role(""), chat.Role(""), int64(2)})
		removed, left, err = w.RemoveMembers(w.ctx, step("dora", chat.NoticeRemoved, "carl", "bob"))
		w.ok(err)
		w.equal([]any{len(removed), len(left), w.info("g", "alice").Last}, []any{0, 0, int64(4)})
		step1 := step("alice", chat.NoticeRemoved, "dora")
		removed, _, err = w.RemoveMembers(w.ctx, step1)
		w.ok(err)
		w.equal(removed, []string{"dora"})
		w.equal(decode(w, w.entry("g", 5)).User, "dora") // one alone is named as always
	},
	"members": func(w *fixture) {
		var want []string
		for i := range 25 {
			want = append(want, fmt.Sprintf("u%02d", i))
		}
		w.group("g", want, public)
		want = append([]string{"alice"}, want...)
		var got []string
		for after := ""; ; {
			page, next, err := w.Members(w.ctx, "g", "u03", after, 10)
			w.ok(err)
			for _, m := range page {
				got = append(got, m.User)
			}
			if after = next; next == "" {
				break
			}
		}
		w.equal(got, want)
		page, next, err := w.Members(w.ctx, "g", "u03", "", len(want)) // the page is full, and there is no other
		w.ok(err)
		w.equal([]any{len(page), next}, []any{len(want), ""})
		page, _, err = w.Members(w.ctx, "g", "", "", 1) // an operator
		w.ok(err)
		w.equal(page[0].User, "alice")
		_, _, err = w.Members(w.ctx, "none", "", "", 10)
		w.fails(err, chat.ErrNotFound)
		_, _, err = w.Members(w.ctx, "g", "dora", "", 10)
		w.fails(err, chat.ErrForbidden)
		_, _, err = w.Members(w.ctx, "none", "dora", "", 10)
		w.fails(err, chat.ErrNotFound)
	},
}
