package store_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/store"
)

// runModel compares a store with a model of one group, after every one of many random steps: what is stored, where the
// cursors are, and what is unread.
func runModel(t *testing.T, open factory) {
	rapid.Check(t, func(r *rapid.T) {
		m := &model{T: r, store: open(t, chat.DefaultLimits()), entries: map[int64]*modelEntry{}, users: map[string]*modelUser{}}
		defer func() { _ = m.store.Close() }() // the factory does so only at the end of the test: a thousand checks later
		m.create()
		r.Repeat(map[string]func(*rapid.T){
			"":         m.check,
			"send":     m.send,
			"react":    m.react,
			"revise":   m.revise,
			"ack":      m.ack,
			"unread":   m.unread,
			"join":     m.join,
			"leave":    m.leave,
			"settings": m.settings,
			"trim":     m.trim,
		})
	})
}

var modelUsers = []string{"alice", "bob", "carl", "dora"}

type modelUser struct{ seen, read, joined int64 }

// modelEntry is what counts about an entry.
type modelEntry struct {
	from     string
	message  bool // text, not deleted
	mentions []string
}

type model struct {
	*rapid.T
	store   *store.Store
	last    int64
	cut     int64 // highest id trimmed
	counted int64 // raised with backlog_max: nothing at or below is counted
	keep    int64
	backlog int64
	history bool
	entries map[int64]*modelEntry
	users   map[string]*modelUser // members
}

func (m *model) ok(err error) {
	m.Helper()
	if err != nil {
		m.Fatalf("got error %v", err)
	}
}

// outcome checks an error against the one that is due, and tells whether the step was done.
func (m *model) outcome(err, want error) bool {
	m.Helper()
	if want == nil {
		m.ok(err)
		return true
	}
	if !errors.Is(err, want) {
		m.Fatalf("got error %v, want %v", err, want)
	}
	return false
}

// member is ErrForbidden for a user outside the group, which is public.
func (m *model) member(user string) error {
	if m.users[user] == nil {
		return chat.ErrForbidden
	}
	return nil
}

func (m *model) create() {
	m.keep = rapid.Int64Range(0, 8).Draw(m.T, "keep")
	m.backlog = rapid.Int64Range(1, 20).Draw(m.T, "backlog_max")
	m.history = rapid.Bool().Draw(m.T, "history")
	g := newGroup("g", []string{"bob"}, public, keep(m.keep), backlog(m.backlog))
	g.History = m.history
	m.ok(m.store.CreateGroup(m.Context(), g))
	m.note("alice")
	m.users["alice"] = &modelUser{joined: m.last}
	m.note("alice")
	m.users["bob"] = &modelUser{joined: m.last}
	if !m.history {
		m.users["bob"].seen, m.users["bob"].read = m.last-1, m.last-1
	}
}

// note adds an entry that is no message, and moves the member who caused it along.
func (m *model) note(from string) { m.add(&modelEntry{from: from}) }

func (m *model) add(e *modelEntry) {
	m.last++
	m.entries[m.last] = e
	if u := m.users[e.from]; u != nil && u.seen == m.last-1 {
		u.seen = m.last
		if u.read == m.last-1 {
			u.read = m.last
		}
	}
}

func (m *model) user(r *rapid.T) string { return rapid.SampledFrom(modelUsers).Draw(r, "user") }

func (m *model) id(r *rapid.T) int64 { return rapid.Int64Range(0, m.last+1).Draw(r, "id") }

func (m *model) send(r *rapid.T) {
	user := m.user(r)
	named := rapid.SliceOfNDistinct(rapid.SampledFrom(modelUsers), 0, 3, rapid.ID[string]).Draw(r, "mentions")
	for range rapid.IntRange(1, 5).Draw(r, "sends") {
		_, err := m.store.Append(r.Context(), mentioning("g", user, named...))
		if !m.outcome(err, m.member(user)) {
			return
		}
		e := &modelEntry{from: user, message: true}
		for _, n := range named {
			if n != user && m.users[n] != nil {
				e.mentions = append(e.mentions, n)
			}
		}
		m.add(e)
		m.everySixtyFourth()
	}
}

func (m *model) everySixtyFourth() {
	if m.last%64 == 0 {
		m.trimStep()
	}
}

// target is the error for changing id, and its entry.
func (m *model) target(user string, id int64) (*modelEntry, error) {
	if m.users[user] == nil {
		return nil, chat.ErrForbidden
	}
	if e := m.entries[id]; e != nil && id > m.cut && e.message {
		return e, nil
	}
	return nil, chat.ErrNotFound
}

func (m *model) react(r *rapid.T) {
	user, id := m.user(r), m.id(r)
	_, want := m.target(user, id)
	if want == nil && !m.history && id < m.users[user].joined {
		want = chat.ErrNotFound
	}
	done, err := m.store.Append(r.Context(), reaction(user, id, "👍", false))
	if m.outcome(err, want) && !done.Duplicate {
		m.note(user)
		m.everySixtyFourth()
	}
}

func (m *model) revise(r *rapid.T) {
	id := m.id(r)
	e, want := m.target("alice", id)
	if want != nil || m.users[e.from] == nil {
		return
	}
	found, err := m.store.Entries(r.Context(), "g", []int64{id})
	m.ok(err)
	var entry chat.Entry
	m.ok(json.Unmarshal(found[0].JSON, &entry))
	kind := rapid.SampledFrom([]chat.Kind{chat.Edit, chat.Delete}).Draw(r, "kind")
	body := fmt.Sprint("changed ", m.last)
	entry.ID, entry.Body = 0, &body
	change := chat.Change{Old: found[0], New: chat.Message{ID: id, Mark: found[0].Mark,
		JSON: fmt.Appendf(nil, `{"id":%d,%s`, id, rest(entry))}}
	a := chat.Append{Group: "g", From: e.from, Kind: kind, Mark: mark(), Target: id,
		Rest: rest(chat.Entry{Group: "g", From: e.from, Content: chat.Content{Kind: kind, Target: id}})}
	_, err = m.store.Revise(r.Context(), a, []chat.Change{change}, false)
	m.ok(err)
	if kind == chat.Delete {
		e.message, e.mentions = false, nil
	}
	m.note(e.from)
	m.everySixtyFourth()
}

func (m *model) ack(r *rapid.T) {
	user, id, read := m.user(r), m.id(r), rapid.Bool().Draw(r, "read")
	if rapid.Bool().Draw(r, "to the end") {
		id = m.last
	}
	want := m.member(user)
	if want == nil && id > m.last {
		want = chat.ErrOutOfRange
	}
	got, err := m.store.Ack(r.Context(), "g", user, chat.At(id), read, "")
	if !m.outcome(err, want) {
		return
	}
	u := m.users[user]
	u.seen = max(u.seen, id)
	if read {
		u.read = max(u.read, id)
	}
	m.trimStep()
	m.cursors(got, user)
}

func (m *model) unread(r *rapid.T) {
	user, id := m.user(r), m.id(r)
	want := m.member(user)
	if want == nil && id > m.last {
		want = chat.ErrOutOfRange
	}
	got, err := m.store.Unread(r.Context(), "g", user, id)
	if !m.outcome(err, want) {
		return
	}
	visible := m.cut + 1
	if !m.history {
		visible = max(visible, m.users[user].joined)
	}
	m.users[user].read = min(m.users[user].read, max(id, visible)-1)
	m.cursors(got, user)
}

func (m *model) cursors(got chat.Cursors, user string) {
	m.Helper()
	u := m.users[user]
	unread, _ := m.counts(user)
	if want := (chat.Cursors{Seen: u.seen, Read: u.read, Unread: unread}); got != want {
		m.Fatalf("%s: got cursors %+v, want %+v", user, got, want)
	}
}

// counts is what is unread by the definition: over all entries that are stored, one by one.
func (m *model) counts(user string) (unread, mentions int64) {
	for id := max(m.users[user].read, m.cut, m.last-m.backlog, m.counted) + 1; id <= m.last; id++ {
		e := m.entries[id]
		if e.message && e.from != user {
			unread++
		}
		if slices.Contains(e.mentions, user) {
			mentions++
		}
	}
	return unread, mentions
}

func (m *model) join(r *rapid.T) {
	user := m.user(r)
	got, added, err := m.store.Join(r.Context(), membership("g", user, user, ""))
	m.ok(err)
	if added != (m.users[user] == nil) {
		m.Fatalf("%s: got added %t", user, added)
	}
	if !added {
		return
	}
	start := m.last
	if m.history {
		start = m.cut
	}
	m.note(user)
	m.users[user] = &modelUser{seen: start, read: start, joined: m.last}
	m.everySixtyFourth()
	if got.Seen != start || got.Read != start {
		m.Fatalf("%s joined at %+v, want %d", user, got, start)
	}
}

func (m *model) leave(r *rapid.T) {
	user := m.user(r)
	if user == "alice" { // who stays, so that the group does
		return
	}
	_, err := m.store.Leave(r.Context(), membership("g", user, user, ""))
	if m.users[user] == nil {
		m.outcome(err, chat.ErrNotFound)
		return
	}
	m.ok(err)
	delete(m.users, user)
	for _, e := range m.entries {
		e.mentions = slices.DeleteFunc(e.mentions, func(n string) bool { return n == user })
	}
	m.note("")
	m.trimStep()
}

func (m *model) settings(r *rapid.T) {
	keep := rapid.Int64Range(0, 8).Draw(r, "keep")
	backlog := rapid.Int64Range(1, 20).Draw(r, "backlog_max")
	if keep == m.keep && backlog == m.backlog {
		return
	}
	m.ok(m.store.UpdateGroup(r.Context(), chat.Caller{User: "alice"}, "g", nil,
		chat.GroupChange{Keep: &keep, BacklogMax: &backlog}, []chat.NoticeEntry{noticeEntry("g", "alice", "settings", "")}, 1))
	if backlog > m.backlog {
		m.counted = max(m.counted, m.last-m.backlog)
	}
	m.keep, m.backlog = keep, backlog
	m.note("alice")
	m.trimStep()
}

func (m *model) trim(r *rapid.T) {
	_, err := m.store.Trim(r.Context(), "g")
	m.ok(err)
	m.trimStep()
}

func (m *model) trimStep() {
	slowest := int64(-1)
	for _, u := range m.users {
		if u.seen >= m.last-m.backlog && (slowest < 0 || u.seen < slowest) {
			slowest = u.seen
		}
	}
	if slowest < 0 {
		slowest = m.last - m.backlog
	}
	m.cut = max(m.cut, min(slowest, m.last-m.keep))
}

// check compares everything that can be seen.
func (m *model) check(r *rapid.T) {
	stored, end, err := m.store.Range(r.Context(), "g", 0, 100_000, 0)
	m.ok(err)
	if got, want := ids(stored), span(m.cut+1, m.last); end.Last != m.last || !slices.Equal(got, want) {
		r.Fatalf("got messages %v of %d, want %v of %d", got, end.Last, want, m.last)
	}
	for _, user := range modelUsers {
		infos, err := m.store.Infos(r.Context(), user, []string{"g"})
		m.ok(err)
		in, u := infos[0], m.users[user]
		if in.Members != int64(len(m.users)) || in.Held != m.cut+1 || in.First != in.Held || (in.Role != "") != (u != nil) {
			r.Fatalf("%s: got %+v", user, in)
		}
		if u == nil {
			continue
		}
		unread, mentions := m.counts(user)
		got := []int64{in.Seen, in.Read, in.Joined, in.Unread, in.MentionsUnread}
		if want := []int64{u.seen, u.read, u.joined, unread, mentions}; !slices.Equal(got, want) {
			r.Fatalf("%s: got seen, read, joined, unread, mentions %v, want %v (last %d)", user, got, want, m.last)
		}
	}
}
