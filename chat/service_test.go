package chat_test

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/live"
	"github.com/chatd/chatd/internal/redistest"
	"github.com/chatd/chatd/store"
)

// bench is a service on a real redis-server, with the calls that most tests make.
type bench struct {
	*chat.Service
	t      *testing.T
	ctx    context.Context
	stores *store.Store
	now    atomic.Int64
}

func newBench(t *testing.T, change ...func(*chat.Options)) *bench {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	b := &bench{t: t, ctx: ctx}
	b.now.Store(1_790_000_000_000)
	opt := chat.Options{Limits: chat.DefaultLimits(), Now: func() int64 { return b.now.Add(1) }}
	for _, c := range change {
		c(&opt)
	}
	stores, err := store.Open(ctx, store.Options{URL: redistest.Start(t).URL(), Limits: opt.Limits})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = stores.Close() })
	b.stores, b.Service = stores, chat.New(stores, opt)
	return b
}

// live runs the loops of the core and of a live part over it until the test ends.
func (b *bench) live() *live.Service {
	readers := live.New(b.Service, b.stores)
	ctx, stop := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { _ = b.Run(ctx) })
	wg.Go(func() { _ = readers.Run(ctx) })
	b.t.Cleanup(func() { stop(); wg.Wait() })
	return readers
}

func as(user string) chat.Caller       { return chat.Caller{User: user} }
func operator(user string) chat.Caller { return chat.Caller{User: user, Admin: true} }
func ptr[T any](v T) *T                { return &v }

func (b *bench) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) refused(what string, err error, want chat.Code) {
	b.t.Helper()
	if got := chat.CodeOf(err); got != want {
		b.t.Errorf("%s: got %v, want %q", what, err, want)
	}
}

// group makes a group with its members: the first is the owner.
func (b *bench) group(d chat.GroupDraft, owner string, members ...string) chat.Group {
	b.t.Helper()
	d.Members = members
	g, err := b.CreateGroup(b.ctx, as(owner), d)
	b.must(err)
	return g
}

func (b *bench) say(user, group, body string) chat.Sent {
	b.t.Helper()
	sent, err := b.Send(b.ctx, as(user), group, chat.Content{Body: &body}, "")
	b.must(err)
	return sent
}

func (b *bench) pull(user, group, after string, limit int) chat.Batch {
	b.t.Helper()
	batch, _, err := b.Pull(b.ctx, as(user), group, chat.PullQuery{After: &after, Limit: limit})
	b.must(err)
	return batch
}

func entry(t *testing.T, raw []byte) chat.Entry {
	t.Helper()
	var e chat.Entry
	if err := json.Unmarshal(raw, &e); err != nil {
		t.Fatalf("%v: %s", err, raw)
	}
	return e
}

// at is the entry with id as user is served it.
func (b *bench) at(user, group string, id int64) chat.Entry {
	b.t.Helper()
	batch := b.pull(user, group, fmt.Sprint(id-1), 1)
	if len(batch.Messages) != 1 || batch.From != id {
		b.t.Fatalf("%s is served %d messages from %d of %s, want %d", user, len(batch.Messages), batch.From, group, id)
	}
	return entry(b.t, batch.Messages[0].JSON)
}
