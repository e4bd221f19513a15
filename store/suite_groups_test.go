package store_test

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/chatd/chatd/chat"
)

var groupTests = map[string]func(*fixture){
	"create": func(w *fixture) {
		g := newGroup("g", []string{"bob", "carl"}, public)
		w.ok(w.CreateGroup(w.ctx, g))
		in := w.info("g", "bob")
		want := chat.Info{Group: g.Group, Role: chat.Ordinary, Joined: 2, ActiveMs: 1000, LastMark: g.Notices[1].Mark}
		want.First, want.Held, want.Last, want.Group.Members, want.Join, want.Pins = 1, 1, 2, 3, chat.JoinOpen, chat.PinManagers
		want.Receipts = chat.ReceiptsOptional
		w.equal(in, want)
		w.equal(w.info("g", "alice").Role, chat.Owner)
		w.equal(w.info("g", "dora").Role, chat.Role(""))
		w.equal(ids(w.entries("g")), span(1, 2))
		w.equal(w.entry("g", 2).Mark, g.Notices[1].Mark)
	},
	"create without history begins at the notice": func(w *fixture) {
		w.group("g", []string{"bob"}, noHistory)
		in := w.info("g", "bob")
		w.equal([]int64{in.Seen, in.Read, in.Visible()}, []int64{1, 1, 2})
		w.equal(w.info("g", "alice").Seen, int64(0))
	},
	"create a direct group": func(w *fixture) {
		g := newGroup(chat.DirectID("alice", "bob"), []string{"bob"})
		g.Direct = []string{"alice", "bob"}
		w.ok(w.CreateGroup(w.ctx, g))
		other := g
		other.CreatedBy, other.Members, other.Epoch = "bob", []string{"alice"}, "other"
		w.ok(w.CreateGroup(w.ctx, other))
		for _, user := range g.Direct {
			in := w.info(g.ID, user)
			w.equal(in.Direct, g.Direct)
			w.equal(in.Role, chat.Ordinary)
			w.equal(in.Epoch, g.Epoch)
		}
		w.equal(len(w.info(g.ID, "carl").Direct), 2)
		other.Direct = []string{"alice", "carl"}
		w.fails(w.CreateGroup(w.ctx, other), chat.ErrExists)
	},
	"create twice": func(w *fixture) {
		g := newGroup("g", nil)
		w.ok(w.CreateGroup(w.ctx, g))
		w.fails(w.CreateGroup(w.ctx, g), chat.ErrExists)
		keyed := newGroup("h", nil)
		keyed.Key = "key"
		w.ok(w.CreateGroup(w.ctx, keyed))
		w.ok(w.CreateGroup(w.ctx, keyed))
		w.equal(w.info("h", "alice").Last, int64(1))
		keyed.CreatedBy = "bob"
		w.fails(w.CreateGroup(w.ctx, keyed), chat.ErrExists)
	},
	"infos": func(w *fixture) {
		var names []string
		for i := range 300 {
			names = append(names, fmt.Sprintf("g%d", i))
			w.group(names[i], nil)
		}
		names = append(names, "none")
		infos, err := w.Infos(w.ctx, "alice", names)
		w.ok(err)
		for i, in := range infos {
			w.equal(in.ID, names[i])
			w.equal(in.Epoch != "", names[i] != "none")
		}
	},
	"standings": func(w *fixture) {
		w.group("g", []string{"bob"}, public)
		w.group("h", []string{"bob", "dora"}, noHistory)
		w.says("g", "alice", 3) // 3..5
		w.ack("g", "bob", 4)
		w.poke("HSET", w.groupKey("g", "meta"), "archived_from", 1, "late", 5, "changed", 6)
		w.poke("ZADD", w.groupKey("g", "seen"), 2, "$archive")
		groups := []string{"g", "none", "h"}
		users := []string{"alice", "bob", "carl", "dora"}
		for i, got := range w.standings(users, groups) {
			infos, err := w.Infos(w.ctx, users[i], groups)
			w.ok(err)
			w.equal(got, uncounted(infos))
		}
	},
	"standings of many at once": func(w *fixture) {
		var users []string
		for i := range 450 {
			users = append(users, fmt.Sprint("u", i))
		}
		w.group("g", users, noHistory)
		for i, got := range w.standings(users, []string{"g"}) {
			w.equal(got[0].Joined, w.info("g", users[i]).Joined)
		}
	},
	"what is archived can be read": func(w *fixture) {
		w.group("g", []string{"bob"}, keep(2), public)
		w.says("g", "alice", 6) // 3..8
		w.ack("g", "alice", 8)
		w.ack("g", "bob", 8)
		span := func(in chat.Info) []int64 {
			return []int64{in.First, in.Held, in.Last, in.Archived, in.Late, in.Changed}
		}
		w.equal(span(w.info("g", "bob")), []int64{7, 7, 8, 0, 0, 0})
		w.poke("HSET", w.groupKey("g", "meta"), "archived_from", 3, "late", 5, "changed", 6)
		w.equal(span(w.info("g", "bob")), []int64{7, 7, 8, 0, 5, 6}) // nothing reads the log for an archive
		w.poke("ZADD", w.groupKey("g", "seen"), 7, "$archive")
		for _, user := range []string{"bob", "carl"} {
			in := w.info("g", user)
			w.equal(append(span(in), in.Group.Members), []int64{3, 7, 8, 7, 5, 6, 2})
		}
		w.equal(w.pull("bob", chat.Pull{Group: "g", Limit: 5}).Info.Role, chat.Ordinary)
		in := w.info("g", "bob")
		w.equal([]int64{in.Joined, in.Seen, in.Unread, in.Visible()}, []int64{2, 8, 6, 3})
		w.join("g", "dora", "alice") // a new member begins at what is stored
		w.equal(w.info("g", "dora").Seen, int64(6))
	},
	"update": func(w *fixture) {
		w.group("g", []string{"bob"})
		name, visibility, history, post, keep, backlog := "new", chat.Public, false, chat.PostAdmins, int64(7), int64(50)
		overflow, backlogBytes := chat.OverflowBlock, int64(1<<20)
		change := chat.GroupChange{Name: &name, Visibility: &visibility, History: &history, Post: &post, Keep: &keep,
			BacklogMax: &backlog, Overflow: &overflow, BacklogBytes: &backlogBytes}
		notices := []chat.NoticeEntry{noticeEntry("g", "alice", chat.NoticeRenamed, ""),
			noticeEntry("g", "alice", chat.NoticeSettings, "")}
		alice := chat.Caller{User: "alice"}
		w.fails(w.UpdateGroup(w.ctx, chat.Caller{User: "bob"}, "g", nil, change, notices, 5000), chat.ErrForbidden)
		w.fails(w.UpdateGroup(w.ctx, chat.Caller{User: "dora"}, "g", nil, change, notices, 5000), chat.ErrNotFound)
		w.fails(w.UpdateGroup(w.ctx, alice, "none", nil, change, notices, 5000), chat.ErrNotFound)
		w.equal(w.info("g", "alice").Last, int64(2))
		w.ok(w.UpdateGroup(w.ctx, alice, "g", nil, change, notices, 5000))
		in := w.info("g", "alice")
		w.equal([]any{in.Name, in.Visibility, in.History, in.Post, in.Keep, in.BacklogMax, in.Overflow, in.BacklogBytes, in.Last},
			[]any{name, visibility, history, post, keep, backlog, overflow, backlogBytes, int64(4)})
		// A repeat changes nothing, so it tells nothing.
		w.ok(w.UpdateGroup(w.ctx, alice, "g", nil, change, notices, 6000))
		w.equal(w.info("g", "alice").Last, int64(4))
		w.fails(w.UpdateGroup(w.ctx, chat.Caller{User: "dora"}, "g", nil, change, notices, 5000), chat.ErrForbidden)
		keep = 5
		w.ok(w.UpdateGroup(w.ctx, chat.Caller{User: "root", Admin: true}, "g", nil, chat.GroupChange{Keep: &keep}, nil, 6000))
		w.equal(w.info("g", "alice").Keep, int64(5))
	},
	"delete": func(w *fixture) {
		w.group("g", []string{"bob"}, public)
		w.send(mentioning("g", "bob", "alice"))
		epoch := w.info("g", "alice").Epoch
		w.fails(w.DeleteGroup(w.ctx, chat.Caller{User: "bob"}, "g", nil), chat.ErrForbidden)
		w.fails(w.DeleteGroup(w.ctx, chat.Caller{User: "dora"}, "g", nil), chat.ErrForbidden)
		w.ok(w.DeleteGroup(w.ctx, chat.Caller{User: "alice"}, "g", nil))
		w.fails(w.DeleteGroup(w.ctx, chat.Caller{User: "alice"}, "g", nil), chat.ErrNotFound)
		w.equal(w.info("g", "alice"), chat.Info{Group: chat.Group{ID: "g"}})
		w.equal(w.entries("g"), []chat.Message{})
		page, _, err := w.PublicGroups(w.ctx, chat.Caller{}, "", 10)
		w.ok(err)
		w.equal(page, []string{})

		for range 2 { // who dies before the cleanup loses nobody
			users, err := w.Gone(w.ctx, "g")
			w.ok(err)
			w.equal(users, []string{"alice", "bob"})
		}
		for range 2 { // and who dies after it has lost nothing
			more, err := w.Groups.Cleanup(w.ctx, "g", []string{"alice", "bob"})
			w.ok(err)
			w.equal(more, false)
		}
		users, err := w.Gone(w.ctx, "g")
		w.ok(err)
		w.equal(len(users), 0)

		w.group("g", []string{"bob"})
		in := w.info("g", "bob")
		w.equal([]any{in.Epoch == epoch, in.Last, in.Unread, in.MentionsUnread}, []any{false, int64(2), int64(0), int64(0)})
	},
	"create again before the cleanup": func(w *fixture) {
		w.group("g", []string{"bob"})
		a := text("g", "bob", "hi")
		a.Key, a.Content = "k", "c"
		w.send(a)
		w.ok(w.DeleteGroup(w.ctx, chat.Caller{User: "alice"}, "g", nil))
		w.fails(w.CreateGroup(w.ctx, newGroup("g", nil)), chat.ErrGone)
		more, err := w.Groups.Cleanup(w.ctx, "g", []string{"alice"})
		w.ok(err)
		w.equal(more, true)
		w.fails(w.CreateGroup(w.ctx, newGroup("g", nil)), chat.ErrGone)
		more, err = w.Groups.Cleanup(w.ctx, "g", []string{"bob", "never"})
		w.ok(err)
		w.equal(more, false)
		w.group("g", []string{"bob"})
		again := w.send(a)
		w.equal([]any{again.Duplicate, again.ID}, []any{false, int64(3)})
		w.equal(w.info("g", "bob").Unread, int64(0))
		w.equal(w.info("g", "alice").Unread, int64(1))
		// A cleanup of the earlier group that comes late takes nothing of this one.
		_, err = w.Groups.Cleanup(w.ctx, "g", []string{"alice", "bob"})
		w.ok(err)
		w.equal(w.send(a).Duplicate, true)
		w.equal(w.info("g", "bob").Unread, int64(0))
	},
	"a creation of many takes steps": func(w *fixture) {
		var many []string
		for i := range 600 {
			many = append(many, fmt.Sprintf("u%d", i))
		}
		g := newGroup("g", many, noHistory)
		w.ok(w.CreateGroup(w.ctx, g))
		first := w.info("g", "alice").Group.Members
		users := w.invited("g")
		w.equal([]any{first < 601, len(users) > 0}, []any{true, true})
		w.fails(w.Invite(w.ctx, "g", "another life", 1, nil, chat.UsersNotice{}), chat.ErrNotFound)
		w.invite("g", g.Epoch, append(users, "stranger", "alice", "u0"))
		w.invite("g", g.Epoch, users)
		w.equal(w.info("g", "alice").Group.Members, first+int64(len(users)))
		late := w.info("g", users[0])
		w.equal([]any{late.Role, late.Seen, late.Joined}, []any{chat.Ordinary, int64(3), int64(4)})
		w.equal(ids(w.entries("g")), span(1, 4)) // created, and three notices of 100 each
		e := decode(w, w.entry("g", 4))
		w.equal([]any{e.Notice, e.User, e.Users}, []any{chat.NoticeJoined, "", users})
		w.ok(w.DeleteGroup(w.ctx, chat.Caller{User: "alice"}, "g", nil))
		w.equal(len(w.invited("g")), 0)
	},
	"cleanup of many": func(w *fixture) {
		var many []string
		for i := range 700 {
			many = append(many, fmt.Sprintf("u%d", i))
		}
		w.group("g", many)
		w.ok(w.DeleteGroup(w.ctx, chat.Caller{User: "alice"}, "g", nil))
		var all []string
		for more := true; more; {
			users, err := w.Gone(w.ctx, "g")
			w.ok(err)
			if len(users) > 500 {
				w.Fatalf("got %d users in a step, want at most 500", len(users))
			}
			more, err = w.Groups.Cleanup(w.ctx, "g", users)
			w.ok(err)
			all = append(all, users...)
		}
		slices.Sort(all)
		w.equal(len(slices.Compact(all)), 701)
	},
	"public groups": func(w *fixture) {
		names := []string{"b", "a", "c", "a", "ä", "", "a\x00b"}
		var want []string
		for i, name := range names {
			id := fmt.Sprintf("g%d", i)
			w.group(id, nil, public, func(g *chat.NewGroup) { g.Name = name })
			want = append(want, name+"\x00"+id)
		}
		w.group("hidden", nil)
		slices.Sort(want)
		var got []string
		for after, page := "", []string(nil); ; {
			var err error
			page, after, err = w.PublicGroups(w.ctx, chat.Caller{}, after, 2)
			w.ok(err)
			for _, id := range page {
				got = append(got, w.info(id, "x").Name+"\x00"+id)
			}
			if after == "" {
				break
			}
		}
		w.equal(got, want)
		some := chat.Caller{Reach: only{"g1", "g4", "g5"}} // two names of which one is shown first
		for _, limit := range []int{1, 2, 3, 10} {
			var reached []string
			for after, more := "", true; more; more = after != "" {
				page, next, err := w.PublicGroups(w.ctx, some, after, limit)
				w.ok(err)
				if next != "" {
					w.equal(len(page), limit)
				}
				reached, after = append(reached, page...), next
			}
			w.equal(reached, []string{"g5", "g1", "g4"})
		}
		_, _, err := w.PublicGroups(w.ctx, chat.Caller{}, "no cursor!", 2)
		w.equal(chat.CodeOf(err), chat.CodeInvalid)
		private := chat.Private
		w.ok(w.UpdateGroup(w.ctx, chat.Caller{User: "alice"}, "g0", nil, chat.GroupChange{Visibility: &private}, nil, 1))
		page, _, err := w.PublicGroups(w.ctx, chat.Caller{}, "", 100)
		w.ok(err)
		w.equal(slices.Contains(page, "g0"), false)
	},
}

// only reaches some groups.
type only []string

func (o only) InGroup(group string) bool { return slices.Contains(o, group) }

// standings reads those of users at the same time, so that some reads are joined.
func (w *fixture) standings(users, groups []string) [][]chat.Info {
	w.Helper()
	all, errs := make([][]chat.Info, len(users)), make([]error, len(users))
	var done sync.WaitGroup
	for i, user := range users {
		done.Go(func() { all[i], errs[i] = w.Standings(w.ctx, user, groups) })
	}
	done.Wait()
	w.ok(errors.Join(errs...))
	return all
}

// uncounted is what a standing has of infos.
func uncounted(infos []chat.Info) []chat.Info {
	for i, in := range infos {
		few := chat.Info{Group: chat.Group{ID: in.ID, Epoch: in.Epoch, Visibility: in.Visibility, History: in.History}}
		few.Role, few.Joined, few.Seen, few.Read, few.LastMark, few.Trimmed = in.Role, in.Joined, in.Seen, in.Read, in.LastMark, in.Trimmed
		few.First, few.Last, few.Held, few.Archived, few.Late, few.Changed = in.First, in.Last, in.Held, in.Archived, in.Late, in.Changed
		few.Group.Members = in.Group.Members
		if in.History {
			few.Joined = 0
		}
		infos[i] = few
	}
	return infos
}
