package store_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/store"
)

// factory opens an empty store with the given limits, closed when the test ends.
type factory func(t testing.TB, limits chat.Limits) *store.Store

// runSuite runs the conformance suite over the stores that open makes: one subtest for each method. A store passes when a caller
// cannot tell it from the others.
func runSuite(t *testing.T, open factory) {
	for _, part := range []struct {
		name  string
		tests map[string]func(*fixture)
	}{
		{"groups", groupTests}, {"data", dataTests}, {"directory", directoryTests}, {"holds", holdTests}, {"members", memberTests}, {"log", logTests}, {"revise", reviseTests},
		{"reactions", reactionTests}, {"pull", pullTests}, {"shared pages", sharedTests}, {"cursors", cursorTests}, {"trim", trimTests}, {"hidden", hiddenTests},
		{"invites", inviteTests}, {"index", indexTests}, {"inbox", inboxTests}, {"strangers", strangerTests}, {"keys", keyTests}, {"tables", tableTests}, {"profiles", profileTests}, {"accounts", accountTests}, {"announcements", announcementTests}, {"signals", signalTests},
		{"devices", deviceTests}, {"presence", presenceTests}, {"whereabouts", whereaboutsTests}, {"health", healthTests}, {"notify", notifyTests},
		{"archive", archiveTests}, {"erasures", erasureTests}, {"retention", retentionTests}, {"imports", importTests}, {"files", fileTests}, {"backlog", backlogTests}, {"mentions", mentionTests}, {"races", raceTests}, {"rules", ruleTests}, {"blocks", blockTests}, {"drafts", draftTests}, {"pins", pinTests}, {"previews", previewTests}, {"streams", streamTests}, {"threads", threadTests}, {"expiry", expiryTests}, {"buttons", buttonTests}, {"quorums", quorumTests}, {"reviews", reviewTests}, {"reports", reportTests}, {"audit", auditTests}, {"webhooks", webhookTests}, {"behind", behindTests}, {"schedules", scheduleTests},
	} {
		t.Run(part.name, func(t *testing.T) {
			for name, test := range part.tests {
				t.Run(name, func(t *testing.T) { test(newFixture(t, open)) })
			}
		})
	}
}

// fixture is an empty store and short ways to use it. Every failure ends the test.
type fixture struct {
	*testing.T
	*store.Store
	ctx  context.Context
	open factory
}

func newFixture(t *testing.T, open factory) *fixture {
	return &fixture{T: t, Store: open(t, chat.DefaultLimits()), ctx: t.Context(), open: open}
}

// with replaces the store by one with other limits.
func (w *fixture) with(change func(*chat.Limits)) {
	limits := chat.DefaultLimits()
	change(&limits)
	w.Store = w.open(w.T, limits)
}

func (w *fixture) ok(err error) {
	w.Helper()
	if err != nil {
		w.Fatalf("got error %v", err)
	}
}

func (w *fixture) fails(err, want error) {
	w.Helper()
	if !errors.Is(err, want) {
		w.Fatalf("got error %v, want %v", err, want)
	}
}

func (w *fixture) equal(got, want any) {
	w.Helper()
	if reflect.DeepEqual(want, got) { // far cheaper than Diff
		return
	}
	if diff := cmp.Diff(want, got); diff != "" {
		w.Fatalf("want -, got +:\n%s", diff)
	}
}

var marks atomic.Int64

// mark makes a mark: another one each time, six characters.
func mark() string { return fmt.Sprintf("m%05d", marks.Add(1)%100000) }

// rest is an entry's JSON as a service hands it in: without its id.
func rest(e chat.Entry) []byte {
	text, err := json.Marshal(e)
	if err != nil {
		panic(err)
	}
	return text[len(`{"id":0,`):]
}

func noticeEntry(group, by, what string, users ...string) chat.NoticeEntry {
	e := chat.Entry{Group: group, From: by, Content: chat.Content{Kind: chat.Notice}, Notice: what, SentAt: chat.TimeMs(2000)}
	if len(users) == 1 {
		e.User = users[0]
	} else {
		e.Users = users
	}
	return chat.NoticeEntry{Mark: mark(), Rest: rest(e)}
}

// usersNotice is a notice of alice's that names whom the store's step finds.
func usersNotice(group, what string) chat.UsersNotice {
	return chat.NewUsersNotice(chat.Caller{User: "alice"}, group, 2000, chat.Entry{Notice: what})
}

// group makes a group of alice's with members, changed by options.
func (w *fixture) group(id string, members []string, options ...func(*chat.NewGroup)) {
	w.Helper()
	var few []string // each with a notice of their own, so that ids are easily counted
	if len(members) < 20 && len(members) > 1 {
		members, few = members[:1], members[1:]
	}
	g := newGroup(id, members, options...)
	w.ok(w.CreateGroup(w.ctx, g))
	for _, user := range few {
		m := membership(id, user, "alice", chat.Ordinary)
		m.AtMs = 1000
		_, _, err := w.Join(w.ctx, m)
		w.ok(err)
	}
	for users := w.invited(id); len(users) > 0; users = w.invited(id) {
		w.invite(id, g.Epoch, users)
	}
}

// invited are some of those whom a creation named and who are not members yet.
func (w *fixture) invited(group string) []string {
	w.Helper()
	users, err := w.Waiting(w.ctx, group)
	w.ok(err)
	return users
}

// invite makes members of those of users who wait for it.
func (w *fixture) invite(group, epoch string, users []string) {
	w.Helper()
	w.ok(w.Invite(w.ctx, group, epoch, 1000, users, usersNotice(group, chat.NoticeJoined)))
}

func newGroup(id string, members []string, options ...func(*chat.NewGroup)) chat.NewGroup {
	g := chat.NewGroup{Group: chat.Group{ID: id, Name: "The " + id, Visibility: chat.Private, CreatedBy: "alice",
		CreatedAt: chat.TimeMs(1000), Epoch: "e-" + mark(), Keep: 100, BacklogMax: 10000, Post: chat.PostMembers, MentionAll: chat.MentionManagers,
		History: true}, Members: members}
	g.Notices = append(g.Notices, noticeEntry(id, "alice", chat.NoticeCreated, "alice"))
	for some := range slices.Chunk(members, chat.NoticeUsersMax) {
		g.Notices = append(g.Notices, noticeEntry(id, "alice", chat.NoticeJoined, some...))
	}
	for _, o := range options {
		o(&g)
	}
	return g
}

func public(g *chat.NewGroup)    { g.Visibility = chat.Public }
func noHistory(g *chat.NewGroup) { g.History = false }
func keep(n int64) func(*chat.NewGroup) {
	return func(g *chat.NewGroup) { g.Keep = n }
}
func backlog(n int64) func(*chat.NewGroup) {
	return func(g *chat.NewGroup) { g.BacklogMax = n }
}

func blocking(n int64) func(*chat.NewGroup) {
	return func(g *chat.NewGroup) { g.BacklogMax, g.Overflow, g.BacklogBytes = n, chat.OverflowBlock, 1<<30 }
}

func text(group, from, body string) chat.Append {
	return chat.Append{Group: group, From: from, Kind: chat.Text, Mark: mark(), SentAtMs: 3000,
		Rest: rest(chat.Entry{Group: group, From: from, Content: chat.Content{Kind: chat.Text, Body: &body}, SentAt: chat.TimeMs(3000)})}
}

func mentioning(group, from string, users ...string) chat.Append {
	body := "you"
	a := text(group, from, body)
	a.Mentions = users
	a.Rest = rest(chat.Entry{Group: group, From: from, Content: chat.Content{Kind: chat.Text, Body: &body, Mentions: users}, SentAt: chat.TimeMs(3000)})
	return a
}

// say sends a text and returns its id.
func (w *fixture) say(group, from, body string) int64 {
	w.Helper()
	return w.send(text(group, from, body)).ID
}

func (w *fixture) send(a chat.Append) chat.Appended {
	w.Helper()
	done, err := w.Append(w.ctx, a)
	w.ok(err)
	return done
}

// says sends n texts and returns the id of the last.
func (w *fixture) says(group, from string, n int) (last int64) {
	w.Helper()
	for i := range n {
		last = w.say(group, from, fmt.Sprintf("text %d", i))
	}
	return last
}

func (w *fixture) info(group, user string) chat.Info {
	w.Helper()
	infos, err := w.Infos(w.ctx, user, []string{group})
	w.ok(err)
	return infos[0]
}

func (w *fixture) ack(group, user string, id int64) chat.Cursors {
	w.Helper()
	c, err := w.Ack(w.ctx, group, user, chat.At(id), false, "")
	w.ok(err)
	return c
}

func (w *fixture) markRead(group, user string, id int64) chat.Cursors {
	w.Helper()
	c, err := w.Ack(w.ctx, group, user, chat.At(id), true, "")
	w.ok(err)
	return c
}

func membership(group, user, by string, role chat.Role) chat.Membership {
	return chat.Membership{Group: group, User: user, By: chat.Caller{User: by}, Role: role, AtMs: 4000,
		Notice: noticeEntry(group, by, chat.NoticeJoined, user), HeirMark: mark(),
		HeirHead: []byte(`"group":"` + group + `","from":"` + by + `","kind":"notice","notice":"role","role":"owner","user":"`),
		HeirTail: []byte(`","sent_at":"2026-11-20T10:00:00.000Z"}`)}
}

func (w *fixture) join(group, user, by string) chat.Member {
	w.Helper()
	m, added, err := w.Join(w.ctx, membership(group, user, by, chat.Ordinary))
	w.ok(err)
	if !added {
		w.Fatalf("%s was a member of %s already", user, group)
	}
	return m
}

func (w *fixture) leave(group, user string) {
	w.Helper()
	_, err := w.Leave(w.ctx, membership(group, user, user, ""))
	w.ok(err)
}

// entries are all stored messages of a group.
func (w *fixture) entries(group string) []chat.Message {
	w.Helper()
	messages, _, err := w.Range(w.ctx, group, 0, 1_000_000, 0)
	w.ok(err)
	return messages
}

func (w *fixture) entry(group string, id int64) chat.Message {
	w.Helper()
	found, err := w.Entries(w.ctx, group, []int64{id})
	w.ok(err)
	if len(found) != 1 {
		w.Fatalf("got %d entries with id %d, want 1", len(found), id)
	}
	return found[0]
}

func decode(w *fixture, m chat.Message) chat.Entry {
	w.Helper()
	var e chat.Entry
	w.ok(json.Unmarshal(m.JSON, &e))
	return e
}

func ids(messages []chat.Message) []int64 {
	out := []int64{}
	for _, m := range messages {
		out = append(out, m.ID)
	}
	return out
}

// span is the ids from..to.
func span(from, to int64) []int64 {
	out := []int64{}
	for id := from; id <= to; id++ {
		out = append(out, id)
	}
	return out
}
