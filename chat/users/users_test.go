package users

import (
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/table"
	"github.com/chatd/chatd/internal/chattest"
	"github.com/chatd/chatd/store"
)

var root = chattest.Operator("root")

var begin = time.UnixMilli(1_790_000_000_500)

// stores is what a node has of the store.
type stores struct {
	*store.Tables
	*store.Notifications
}

// node is what one node has of users; it is its own sockets, and records what is asked of them.
type node struct {
	*chattest.Bench
	*Service
	follower          *table.Follower
	rechecked, closed []string
	sessions          map[string][]Session
	seen              map[string]time.Time
}

func newNode(b *chattest.Bench, name string) *node {
	n := &node{Bench: b, sessions: map[string][]Session{}, seen: map[string]time.Time{}}
	log := slog.New(slog.DiscardHandler)
	n.Service = New(stores{b.Store.Tables, b.Store.Notifications}, Options{Node: name, Now: func() time.Time { return begin }, Log: log})
	n.Attach(n)
	n.follower = table.Follow(b.Store.Tables, log, n.Users(), n.Asks())
	return n
}

func (n *node) RecheckUsers(users []string)        { n.rechecked = append(n.rechecked, users...) }
func (n *node) Disconnect(user string)             { n.closed = append(n.closed, user) }
func (n *node) SessionsOf(user string) []Session   { return slices.Clone(n.sessions[user]) }
func (n *node) end(user string) error              { return n.Service.Disconnect(n.Ctx, root, user) }
func (n *node) lookAt(after time.Duration)         { n.look(n.Ctx, begin.Add(after), n.seen) }
func (n *node) refuses(user string, s int64) error { return n.CheckToken(user, s) }

// follow has the node read what changed.
func (n *node) follow() {
	n.T.Helper()
	n.Must(n.follower.Load(n.Ctx))
}

func TestRevoke(t *testing.T) {
	b := chattest.New(t)
	n, other := newNode(b, "a"), newNode(b, "b")
	at := begin.Unix()
	n.Must(n.refuses("alice", 0))
	earlier := begin.Add(-time.Hour)
	n.Must(n.Revoke(n.Ctx, root, "alice", &earlier))
	n.Must(n.refuses("alice", earlier.Unix()+1))
	n.Refused("the same second", n.refuses("alice", earlier.Unix()), chat.CodeUnauthenticated)
	n.Refused("no time", n.refuses("alice", 0), chat.CodeUnauthenticated)
	n.Must(n.Revoke(n.Ctx, root, "alice", nil))
	n.Must(n.Revoke(n.Ctx, root, "alice", &earlier))
	n.Refused("the same second as now", n.refuses("alice", at), chat.CodeUnauthenticated)
	n.Must(n.refuses("alice", at+1))
	n.Must(n.refuses("bob", 0))
	later := begin.Add(time.Millisecond)
	n.Refused("the future", n.Revoke(n.Ctx, root, "alice", &later), chat.CodeOutOfRange)
	n.Must(n.Revoke(n.Ctx, root, "alice", &begin))
	n.Refused("no user", n.Revoke(n.Ctx, root, "a b", nil), chat.CodeInvalid)
	if got := slices.Compact(n.rechecked); !slices.Equal(got, []string{"alice"}) {
		t.Errorf("got %q rechecked, want alice", got)
	}
	other.Must(other.refuses("alice", at))
	other.follow()
	other.Refused("on another node", other.refuses("alice", at), chat.CodeUnauthenticated)
}

func TestDecide(t *testing.T) {
	n := newNode(chattest.New(t), "a")
	yes, no := true, false
	decide := func(user string, disabled, operator *bool, want bool) {
		t.Helper()
		changed, err := n.Decide(n.Ctx, root, user, disabled, operator)
		n.Must(err)
		if changed != want {
			t.Errorf("%s: got changed %v, want %v", user, changed, want)
		}
	}
	n.Must(n.Revoke(n.Ctx, root, "alice", nil))
	decide("alice", &yes, nil, true)
	decide("alice", &yes, nil, false)
	n.Refused("disabled", n.refuses("alice", begin.Unix()+1), chat.CodeForbidden)
	decide("alice", &no, nil, true)
	if n.Disabled("alice") {
		t.Error("alice is disabled still")
	}
	n.Refused("revoked still", n.refuses("alice", begin.Unix()), chat.CodeUnauthenticated)
	decide("bob", nil, &yes, true)
	if !n.Operator("bob") || n.Operator("alice") {
		t.Error("want bob an operator, and nobody else")
	}
	decide("bob", &no, nil, false)
	n.Must(n.Erase(n.Ctx, "bob"))
	n.Must(n.Erase(n.Ctx, "bob"))
	decide("bob", nil, &no, false)
	if _, err := n.Store.Row(n.Ctx, TableName, "bob"); chat.CodeOf(err) != chat.CodeNotFound {
		t.Errorf("got %v, want no row of someone about whom nothing is decided", err)
	}
}

// TestChangesMeet: of many who change the same user, each takes effect.
func TestChangesMeet(t *testing.T) {
	b := chattest.New(t)
	yes := true
	var wg sync.WaitGroup
	for i := range 4 {
		n := newNode(b, fmt.Sprint(i))
		wg.Go(func() {
			if err := n.Revoke(b.Ctx, root, "alice", nil); err != nil {
				t.Error(err)
			}
			if _, err := n.Decide(b.Ctx, root, "alice", &yes, nil); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	row, err := b.Store.Row(b.Ctx, TableName, "alice")
	b.Must(err)
	if want := fmt.Sprintf(`{"revoked_s":%d,"disabled":true}`, begin.Unix()); row.Text != want {
		t.Errorf("got %s, want %s", row.Text, want)
	}
}

// TestQuestions: every node does what is asked once, and rows that have served are removed, also those of a node that died.
func TestQuestions(t *testing.T) {
	b := chattest.New(t)
	asks, answers := newNode(b, "a"), newNode(b, "b")
	rows := func() int {
		t.Helper()
		page, err := b.Store.Changes(b.Ctx, asksName, 0)
		b.Must(err)
		return len(page.Rows)
	}
	b.Must(asks.end("bob"))
	for range 2 {
		answers.follow()
		answers.lookAt(0)
	}
	asks.lookAt(0)
	if !slices.Equal(asks.closed, []string{"bob"}) || !slices.Equal(answers.closed, []string{"bob"}) {
		t.Errorf("got %q and %q, want bob closed once", asks.closed, answers.closed)
	}
	answers.lookAt(askKept)
	if got := rows(); got != 1 {
		t.Errorf("got %d rows, want that of the other node", got)
	}
	asks.lookAt(askKept)
	if got := rows(); got != 0 {
		t.Errorf("got %d rows, want none", got)
	}
	b.Must(asks.end("carl"))
	answers.follow()
	answers.lookAt(askKept)
	answers.lookAt(askKept + askLeft)
	if got := rows(); got != 0 || len(answers.asks.All()) != 0 {
		t.Errorf("got %d rows, want none", got)
	}
	answers.lookAt(0)
	if len(answers.seen) != 0 {
		t.Errorf("got %v remembered, want nothing", answers.seen)
	}

	// The asking node waits for those alone that have sessions of the user.
	answers.sessions["alice"] = []Session{{ID: "s", Since: chat.TimeMs(1000), Address: "::1", Groups: 2}}
	list, err := asks.Sessions(b.Ctx, "alice")
	b.Must(err)
	if len(list) != 0 || rows() != 0 {
		t.Errorf("got %v and %d rows, want nobody asked", list, rows())
	}
	b.Must(b.Store.Arrive(b.Ctx, "b", []string{"alice"}, time.Minute))
	var wg sync.WaitGroup
	wg.Go(func() {
		for b.Ctx.Err() == nil && rows() == 0 {
		}
		answers.follow()
		answers.lookAt(0)
		asks.follow()
	})
	list, err = asks.Sessions(b.Ctx, "alice")
	wg.Wait()
	b.Must(err)
	want := answers.sessions["alice"][0]
	want.Node = "b"
	if len(list) != 1 || list[0].ID != want.ID || list[0].Node != "b" || !list[0].Since.Equal(want.Since.Time) || list[0].Groups != 2 {
		t.Errorf("got %+v, want %+v", list, want)
	}
}
