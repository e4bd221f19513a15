package statemachine_test

import (
	"cmp"
	"slices"

	"pgregory.net/rapid"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/threads"
)

// modelThreads are the threads of a group, as far as messages do not tell.
type modelThreads struct {
	begun   map[int64]bool             // by root
	follows map[string]map[int64]int64 // what each follower of a root has read
}

func newModelThreads() modelThreads {
	return modelThreads{begun: map[int64]bool{}, follows: map[string]map[int64]int64{}}
}

func (m modelThreads) follow(user string, root, read int64) {
	if m.follows[user] == nil {
		m.follows[user] = map[int64]int64{}
	}
	m.follows[user][root] = read
}

// begin makes a root have a thread, which its author follows.
func (g *modelGroup) begin(root int64) {
	if g.threads.begun[root] {
		return
	}
	g.threads.begun[root] = true
	if author := g.messages[root].from; g.members[author] != nil {
		g.threads.follow(author, root, root)
	}
}

// replied notes that a reply was appended, and whom it mentions.
func (g *modelGroup) replied(id int64, mentions []string) {
	user, root := g.messages[id].from, g.messages[id].thread
	newest := int64(0)
	for _, reply := range g.replies(root, 0) {
		if reply < id {
			newest = reply
		}
	}
	g.begin(root)
	if read, follows := g.threads.follows[user][root]; !follows || read >= newest {
		g.threads.follow(user, root, id)
	}
	for _, u := range mentions {
		if _, follows := g.threads.follows[u][root]; !follows && g.members[u] != nil {
			g.threads.follow(u, root, id-1)
		}
	}
}

// replies are the ids of the replies in a thread above an id that were not deleted.
func (g *modelGroup) replies(root, above int64) (ids []int64) {
	for id := max(root, above) + 1; id <= g.last; id++ {
		if e := g.messages[id]; e != nil && e.thread == root && e.counts() {
			ids = append(ids, id)
		}
	}
	return ids
}

// isRoot tells whether a message may have a thread.
func (g *modelGroup) isRoot(id int64) bool {
	e := g.messages[id]
	return e != nil && id > g.below() && e.counts() && e.thread == 0
}

// thread is how a user stands to the thread of a root.
func (g *modelGroup) thread(user string, root int64) threads.Thread {
	replies := g.replies(root, g.below())
	t := threads.Thread{ID: root, Replies: int64(len(replies))}
	t.Read, t.Following = g.threads.follows[user][root]
	for _, id := range replies {
		t.LastID = id
		if e := g.messages[id]; t.Following && id > t.Read && (e.from != user || e.former) {
			t.Unread++
		}
	}
	return t
}

// threadsUnread counts what a user has not read in the threads that they follow and see.
func (g *modelGroup) threadsUnread(user string) (unread int64) {
	for root := range g.threads.follows[user] {
		if g.isRoot(root) && root >= g.visible(user) {
			unread += g.thread(user, root).Unread
		}
	}
	return unread
}

// threadActions are those in threads. A store that is rolled back forgets who follows what, so there is none then.
func (m *machine) threadActions() []action {
	if m.faults {
		return nil
	}
	return []action{{10, "reply", m.reply}, {3, "readThread", m.readThread}, {3, "follow", m.followThread}, {2, "threads", m.listThreads}}
}

// root picks the root of a thread: mostly one that there is, else any message, also one that is none.
func (m *machine) root(t *rapid.T, group string) int64 {
	g := m.groups[group]
	var begun []int64
	for root := range g.threads.begun {
		if g.isRoot(root) || g.messages[root].deleted {
			begun = append(begun, root)
		}
	}
	if len(begun) > 0 && evenly(t, "a thread that there is", 3) > 0 {
		slices.Sort(begun)
		return oneOf(t, "root", begun...)
	}
	id, _ := m.target(t, group)
	return id
}

// rootless checks how a call was refused that named what is no root of a thread, or none that user sees. Of all others it says false.
func (m *machine) rootless(t *rapid.T, what, user, group string, root int64, err error) bool {
	g := m.groups[group]
	switch e := g.messages[root]; {
	case e != nil && (e.kind != chat.Text || e.thread != 0):
		expect(t, what+" of what is no root", err, chat.CodeOutOfRange, chat.CodeNotFound)
	case !g.isRoot(root) || g.hides(user, root):
		expect(t, what+" of a root that is gone", err, chat.CodeNotFound)
	default:
		return false
	}
	return true
}

// reply writes in a thread.
func (m *machine) reply(t *rapid.T, user, group string) {
	g := m.groups[group]
	root := m.root(t, group)
	d := m.draft(t, user, group)
	d.Thread = root
	verdict := m.hook.draw(t)
	sent, err := m.service.Send(m.ctx, caller(user), group, d, "")
	m.hook.done(t, err)
	if g.members[user] == nil {
		expect(t, "reply from outside", err, m.outsider(group))
		return
	}
	if code := g.forbids(user, chat.Text); code != "" {
		expect(t, "reply against a rule", err, code)
		return
	}
	if g.full(user) {
		expect(t, "reply while others are behind", err, chat.CodeBacklogFull)
		return
	}
	if m.rootless(t, "reply", user, group, root, err) {
		return
	}
	first := modelSend{content: contentOf(d), thread: root, expireS: d.ExpireS}
	held := modelReview{group: group, from: user, kind: chat.Text, body: *d.Body, mentions: d.Mentions, thread: root, expireS: d.ExpireS}
	if m.kept(t, verdict, "a reply", held, err, &first) {
		if d.ClientID != "" && first.review != "" {
			g.sent[user+"/"+d.ClientID] = first
		}
		return
	}
	expect(t, "reply", err, "")
	if root <= g.cut {
		happened("reply to an archived message")
	}
	g.noteSent(user)
	id := g.append(user, &modelMessage{from: user, kind: chat.Text, body: verdict.text(*d.Body), thread: root})
	g.replied(id, d.Mentions)
	m.ends(t, group, id, d.ExpireS)
	if sent.ID != id || sent.Duplicate {
		t.Fatalf("reply: got id %d duplicate %v, want id %d", sent.ID, sent.Duplicate, id)
	}
	if d.ClientID != "" {
		first.id = id
		g.sent[user+"/"+d.ClientID] = first
	}
}

// readThread moves what a user has read of a thread.
func (m *machine) readThread(t *rapid.T, user, group string) {
	g := m.groups[group]
	root, id := m.root(t, group), m.position(t, group)
	got, err := m.threads.Read(m.ctx, caller(user), group, root, id)
	switch {
	case g.members[user] == nil:
		expect(t, "read of a thread from outside", err, m.outsider(group))
		return
	case m.rootless(t, "read", user, group, root, err):
		return
	case id > g.last:
		expect(t, "read of a thread above last", err, chat.CodeOutOfRange)
		return
	}
	expect(t, "read of a thread", err, "")
	if read, follows := g.threads.follows[user][root]; follows {
		g.threads.follow(user, root, max(read, id))
	}
	m.checkThread(t, got, user, group, root)
}

// followThread has a user follow a thread, or not.
func (m *machine) followThread(t *rapid.T, user, group string) {
	g := m.groups[group]
	root, following := m.root(t, group), oneOf(t, "following", true, false)
	got, err := m.threads.Follow(m.ctx, caller(user), group, root, following)
	switch {
	case g.members[user] == nil:
		expect(t, "follow from outside", err, m.outsider(group))
		return
	case m.rootless(t, "follow", user, group, root, err):
		return
	}
	g.begin(root)
	_, follows := g.threads.follows[user][root]
	switch {
	case following && !follows:
		expect(t, "follow", err, "")
		newest := root
		for _, id := range g.replies(root, 0) {
			newest = id
		}
		g.threads.follow(user, root, newest)
	case !following && follows:
		expect(t, "unfollow", err, "")
		delete(g.threads.follows[user], root)
	default:
		expect(t, "follow again", err, "")
	}
	m.checkThread(t, got, user, group, root)
}

// checkThread compares how a user stands to a thread with the model. How far they have read what is trimmed nobody can tell.
func (m *machine) checkThread(t *rapid.T, got threads.Thread, user, group string, root int64) {
	t.Helper()
	g := m.groups[group]
	want := g.thread(user, root)
	if len(g.replies(root, 0)) != int(want.Replies) {
		got.Read, want.Read = 0, 0
	}
	if got != want {
		t.Fatalf("the thread of %d in %s for %s: got %+v, want %+v", root, group, user, got, want)
	}
}

// listed are the threads that a user sees in a list, those with the newest replies first.
func (g *modelGroup) listed(user string, q threads.Query) (list []threads.Thread) {
	for root := g.visible(user); root <= g.last; root++ {
		if !g.isRoot(root) {
			continue
		}
		if t := g.thread(user, root); t.Replies > 0 && (t.Following || !q.Following) && (t.Unread > 0 || !q.Unread) {
			list = append(list, t)
		}
	}
	slices.SortFunc(list, func(a, b threads.Thread) int { return cmp.Compare(b.LastID, a.LastID) })
	return list
}

// listThreads pages through the threads of a group, and through one of them.
func (m *machine) listThreads(t *rapid.T, user, group string) {
	g := m.groups[group]
	q := threads.Query{Following: oneOf(t, "following", true, false), Unread: oneOf(t, "unread", true, false), Limit: rapid.IntRange(1, 3).Draw(t, "limit")}
	if g.members[user] == nil {
		_, err := m.threads.List(m.ctx, caller(user), group, q)
		expect(t, "threads from outside", err, m.outsider(group))
		return
	}
	want := g.listed(user, q)
	var got []int64
	for {
		page, err := m.threads.List(m.ctx, caller(user), group, q)
		expect(t, "threads", err, "")
		for _, s := range page.Items {
			got = append(got, s.ID)
			m.checkThread(t, s.Thread, user, group, s.ID)
			if s.Last == nil {
				t.Fatalf("the thread of %d in %s has no last message", s.ID, group)
			}
			m.checkServed(t, user, group, s.Root.Message)
			m.checkServed(t, user, group, s.Last.Message)
		}
		if q.Cursor = page.Next; q.Cursor == "" {
			break
		}
	}
	if !slices.Equal(got, roots(want)) {
		t.Fatalf("threads of %s in %s with %+v: got %v, want %v", user, group, q, got, roots(want))
	}
	for _, thread := range want {
		m.pageThread(t, user, group, thread.ID)
		happened("page of a thread")
	}
}

func roots(list []threads.Thread) (ids []int64) {
	for _, t := range list {
		ids = append(ids, t.ID)
	}
	return ids
}

// pageThread pages through a thread, upwards or downwards.
func (m *machine) pageThread(t *rapid.T, user, group string, root int64) {
	g := m.groups[group]
	down := oneOf(t, "downwards", true, false)
	q := threads.PageQuery{Limit: rapid.IntRange(1, 4).Draw(t, "limit")}
	if down {
		before := g.last + 1
		q.Before = &before
	}
	var got []int64
	for more := true; more; {
		page, err := m.threads.Messages(m.ctx, caller(user), group, root, q)
		m.must(t, err)
		m.checkThread(t, page.Thread, user, group, root)
		var ids []int64
		for _, v := range page.Messages {
			ids = append(ids, v.ID)
			m.checkServed(t, user, group, v.Message)
		}
		if more = page.HasMore; more && len(ids) == 0 {
			t.Fatalf("an empty page of the thread of %d in %s says that there is more", root, group)
		}
		switch {
		case len(ids) == 0:
		case down:
			got, q.Before = append(ids, got...), &ids[0]
		default:
			got, q.After = append(got, ids...), &ids[len(ids)-1]
		}
	}
	if want := g.replies(root, g.below()); !slices.Equal(got, want) {
		t.Fatalf("the thread of %d in %s: got %v, want %v", root, group, got, want)
	}
}

// checkThreads compares the counts of roots, and what everybody sees of threads, with the model.
func (m *machine) checkThreads(t *rapid.T, group string) {
	g := m.groups[group]
	if m.faults || len(g.threads.begun) == 0 {
		return
	}
	alive, counts := g.alive(), map[int64]chat.ReplyCount(nil)
	if len(alive) > 0 {
		var err error
		counts, err = m.store().ReplyCounts(m.ctx, group, alive)
		m.must(t, err)
	}
	for _, id := range alive {
		var want chat.ReplyCount
		if g.isRoot(id) {
			thread := g.thread("", id)
			want = chat.ReplyCount{Replies: thread.Replies, LastID: thread.LastID}
		}
		if counts[id] != want {
			t.Fatalf("the replies to %d in %s: got %+v, want %+v", id, group, counts[id], want)
		}
	}
	for user := range g.members {
		list, next, err := m.stores.Threads.Threads(m.ctx, group, user, threads.Query{}, 100)
		m.must(t, err)
		want := g.listed(user, threads.Query{})
		if !slices.Equal(roots(list), roots(want)) || next != "" {
			t.Fatalf("threads of %s in %s: got %v, and then %q; want %v", user, group, roots(list), next, roots(want))
		}
		for _, thread := range list {
			m.checkThread(t, thread, user, group, thread.ID)
		}
		if unread := g.threadsUnread(user); unread > 0 {
			happened("unread replies")
		}
	}
}

// leave takes a member out of the group, with all that they follow.
func (g *modelGroup) leave(user string) {
	delete(g.members, user)
	delete(g.threads.follows, user)
}
