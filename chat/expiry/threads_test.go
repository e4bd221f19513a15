package expiry_test

import (
	"testing"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/internal/chattest"
)

// TestExpireInThreads: a reply that goes counts no longer, and a root that goes takes its thread along.
func TestExpireInThreads(t *testing.T) {
	b := newBench(t, false)
	b.MakeGroup(chat.GroupDraft{ID: "g"}, "alice", "bob")
	send := func(c chat.Content) int64 {
		t.Helper()
		body := "x"
		c.Body = &body
		sent, err := b.Send(b.Ctx, chattest.As("alice"), "g", c, "")
		b.Must(err)
		return sent.ID
	}
	counts := func(root, replies, unread int64) {
		t.Helper()
		th, _, _, err := b.Store.Thread(b.Ctx, "g", "bob", root, 0, 0, 10)
		b.Must(err)
		info, err := b.Info(b.Ctx, "bob", "g")
		b.Must(err)
		if th.Replies != replies || info.ThreadsUnread != unread {
			t.Errorf("root %d: got %d replies, %d unread in threads; want %d and %d", root, th.Replies, info.ThreadsUnread, replies, unread)
		}
	}
	stays := b.Say("bob", "g", "stays").ID
	send(chat.Content{Thread: stays})
	b.ago(2 * time.Hour)
	send(chat.Content{Thread: stays, ExpireS: 60})
	goes := send(chat.Content{ExpireS: 600})
	b.ago(0)
	send(chat.Content{Thread: goes, Mentions: []string{"bob"}})
	counts(stays, 2, 3)
	counts(goes, 1, 3)
	b.run("g")
	counts(stays, 1, 1)
	counts(goes, 0, 1)
}
