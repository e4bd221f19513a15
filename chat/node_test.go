package chat_test

import (
	"context"
	"encoding/json"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/internal/redistest"
	"github.com/chatd/chatd/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// node is a service that runs over a real Redis.
type node struct {
	*chat.Service
	store *store.Store
	redis *redistest.Server
}

// startLive starts a service with its loops, on a Redis of its own.
func startLive(t testing.TB, limits func(*chat.Limits)) *node {
	t.Helper()
	redis := redistest.Start(t)
	l := chat.DefaultLimits()
	if limits != nil {
		limits(&l)
	}
	st, err := store.Open(t.Context(), store.Options{URL: redis.URL(), Limits: l})
	if err != nil {
		t.Fatal(err)
	}
	s := chat.New(st, chat.Options{Limits: l})
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { _ = s.Run(ctx) })
	t.Cleanup(func() {
		cancel()
		wg.Wait()
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	return &node{Service: s, store: st, redis: redis}
}

func (n *node) group(t testing.TB, id, owner string, members ...string) {
	t.Helper()
	if _, err := n.CreateGroup(t.Context(), chat.Caller{User: owner}, chat.GroupDraft{ID: id, Members: members}); err != nil {
		t.Fatal(err)
	}
}

func (n *node) say(t testing.TB, group, from, body string) int64 {
	t.Helper()
	sent, err := n.Send(t.Context(), chat.Caller{User: from}, group, chat.Content{Body: &body}, "")
	if err != nil {
		t.Fatal(err)
	}
	return sent.ID
}

// runTask does what a worker would.
func (n *node) runTask(t testing.TB, kind string, payload any) {
	t.Helper()
	b, err := json.Marshal(payload)
	if err != nil {
		t.Fatal(err)
	}
	if err := n.Handlers()[kind].Run(t.Context(), chat.TaskRun{Payload: b}); err != nil {
		t.Fatal(err)
	}
}
