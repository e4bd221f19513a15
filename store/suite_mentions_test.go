package store_test

import (
	"fmt"

	"github.com/chatd/chatd/chat"
)

var mentionTests = map[string]func(*fixture){
	"counted once, and not for the sender": testMentionsOfAll,
	"who may":                              testMayMentionAll,
	"deleted":                              testMentionsOfAllDeleted,
	"many":                                 testManyMentionsOfAll,
	"members come and go":                  testMentionsOfAllAndMembers,
	"marked unread":                        testMentionsOfAllMarkedUnread,
}

// mentionsUnread reads how many unread messages mention each of some members.
func (w *fixture) mentionsUnread(group string, users ...string) []int64 {
	w.Helper()
	counts := make([]int64, len(users))
	for i, user := range users {
		counts[i] = w.info(group, user).MentionsUnread
	}
	return counts
}

func (w *fixture) mayMentionAll(group string, who chat.Mentioning) {
	w.Helper()
	w.ok(w.UpdateGroup(w.ctx, chat.Caller{User: "alice"}, group, nil, chat.GroupChange{MentionAll: &who}, nil, 1))
	w.equal(w.info(group, "alice").MentionAll, who)
}

func testMentionsOfAll(w *fixture) {
	w.group("g", []string{"bob", "carl"})
	unread := func() []int64 { w.Helper(); return w.mentionsUnread("g", "alice", "bob", "carl") }
	w.equal(w.info("g", "bob").MentionAll, chat.MentionManagers)
	w.send(mentioning("g", "alice", "bob", chat.MentionAll, "alice"))
	w.equal(unread(), []int64{0, 1, 1})
	w.mayMentionAll("g", chat.MentionMembers)
	w.send(mentioning("g", "bob", chat.MentionAll))
	w.send(mentioning("g", "carl", "bob"))
	w.equal(unread(), []int64{1, 2, 2})
	w.markRead("g", "bob", w.info("g", "bob").Last-1)
	w.markRead("g", "carl", w.info("g", "carl").Last-2)
	w.equal(unread(), []int64{1, 1, 1})
	w.send(mentioning("g", "bob", chat.MentionAll))
	w.equal(unread(), []int64{2, 1, 2})
	for _, user := range []string{"alice", "bob", "carl"} {
		w.markRead("g", user, w.info("g", user).Last)
	}
	w.equal(unread(), []int64{0, 0, 0})
}

func testMayMentionAll(w *fixture) {
	w.group("g", []string{"bob"})
	all := func(group, user string) error {
		_, err := w.Append(w.ctx, mentioning(group, user, chat.MentionAll))
		return err
	}
	w.fails(all("g", "bob"), chat.ErrForbidden)
	w.ok(all("g", "alice"))
	w.mayMentionAll("g", chat.MentionOff)
	w.fails(all("g", "alice"), chat.ErrForbidden)
	w.mayMentionAll("g", chat.MentionMembers)
	keyed := mentioning("g", "bob", chat.MentionAll)
	keyed.Key, keyed.Content = "k", "c"
	w.send(keyed)
	w.mayMentionAll("g", chat.MentionManagers)
	w.equal(w.send(keyed).Duplicate, true) // it is stored already
	w.fails(all("g", "bob"), chat.ErrForbidden)
	w.equal(w.mentionsUnread("g", "alice", "bob"), []int64{1, 1})

	var users []string
	for i := range chat.MentionAllMax {
		users = append(users, fmt.Sprint("user-", i))
	}
	w.group("large", users, func(g *chat.NewGroup) { g.MentionAll = chat.MentionMembers })
	w.equal(w.info("large", "alice").Group.Members, int64(chat.MentionAllMax+1))
	w.fails(all("large", "user-1"), chat.ErrForbidden)
	w.ok(all("large", "alice"))
	w.leave("large", "user-2")
	w.ok(all("large", "user-1"))
	w.equal(w.mentionsUnread("large", "alice", "user-1", "user-3"), []int64{1, 1, 2})
}

func testMentionsOfAllDeleted(w *fixture) {
	w.group("g", []string{"bob"}, func(g *chat.NewGroup) { g.MentionAll = chat.MentionMembers })
	first, other := w.send(mentioning("g", "alice", chat.MentionAll)).ID, w.send(mentioning("g", "bob", chat.MentionAll)).ID
	w.equal(w.mentionsUnread("g", "alice", "bob"), []int64{1, 1})
	w.deleteMessage(first)
	w.equal(w.mentionsUnread("g", "alice", "bob"), []int64{1, 0})
	a, changes := revision(w, chat.Delete, "bob", other)
	_, err := w.Revise(w.ctx, a, changes, false)
	w.ok(err)
	w.equal(w.mentionsUnread("g", "alice", "bob"), []int64{0, 0})
}

func testManyMentionsOfAll(w *fixture) {
	w.group("g", []string{"bob"}, func(g *chat.NewGroup) { g.BacklogMax = 100 })
	for i := range int64(2 * pruneEvery) {
		w.send(mentioning("g", "alice", chat.MentionAll))
		w.equal(w.mentionsUnread("g", "alice", "bob"), []int64{0, min(i+1, 100)})
	}
}

func testMentionsOfAllAndMembers(w *fixture) {
	w.group("g", []string{"bob"}, func(g *chat.NewGroup) { g.History = false })
	w.send(mentioning("g", "alice", chat.MentionAll))
	w.join("g", "carl", "alice")
	w.equal(w.mentionsUnread("g", "bob", "carl"), []int64{1, 0})
	w.send(mentioning("g", "alice", chat.MentionAll))
	w.equal(w.mentionsUnread("g", "bob", "carl"), []int64{2, 1})
	w.leave("g", "bob")
	w.join("g", "bob", "alice")
	w.equal(w.mentionsUnread("g", "bob", "carl"), []int64{0, 1})
	w.ok(w.DeleteGroup(w.ctx, chat.Caller{User: "alice"}, "g", nil))
	_, err := w.Groups.Cleanup(w.ctx, "g", []string{"alice", "bob", "carl"})
	w.ok(err)
	w.group("g", []string{"bob"})
	w.equal(w.mentionsUnread("g", "alice", "bob"), []int64{0, 0})
}

// Who marks messages unread that came before they joined has none of them mention them, not even what they wrote in an earlier stay.
func testMentionsOfAllMarkedUnread(w *fixture) {
	w.group("g", []string{"bob", "dora"}, func(g *chat.NewGroup) { g.MentionAll = chat.MentionMembers })
	w.send(mentioning("g", "alice", chat.MentionAll))
	own := w.send(mentioning("g", "bob", chat.MentionAll)).ID
	unread := func(id int64) []int64 {
		w.Helper()
		for _, user := range []string{"bob", "carl"} {
			_, err := w.Unread(w.ctx, "g", user, id)
			w.ok(err)
		}
		return w.mentionsUnread("g", "bob", "carl", "dora")
	}
	w.join("g", "carl", "alice")
	w.equal(unread(1), []int64{1, 0, 2})
	w.leave("g", "bob")
	w.join("g", "bob", "alice")
	w.equal(unread(1), []int64{0, 0, 2})
	w.send(mentioning("g", "bob", chat.MentionAll))
	w.send(mentioning("g", "alice", "carl", chat.MentionAll))
	w.equal(unread(1), []int64{1, 2, 4})
	w.markRead("g", "bob", w.info("g", "bob").Last)
	w.markRead("g", "carl", w.info("g", "carl").Last-1)
	w.equal(w.mentionsUnread("g", "bob", "carl", "dora"), []int64{0, 1, 4})
	w.equal(unread(own), []int64{1, 2, 4})
	a, changes := revision(w, chat.Delete, "bob", own)
	_, err := w.Revise(w.ctx, a, changes, false)
	w.ok(err)
	w.equal(unread(own), []int64{1, 2, 3})
}
