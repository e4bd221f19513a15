package live_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/live"
	"github.com/chatd/chatd/internal/chattest"
	"github.com/chatd/chatd/internal/redistest"
	"github.com/chatd/chatd/store"
)

// serveBench is the live part over a real redis-server, with bob in groups of 20 messages each, of which he has seen none.
func serveBench(b *testing.B, groups int) *live.Service {
	stores, err := store.Open(b.Context(), store.Options{URL: redistest.Start(b).URL(), Limits: chat.DefaultLimits()})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = stores.Close() })
	s := chat.New(stores, chat.Options{})
	body := strings.Repeat("x", 200)
	for i := range groups {
		g, err := s.CreateGroup(b.Context(), chattest.As("ann"), chat.GroupDraft{ID: fmt.Sprint("g", i), Members: []string{"bob"}})
		for range 20 {
			if err == nil {
				_, err = s.Send(b.Context(), chattest.As("ann"), g.ID, chat.Content{Body: &body}, "")
			}
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	return live.New(s, stores)
}

func BenchmarkSync(b *testing.B) {
	s := serveBench(b, 20)
	for b.Loop() {
		if a, err := s.Sync(b.Context(), chattest.As("bob"), live.SyncRequest{Limit: 1000}); err != nil || len(a.Groups) != 20 {
			b.Fatal(len(a.Groups), err)
		}
	}
}

// BenchmarkFollow begins a session that is behind in 20 groups, and gives it all it is owed.
func BenchmarkFollow(b *testing.B) {
	s := serveBench(b, 20)
	running, stop := context.WithCancel(b.Context())
	done := make(chan struct{})
	go func() { defer close(done); _ = s.Run(running) }()
	defer func() { stop(); <-done }()
	for b.Loop() {
		f, err := s.Follow(b.Context(), chattest.As("bob"), live.Scope{})
		if err != nil {
			b.Fatal(err)
		}
		within, cancel := context.WithTimeout(b.Context(), 10*time.Second)
		for got := 0; got < 20*22; {
			e, err := f.Next(within)
			if err != nil {
				b.Fatal(err)
			}
			if e.Messages != nil {
				got += len(e.Messages.Messages)
			}
		}
		cancel()
		f.Close()
	}
}
