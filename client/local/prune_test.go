package local

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/chatd/chatd/client"
)

// TestOldMessagesGiveWay keeps about MaxBytes: what goes are the oldest messages of the group that is not shown, and they are
// asked for again.
func TestOldMessagesGiveWay(t *testing.T) {
	c, err := client.New("http://127.0.0.1:1", client.StaticToken("t"), client.WithRetry(1, client.Backoff{}))
	if err != nil {
		t.Fatal(err)
	}
	store := &MemoryStore{}
	const most = 400 << 10
	chat, err := Open(t.Context(), c, Options{Store: store, User: "ann", MaxBytes: most, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer chat.Close()
	take := func(group string, from, to int64) {
		t.Helper()
		b := client.Messages{Group: group, Epoch: "e", From: from, To: to, Cursor: client.Position(fmt.Sprint("c", to))}
		for id := from; id <= to; id++ {
			b.Messages = append(b.Messages, client.Message{Group: group, ID: id, From: "bob", Content: client.Content{Kind: client.KindText, Body: strings.Repeat("x", 100)}})
		}
		if err := chat.commit(t.Context(), func(d *draft) error {
			_, err := d.received(b, nil)
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	held := func(group string) (n int) {
		t.Helper()
		return len(keysOf(t, store, keyEntry(group, 0), keyEntry(group, idMax), 0, false))
	}
	take("shown", 1, 10)
	tl, err := chat.Timeline(t.Context(), "shown", At{})
	if err != nil {
		t.Fatal(err)
	}
	for from := int64(1); from < 5000; from += 100 {
		take("other", from, from+99)
	}
	take("shown", 11, 20)
	if got := held("shown"); got != 20 || len(tl.View().Lines) != 20 {
		t.Errorf("what is shown: %d of 20 lines are kept, and %d shown", got, len(tl.View().Lines))
	}
	chat.mu.Lock()
	bytes, log := chat.bytesLocked(), chat.groups["other"].Log
	chat.mu.Unlock()
	if n := int64(held("other")); bytes > most || n < 500 || len(log.Held) != 1 || log.Held[0] != (span{5001 - n, 5000}) || log.End != 5000 {
		t.Errorf("%d lines and %d bytes are kept, as %+v", n, bytes, log)
	}
	other, err := chat.Timeline(t.Context(), "other", At{})
	if err != nil || !other.View().Before {
		t.Errorf("got %v: what went can be loaded again", err)
	}
}
