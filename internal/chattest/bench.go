// Package chattest is shared by the tests of the domain: a service on a real redis-server, with the calls that most of
// them make, and workers for its tasks.
package chattest

import (
	"context"
	"encoding/json"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/internal/redistest"
	"github.com/chatd/chatd/store"
)

// patience is how long one test may take.
const patience = 3 * time.Minute

// Bench is the core of a node without its loops and workers. Its calls end the test if they fail.
type Bench struct {
	*chat.Service
	T     *testing.T
	Ctx   context.Context
	Store *store.Store
	now   atomic.Int64
}

// New makes a Bench with its own Redis. Its clock only advances by a millisecond each time it is read.
func New(t *testing.T, change ...func(*chat.Options)) *Bench {
	t.Helper()
	return Open(t, redistest.Start(t).URL(), change...)
}

// Open makes a Bench as New does, on the Redis at url.
func Open(t *testing.T, url string, change ...func(*chat.Options)) *Bench {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	b := &Bench{T: t, Ctx: ctx}
	b.now.Store(1_790_000_000_000)
	opt := chat.Options{Limits: chat.DefaultLimits(), Now: func() int64 { return b.now.Add(1) }}
	for _, c := range change {
		c(&opt)
	}
	stores, err := store.Open(ctx, store.Options{URL: url, Limits: opt.Limits})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = stores.Close() })
	b.Store, b.Service = stores, chat.New(stores, opt)
	return b
}

// As returns a user as the caller.
func As(user string) chat.Caller { return chat.Caller{User: user} }

// Operator returns an operator as the caller.
func Operator(user string) chat.Caller { return chat.Caller{User: user, Admin: true} }

// Must ends the test if err is not nil.
func (b *Bench) Must(err error) {
	b.T.Helper()
	if err != nil {
		b.T.Fatal(err)
	}
}

// Refused checks the code of an error.
func (b *Bench) Refused(what string, err error, want chat.Code) {
	b.T.Helper()
	if got := chat.CodeOf(err); got != want {
		b.T.Errorf("%s: got %v, want %q", what, err, want)
	}
}

// MakeGroup creates a group with its members, each with a notice of their own.
func (b *Bench) MakeGroup(d chat.GroupDraft, owner string, members ...string) chat.Group {
	b.T.Helper()
	d.Members = members[:min(1, len(members))]
	g, err := b.CreateGroup(b.Ctx, As(owner), d)
	b.Must(err)
	for _, user := range members[len(d.Members):] {
		_, _, err := b.PutMember(b.Ctx, As(owner), g.ID, user, "")
		b.Must(err)
	}
	g, err = b.Group(b.Ctx, As(owner), g.ID)
	b.Must(err)
	return g
}

// Say sends a text.
func (b *Bench) Say(user, group, body string) chat.Sent {
	b.T.Helper()
	sent, err := b.Send(b.Ctx, As(user), group, chat.Content{Body: &body}, "")
	b.Must(err)
	return sent
}

// At returns the entry with id as user gets it.
func (b *Bench) At(user, group string, id int64) chat.Entry {
	b.T.Helper()
	batch := b.PullFrom(user, group, fmt.Sprint(id-1), 1)
	if len(batch.Messages) != 1 || batch.From != id {
		b.T.Fatalf("%s is served %d messages from %d of %s, want %d", user, len(batch.Messages), batch.From, group, id)
	}
	var e chat.Entry
	b.Must(json.Unmarshal(batch.Messages[0].JSON, &e))
	return e
}

// Items returns the items of a user's inbox.
func (b *Bench) Items(user string) []chat.Item {
	b.T.Helper()
	batch, err := b.Inbox(b.Ctx, As(user), chat.Position{}, 1000)
	b.Must(err)
	items := make([]chat.Item, len(batch.Items))
	for i, raw := range batch.Items {
		b.Must(json.Unmarshal(raw.JSON, &items[i]))
	}
	return items
}

// ItemLines describes each item of a user's inbox: its kind, its sender, and the group and id of its message.
func (b *Bench) ItemLines(user string) []string {
	b.T.Helper()
	var lines []string
	for _, it := range b.Items(user) {
		lines = append(lines, fmt.Sprintf("%s %s %s %d", it.Kind, it.From, it.Group, it.ID))
	}
	return lines
}

// PullFrom pulls from a group after a position.
func (b *Bench) PullFrom(user, group, after string, limit int) chat.Batch {
	b.T.Helper()
	batch, _, err := b.Pull(b.Ctx, As(user), group, chat.PullQuery{After: &after, Limit: limit})
	b.Must(err)
	return batch
}
