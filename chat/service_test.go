package chat_test

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

// bench is a service on a real redis-server, with the calls that most tests make.
type bench struct {
	*chat.Service
	t      *testing.T
	ctx    context.Context
	stores *store.Store
	steps  *stepped // what Service sees of stores
	now    atomic.Int64
}

// stepped is a store that lets a test act right after a read, before the service sees what was read.
type stepped struct {
	*store.Store
	pulled atomic.Pointer[func()]
}

// afterPull calls do once, when the next Pull has read and has yet to return.
func (s *stepped) afterPull(do func()) { s.pulled.Store(&do) }

func (s *stepped) Pull(ctx context.Context, user string, pulls []chat.Pull) ([]chat.Page, error) {
	pages, err := s.Store.Pull(ctx, user, pulls)
	if do := s.pulled.Swap(nil); do != nil {
		(*do)()
	}
	return pages, err
}

// signalsOnly turns the safety check off: whatever wakes a reader is a signal.
func signalsOnly(l *chat.Limits) { l.SafetyCheck = time.Hour }

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
	b.stores, b.steps = stores, &stepped{Store: stores}
	b.Service = chat.New(b.steps, opt)
	return b
}

// live runs the service's loops until the test ends.
func (b *bench) live() {
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = b.Run(ctx)
	}()
	b.t.Cleanup(func() { stop(); <-done })
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
	sent, err := b.Send(b.ctx, as(user), group, chat.Draft{Body: &body}, "")
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
