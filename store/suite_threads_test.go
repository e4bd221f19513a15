package store_test

import (
	"fmt"
	"slices"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/threads"
)

// inThread is a reply in the thread of a root.
func inThread(group, from string, root int64, mentions ...string) chat.Append {
	body := "reply"
	a := text(group, from, body)
	a.Thread, a.Mentions = root, mentions
	a.Rest = rest(chat.Entry{Group: group, From: from, Content: chat.Content{Kind: chat.Text, Thread: root, Body: &body, Mentions: mentions}, SentAt: chat.TimeMs(3000)})
	return a
}

// replies sends a reply and returns its id.
func (w *fixture) replies(group, from string, root int64, mentions ...string) int64 {
	w.Helper()
	return w.send(inThread(group, from, root, mentions...)).ID
}

// thread is how a user stands to a thread: `<replies> <newest> <unread>`, and if they follow it ` f<read>`, then the ids of its replies.
func (w *fixture) thread(group, user string, root int64) string {
	w.Helper()
	t, ids, _, err := w.Thread(w.ctx, group, user, root, 0, 0, 100)
	w.ok(err)
	return standing(t) + fmt.Sprint(" ", ids)
}

func standing(t threads.Thread) string {
	follows := ""
	if t.Following {
		follows = fmt.Sprintf(" f%d", t.Read)
	}
	return fmt.Sprintf("%d %d %d%s", t.Replies, t.LastID, t.Unread, follows)
}

// threads are the roots of the threads that a user sees.
func (w *fixture) threads(group, user string, q threads.Query) (roots []int64) {
	w.Helper()
	list, next, err := w.ListThreads(group, user, q)
	w.ok(err)
	w.equal(next, "")
	for _, t := range list {
		roots = append(roots, t.ID)
	}
	return roots
}

// ListThreads reads a page of 100.
func (w *fixture) ListThreads(group, user string, q threads.Query) ([]threads.Thread, string, error) {
	return w.Store.Threads.Threads(w.ctx, group, user, q, 100)
}

func (w *fixture) readThread(group, user string, root, id int64) string {
	w.Helper()
	t, err := w.ReadThread(w.ctx, chat.Caller{User: user}, group, root, id)
	w.ok(err)
	return standing(t)
}

func (w *fixture) follow(group, user string, root int64, yes bool) string {
	w.Helper()
	t, err := w.FollowThread(w.ctx, user, group, threads.Follow{Root: root, Author: decode(w, w.entry(group, root)).From, Following: yes})
	w.ok(err)
	return standing(t)
}

// removes deletes a message of the group g.
func (w *fixture) removes(by string, id int64) {
	w.Helper()
	a, changes := revision(w, chat.Delete, by, id)
	w.ok(second(w.Revise(w.ctx, a, changes, false)))
}

// unreadThreads is what counts for a user in the threads of g.
func (w *fixture) unreadThreads(user string) int64 {
	w.Helper()
	return w.info("g", user).ThreadsUnread
}

var threadTests = map[string]func(*fixture){
	"replies count in their thread": func(w *fixture) {
		w.group("g", []string{"bob", "eve"})
		root := w.say("g", "alice", "x")
		w.equal(w.thread("g", "bob", root), "0 0 0 []")
		before := w.info("g", "eve").Unread
		one := w.replies("g", "bob", root)
		w.equal(w.info("g", "eve").Unread, before) // not in the group
		w.equal(w.info("g", "eve").NewestID, root)
		w.equal(w.thread("g", "alice", root), fmt.Sprintf("1 %d 1 f%d [%d]", one, root, one))
		w.equal(w.thread("g", "bob", root), fmt.Sprintf("1 %d 0 f%d [%d]", one, one, one))
		w.equal(w.thread("g", "eve", root), fmt.Sprintf("1 %d 0 [%d]", one, one))
		two := w.replies("g", "bob", root) // at the end: read moves along
		w.equal(w.thread("g", "bob", root), fmt.Sprintf("2 %d 0 f%d [%d %d]", two, two, one, two))
		three := w.replies("g", "alice", root) // not at the end: it stays
		w.equal(w.thread("g", "alice", root), fmt.Sprintf("3 %d 2 f%d [%d %d %d]", three, root, one, two, three))
		w.equal([]int64{w.unreadThreads("alice"), w.unreadThreads("bob"), w.unreadThreads("eve")}, []int64{2, 1, 0})

		w.markRead("g", "alice", three) // reading the group moves no thread
		w.equal(w.unreadThreads("alice"), int64(2))
		w.equal(w.readThread("g", "alice", root, one), fmt.Sprintf("3 %d 1 f%d", three, one))
		w.equal(w.readThread("g", "alice", root, root), fmt.Sprintf("3 %d 1 f%d", three, one)) // never back
		w.equal(w.readThread("g", "eve", root, three), fmt.Sprintf("3 %d 0", three))
		_, err := w.ReadThread(w.ctx, chat.Caller{User: "bob"}, "g", root, three+1)
		w.equal(chat.CodeOf(err), chat.CodeOutOfRange)

		counts, err := w.ReplyCounts(w.ctx, "g", []int64{1, root, one, three + 5})
		w.ok(err)
		w.equal(counts, map[int64]chat.ReplyCount{root: {Replies: 3, LastID: three}})
		looks, err := w.Looks(w.ctx, "alice", []string{"g"}, chat.LookAtRead)
		w.ok(err)
		w.equal(looks[0].Follows, true)
	},
	"following begins with all read, by a mention just before it": func(w *fixture) {
		w.group("g", []string{"bob", "eve", "dan"})
		root := w.say("g", "alice", "x")
		one := w.replies("g", "bob", root)
		w.equal(w.follow("g", "eve", root, true), fmt.Sprintf("1 %d 0 f%d", one, one))
		w.equal(w.follow("g", "eve", root, true), fmt.Sprintf("1 %d 0 f%d", one, one))
		two := w.replies("g", "bob", root, "dan", "eve", "nobody")
		w.equal(w.thread("g", "dan", root), fmt.Sprintf("2 %d 1 f%d [%d %d]", two, two-1, one, two))
		w.equal([]int64{w.unreadThreads("eve"), w.unreadThreads("dan")}, []int64{1, 1})
		w.equal(w.mentionsUnread("g", "eve", "dan"), []int64{0, 0})
		w.equal(w.follow("g", "eve", root, false), fmt.Sprintf("2 %d 0", two))
		w.replies("g", "bob", root)
		w.equal([]int64{w.unreadThreads("eve"), w.unreadThreads("dan")}, []int64{0, 2})
		// An author who does not want to follow does not, whoever replies first.
		other := w.say("g", "alice", "y")
		w.equal(w.follow("g", "alice", other, false), "0 0 0")
		first := w.replies("g", "bob", other)
		w.equal(w.thread("g", "alice", other), fmt.Sprintf("1 %d 0 [%d]", first, first))
		third := w.say("g", "alice", "z")
		w.equal(w.follow("g", "bob", third, true), fmt.Sprintf("0 0 0 f%d", third))
		w.equal(w.threads("g", "bob", threads.Query{Following: true}), []int64{other, root}) // without replies there is no thread to list
		w.replies("g", "alice", third, "@all")
		w.equal(w.unreadThreads("bob"), int64(1))
		w.equal(w.info("g", "dan").MentionsUnread, int64(0))
	},
	"what has no thread": func(w *fixture) {
		w.group("g", []string{"bob"})
		root := w.say("g", "alice", "x")
		reply := w.replies("g", "bob", root)
		gone := w.say("g", "alice", "y")
		w.removes("alice", gone)
		for id, want := range map[int64]error{reply: chat.ErrNoRoot, 1: chat.ErrNoRoot, gone: chat.ErrNotFound, 999: chat.ErrNotFound} {
			_, err := w.Append(w.ctx, inThread("g", "bob", id))
			w.fails(err, want)
		}
		last := w.info("g", "alice").Last
		look := inThread("g", "bob", gone)
		look.Look = true
		_, err := w.Append(w.ctx, look)
		w.fails(err, chat.ErrNotFound)
		_, _, _, err = w.Thread(w.ctx, "g", "zoe", root, 0, 0, 10)
		w.fails(err, chat.ErrNotFound)
		w.equal(w.info("g", "alice").Last, last)
	},
	"deletions correct the counts": func(w *fixture) {
		w.group("g", []string{"bob"})
		root := w.say("g", "alice", "x")
		one, two, three := w.replies("g", "bob", root), w.replies("g", "bob", root), w.replies("g", "alice", root)
		w.removes("alice", three)
		w.equal(w.thread("g", "alice", root), fmt.Sprintf("2 %d 2 f%d [%d %d]", two, root, one, two))
		w.removes("bob", one)
		w.equal(w.thread("g", "alice", root), fmt.Sprintf("1 %d 1 f%d [%d]", two, root, two))
		w.removes("bob", two)
		w.equal(w.thread("g", "alice", root), fmt.Sprintf("0 0 0 f%d []", root))
		w.equal(w.threads("g", "alice", threads.Query{}), []int64(nil))
		w.equal(w.unreadThreads("alice"), int64(0))
		four := w.replies("g", "bob", root)
		w.equal(w.thread("g", "alice", root), fmt.Sprintf("1 %d 1 f%d [%d]", four, root, four))
		w.removes("alice", root) // ends it
		w.equal(w.unreadThreads("alice"), int64(0))
		w.equal(w.threads("g", "alice", threads.Query{Following: true}), []int64(nil))
		w.equal(w.threads("g", "bob", threads.Query{}), []int64(nil))
		_, err := w.Append(w.ctx, inThread("g", "bob", root))
		w.fails(err, chat.ErrNotFound)
		w.removes("bob", four)
	},
	"lists in pages": func(w *fixture) {
		w.group("g", []string{"bob"})
		var roots []int64
		for i := range 5 {
			roots = append(roots, w.say("g", "alice", fmt.Sprint(i)))
		}
		for _, root := range roots {
			w.replies("g", "bob", root)
		}
		w.replies("g", "bob", roots[1])
		order := []int64{roots[1], roots[4], roots[3], roots[2], roots[0]}
		w.readThread("g", "alice", roots[3], w.info("g", "alice").Last)
		for _, c := range []struct {
			q    threads.Query
			user string
			want []int64
		}{
			{threads.Query{}, "bob", order},
			{threads.Query{Following: true}, "alice", order},
			{threads.Query{Unread: true}, "alice", []int64{roots[1], roots[4], roots[2], roots[0]}},
			{threads.Query{Unread: true, Following: true}, "bob", nil},
		} {
			w.equal(w.threads("g", c.user, c.q), c.want)
			var got []int64
			for q := c.q; ; {
				list, next, err := w.Store.Threads.Threads(w.ctx, "g", c.user, q, 2)
				w.ok(err)
				for _, t := range list {
					got = append(got, t.ID)
				}
				if q.Cursor = next; next == "" {
					break
				}
			}
			w.equal(got, c.want)
		}
		var ids []int64
		for range 5 {
			ids = append(ids, w.replies("g", "bob", roots[0]))
		}
		_, found, more, err := w.Thread(w.ctx, "g", "bob", roots[0], ids[0], 0, 3)
		w.ok(err)
		w.equal([]any{found, more}, []any{ids[1:4], true})
		_, found, more, err = w.Thread(w.ctx, "g", "bob", roots[0], 0, ids[4], 3)
		w.ok(err)
		slices.Reverse(found)
		w.equal([]any{found, more}, []any{ids[1:4], true})
	},
	"who leaves follows no longer": func(w *fixture) {
		w.group("g", []string{"bob", "eve", "dan"})
		root := w.say("g", "alice", "x")
		for _, user := range []string{"bob", "eve", "dan"} {
			w.replies("g", user, root)
		}
		w.leave("g", "bob")
		_, _, err := w.RemoveMembers(w.ctx, bulkChange(chat.Caller{User: "alice"}, chat.NoticeRemoved, nil, "eve"))
		w.ok(err)
		for _, user := range []string{"bob", "eve"} {
			w.join("g", user, "alice")
			w.equal(w.unreadThreads(user), int64(0))
			w.equal(w.threads("g", user, threads.Query{Following: true}), []int64(nil))
		}
		w.equal(w.threads("g", "dan", threads.Query{Following: true}), []int64{root})
	},
	"hidden history": func(w *fixture) {
		w.group("g", []string{"bob"}, noHistory)
		root := w.say("g", "alice", "x")
		w.replies("g", "bob", root)
		w.join("g", "eve", "alice")
		_, err := w.Append(w.ctx, inThread("g", "eve", root))
		w.fails(err, chat.ErrNotFound)
		_, _, _, err = w.Thread(w.ctx, "g", "eve", root, 0, 0, 10)
		w.fails(err, chat.ErrNotFound)
		w.equal(w.threads("g", "eve", threads.Query{}), []int64(nil))
		w.replies("g", "bob", root, "eve") // in a thread that she does not see
		w.equal(w.unreadThreads("eve"), int64(0))
		later := w.say("g", "alice", "y")
		w.replies("g", "bob", later)
		w.equal(w.threads("g", "eve", threads.Query{}), []int64{later})
	},
	"trimmed without an archive": func(w *fixture) {
		w.group("g", []string{"bob"}, keep(4))
		root := w.say("g", "alice", "x")
		w.replies("g", "bob", root)
		w.trims("g", "bob", "alice")
		two := w.replies("g", "bob", root)
		w.trims("g", "bob", "alice")
		w.equal(w.thread("g", "alice", root)[:1], "2")
		w.says("g", "bob", 3)
		w.trims("g", "bob", "alice")
		_, _, _, err := w.Thread(w.ctx, "g", "bob", root, 0, 0, 10)
		w.fails(err, chat.ErrNotFound)
		w.equal(w.unreadThreads("alice"), int64(0))
		w.equal(w.threads("g", "alice", threads.Query{}), []int64(nil))
		_, err = w.Append(w.ctx, inThread("g", "bob", root))
		w.fails(err, chat.ErrNotFound)
		w.equal(two > root, true)
		// Every 64th reply forgets what cannot be read.
		other := w.say("g", "alice", "y")
		a := inThread("g", "bob", other)
		a.Mark = "Axxxxx"
		w.send(a)
		w.equal(w.Client().ZScore(w.ctx, w.groupKey("g", "threads"), fmt.Sprint(root)).Err() != nil, true)
	},
	"trimmed into an archive": func(w *fixture) {
		w.archiveOn()
		w.group("g", []string{"bob"}, keep(2))
		root, plain := w.say("g", "alice", "x"), w.say("g", "alice", "y")
		one := w.replies("g", "bob", root)
		w.says("g", "bob", 3)
		w.archiveAll("g")
		w.trims("g", "bob", "alice")
		w.equal(slices.Contains(w.kept("g"), one), false)
		two := w.replies("g", "bob", root)
		w.equal(w.thread("g", "alice", root), fmt.Sprintf("2 %d 2 f%d [%d %d]", two, root, one, two))
		// A root without a thread is looked at in the archive.
		a := inThread("g", "bob", plain)
		_, err := w.Append(w.ctx, a)
		w.fails(err, chat.ErrArchived)
		info := w.info("g", "bob")
		a.Below = &chat.Below{Epoch: info.Epoch, Late: info.Late + 1, Author: "alice"}
		_, err = w.Append(w.ctx, a)
		w.fails(err, chat.ErrConflict)
		a.Below.Late = info.Late
		first := w.send(a).ID
		w.equal(w.thread("g", "alice", plain), fmt.Sprintf("1 %d 1 f%d [%d]", first, plain, first))
		_, err = w.FollowThread(w.ctx, "bob", "g", threads.Follow{Root: plain + 2, Author: "bob", Following: true})
		w.fails(err, chat.ErrConflict)
		t, err := w.FollowThread(w.ctx, "bob", "g", threads.Follow{Root: plain + 2, Author: "bob", Following: true, Below: &chat.Below{Epoch: info.Epoch, Late: info.Late}})
		w.ok(err)
		w.equal(standing(t), fmt.Sprintf("0 0 0 f%d", plain+2))
	},
	"a user follows 1,000 threads": func(w *fixture) {
		w.group("g", []string{"bob"})
		root := w.say("g", "alice", "x")
		w.replies("g", "bob", root)
		w.hand(`for i = 100, 1098 do
			redis.call('ZADD', KEYS[1], i, 'bob ' .. i)
			redis.call('ZADD', KEYS[2], 0, string.format('fbob %016d', i))
		end
		return 1`, w.groupKey("g", "threads"), w.groupKey("g", "replies"))
		w.equal(w.threads("g", "bob", threads.Query{Following: true}), []int64{root})
		other := w.say("g", "alice", "y")
		w.replies("g", "bob", other)
		w.equal(w.threads("g", "bob", threads.Query{Following: true}), []int64{other})
	},
	"a deleted group has none": func(w *fixture) {
		w.group("g", []string{"bob"})
		w.replies("g", "bob", w.say("g", "alice", "x"))
		w.ok(w.DeleteGroup(w.ctx, chat.Caller{User: "alice"}, "g", nil))
		w.equal(w.Client().Exists(w.ctx, w.groupKey("g", "threads"), w.groupKey("g", "replies")).Val(), int64(0))
	},
}
