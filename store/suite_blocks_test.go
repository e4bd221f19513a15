package store_test

import (
	"fmt"
	"slices"

	"github.com/chatd/chatd/chat"
)

// blocks has user block another, and their direct group know it.
func (w *fixture) blocks(user, other string, yes bool) {
	w.Helper()
	if yes {
		_, _, err := w.PutBlock(w.ctx, user, other)
		w.ok(err)
	} else {
		w.ok(w.DropBlock(w.ctx, user, other))
	}
	w.ok(w.MirrorBlock(w.ctx, chat.DirectID(user, other), other, yes))
}

// directly is what bob writes to alice.
func directly(system bool) chat.NewItem {
	i := item("alice", "bob", "x")
	i.Author, i.System, i.ToStrangers = "bob", system, true
	return i
}

// directGroup is that of alice and bob.
func directGroup(g *chat.NewGroup) { g.Direct = []string{"alice", "bob"} }

var blockTests = map[string]func(*fixture){
	"the list, newest first": func(w *fixture) {
		w.with(func(l *chat.Limits) { l.UserBlocksMax = 3 })
		for _, user := range []string{"bob", "carl", "dora"} {
			w.blocks("alice", user, true)
		}
		all, err := w.BlocksOf(w.ctx, "alice", 0, 10)
		w.ok(err)
		w.equal([]string{all[0].User, all[1].User, all[2].User}, []string{"dora", "carl", "bob"})
		rest, err := w.BlocksOf(w.ctx, "alice", all[0].CreatedAt.UnixMilli(), 1)
		w.ok(err)
		w.equal(rest, all[1:2])
		again, created, err := w.PutBlock(w.ctx, "alice", "bob")
		w.ok(err)
		w.equal([]any{again, created}, []any{all[2], false})
		_, _, err = w.PutBlock(w.ctx, "alice", "eve")
		w.fails(err, &chat.Error{Code: chat.CodeQuotaFull})
		w.blocks("alice", "carl", false)
		w.blocks("alice", "eve", true)
		since, err := w.Blocking(w.ctx, "alice", []string{"bob", "carl"})
		w.ok(err)
		w.equal(since, []int64{all[2].CreatedAt.UnixMilli(), 0})
	},
	"nothing of the blocked gets into an inbox": func(w *fixture) {
		keyed := directly(false)
		keyed.Key, keyed.Content = "k", "c"
		first := w.put(keyed)
		w.blocks("alice", "bob", true)
		_, _, _, err := w.InboxAppend(w.ctx, directly(false))
		w.fails(err, chat.ErrBlocked)
		w.equal(w.put(keyed), first) // a repeat gets its first answer
		w.put(directly(true))        // a mention, say
		w.equal(w.inbox("alice", after(0), 10).Last, first)
		other := directly(false)
		other.From, other.Author = "carl", "carl"
		w.equal(w.put(other), first+1)
		w.blocks("alice", "bob", false)
		w.equal(w.put(directly(false)), first+2)
	},
	"nothing of the blocked gets into a direct group": func(w *fixture) {
		id := chat.DirectID("alice", "bob")
		w.blocks("alice", "bob", true) // before the group is there
		w.group(id, []string{"bob"}, directGroup)
		w.equal(w.refused(text(id, "bob", "x")).Code, chat.CodeBlocked)
		target := w.say(id, "alice", "x")
		reacts := reaction("bob", target, ":a:", false)
		reacts.Group = id
		w.equal(w.refused(reacts).Code, chat.CodeBlocked)
		w.equal([]any{w.info(id, "bob").Blocked, w.info(id, "bob").MutedUntil, w.info(id, "alice").Blocked}, []any{true, (*chat.Time)(nil), false})
		members, _, err := w.Members(w.ctx, id, "alice", "", 10)
		w.ok(err)
		w.equal(slices.ContainsFunc(members, func(m chat.Member) bool { return m.MutedUntil != nil }), false)
		w.blocks("alice", "bob", false)
		w.say(id, "bob", "y")
	},
	"a group at the hands of the blocked is not listed": func(w *fixture) {
		w.blocks("alice", "bob", true)
		found, err := w.Indexed(w.ctx, "bob", "g", []string{"alice", "carl"})
		w.ok(err)
		w.equal([]bool{found[0].Blocks, found[1].Blocks}, []bool{true, false})
		w.fails(w.AddUserGroups(w.ctx, []string{"alice", "carl"}, chat.UserGroup{Group: "g", Invited: true, By: "bob"}), chat.ErrBlocked)
		for user, want := range map[string]int{"alice": 0, "carl": 1} {
			groups, err := w.UserGroups(w.ctx, user)
			w.ok(err)
			w.equal([]any{user, len(groups)}, []any{user, want})
		}
		w.ok(w.AddUserGroups(w.ctx, []string{"alice"}, chat.UserGroup{Group: "g"}))
		w.ok(w.AddUserGroups(w.ctx, []string{"alice"}, chat.UserGroup{Group: "g", By: "bob"})) // it is there
	},
	// Whatever the blocked do at the same time, nothing of theirs comes after the answer.
	"races of blocks": func(w *fixture) {
		id := chat.DirectID("alice", "bob")
		w.group(id, []string{"bob"}, directGroup)
		w.ok(w.Know(w.ctx, "alice"))
		for n := range 250 {
			sent := make(chan error, 2)
			go func() {
				_, err := w.Append(w.ctx, text(id, "bob", fmt.Sprint(n)))
				sent <- err
			}()
			go func() {
				_, _, _, err := w.InboxAppend(w.ctx, directly(false))
				sent <- err
			}()
			w.blocks("alice", "bob", true)
			last, items := w.info(id, "alice").Last, w.inbox("alice", after(0), 1).Last
			for range 2 {
				if err := <-sent; err != nil {
					w.fails(err, chat.ErrBlocked)
				}
			}
			w.equal([]int64{w.info(id, "alice").Last, w.inbox("alice", after(0), 1).Last}, []int64{last, items})
			w.blocks("alice", "bob", false)
		}
	},
}
