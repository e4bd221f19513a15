package local

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/client/internal/clock"
)

// TestShowsNothingAfterItsEnd: a message whose time has come is shown as deleted, even where nobody has said so: the device is offline.
func TestShowsNothingAfterItsEnd(t *testing.T) {
	start := time.UnixMilli(1_800_000_000_000)
	now := &set{Clock: clock.From(t.Context())}
	now.ms.Store(start.UnixMilli())
	chat := openChat(clock.With(t.Context(), now), t, "http://127.0.0.1:1")
	defer chat.Close()
	end := start.Add(time.Minute)
	message := client.Message{ID: 1, Group: "g", From: "bob", Content: client.Content{Kind: client.KindText, Body: "secret"}, SentAt: start, ExpiresAt: &end}
	if err := chat.commit(t.Context(), func(d *draft) error {
		_, err := d.received(client.Messages{Group: "g", Epoch: "e", From: 1, To: 1, Cursor: "c1", Messages: []client.Message{message}}, nil)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	timeline, err := chat.Timeline(t.Context(), "g", At{})
	if err != nil {
		t.Fatal(err)
	}
	for _, after := range []time.Duration{0, time.Minute - time.Millisecond, time.Minute, time.Hour} {
		now.ms.Store(start.Add(after).UnixMilli())
		lines := timeline.View().Lines
		chat.mu.Lock()
		last := chat.groupLocked(chat.record("g")).LastMessage
		chat.mu.Unlock()
		if len(lines) != 1 || last == nil {
			t.Fatalf("after %v there are %d lines, and the last message is %v", after, len(lines), last)
		}
		for _, m := range []client.Message{lines[0].Message, *last} {
			if gone := after >= time.Minute; gone != (m.Body == "") || gone != (m.DeletedAt != nil) {
				t.Errorf("after %v it is %q, deleted at %v", after, m.Body, m.DeletedAt)
			}
		}
	}
}

// set is a clock that says what it is set to.
type set struct {
	clock.Clock
	ms atomic.Int64 // of Unix time
}

func (s *set) Now() time.Time { return time.UnixMilli(s.ms.Load()) }
