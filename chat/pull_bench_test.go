package chat_test

import (
	"strings"
	"testing"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/internal/redistest"
	"github.com/chatd/chatd/store"
)

// BenchmarkPull reads 20 messages of a group.
func BenchmarkPull(b *testing.B) {
	stores, err := store.Open(b.Context(), store.Options{URL: redistest.Start(b).URL(), Limits: chat.DefaultLimits()})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = stores.Close() }()
	s := chat.New(stores, chat.Options{})
	body, after := strings.Repeat("x", 200), "2"
	_, err = s.CreateGroup(b.Context(), as("ann"), chat.GroupDraft{ID: "g", Members: []string{"bob"}})
	for range 20 {
		if err == nil {
			_, err = s.Send(b.Context(), as("ann"), "g", chat.Content{Body: &body}, "")
		}
	}
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if batch, _, err := s.Pull(b.Context(), as("bob"), "g", chat.PullQuery{After: &after}); err != nil || batch.To != 22 {
			b.Fatal(batch.To, err)
		}
	}
}
