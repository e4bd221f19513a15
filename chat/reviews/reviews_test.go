package reviews_test

import (
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/reviews"
	"github.com/chatd/chatd/chat/schedule"
	"github.com/chatd/chatd/chat/webhook"
	"github.com/chatd/chatd/internal/chattest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestExpiry: what nobody has decided about for seven days is gone, its sender hears of it, and what came later goes on waiting.
func TestExpiry(t *testing.T) {
	var now atomic.Int64
	now.Store(1_790_000_000_000)
	b := chattest.New(t, func(o *chat.Options) { o.Now = func() int64 { return now.Add(1) } })
	b.MakeGroup(chat.GroupDraft{ID: "g"}, "alice", "bob")
	webhooks := webhook.New(b.Service, b.Store, nil)
	s := reviews.New(b.Service, b.Store, schedule.New(b.Service, b.Store, webhooks), webhooks)
	held := func(body string) string {
		t.Helper()
		err := b.Review(b.Ctx, chat.Review{Group: "g", From: "bob", At: chat.TimeMs(now.Load()), Message: chat.Content{Kind: chat.Text, Body: &body}}, body, body)
		r, ok := chat.IsInReview(err)
		if !ok {
			t.Fatalf("got %v", err)
		}
		return r.ID
	}
	waiting := func() (ids []string) {
		t.Helper()
		list, err := s.List(b.Ctx, chattest.As("alice"), "g", 0, "")
		b.Must(err)
		for _, v := range list.Items {
			ids = append(ids, v.ID)
		}
		return ids
	}
	over := s.Handlers()[reviews.TaskOver]
	old := held("old")
	now.Add(time.Hour.Milliseconds())
	young := held("young")
	if pause := chattest.Do(t, over, reviews.OverTask{Group: "g"}); pause <= 0 || pause > chat.ReviewKept-time.Hour || len(waiting()) != 2 {
		t.Errorf("waits for %v, with %v", pause, waiting())
	}
	now.Add((chat.ReviewKept - time.Hour).Milliseconds())
	if _, err := s.Decide(b.Ctx, chattest.As("alice"), old, reviews.Release, ""); chat.CodeOf(err) != chat.CodeNotFound {
		t.Errorf("released late: got %v", err)
	}
	if pause := chattest.Do(t, over, reviews.OverTask{Group: "g"}); pause <= 0 || pause > time.Hour {
		t.Errorf("waits for %v, want the rest of the hour", pause)
	}
	if got := waiting(); len(got) != 1 || got[0] != young {
		t.Errorf("got %v, want %s", got, young)
	}
	now.Add(time.Hour.Milliseconds())
	if pause := chattest.Do(t, over, reviews.OverTask{Group: "g"}); pause != 0 || len(waiting()) != 0 {
		t.Errorf("waits for %v, with %v", pause, waiting())
	}
	_, err := s.Decide(b.Ctx, chattest.As("alice"), young, reviews.Drop, "")
	b.Refused("dropped late", err, chat.CodeNotFound)
}
