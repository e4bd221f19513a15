package chat_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chatd/chatd/chat"
)

func TestDirect(t *testing.T) {
	b := newBench(t)
	d := chat.Direct{Body: new("hi <b>"), Data: []byte(`{ "a": 1 }`), ClientID: "k"}
	first, duplicate, err := b.SendDirect(b.Ctx, as("bob"), "alice", d)
	b.Must(err)
	if duplicate || first.Seq != 1 || first.To != "alice" || first.From != "bob" || string(first.Data) != `{"a":1}` {
		t.Errorf("got %+v", first)
	}
	again, duplicate, err := b.SendDirect(b.Ctx, as("bob"), "alice", d)
	b.Must(err)
	if !duplicate || again.Seq != 1 || !again.SentAt.Equal(first.SentAt.Time) {
		t.Errorf("again: got %+v", again)
	}
	d.Body = new("other")
	_, _, err = b.SendDirect(b.Ctx, as("bob"), "alice", d)
	b.Refused("another content", err, chat.CodeKeyReused)
	batch, err := b.Inbox(b.Ctx, as("alice"), chat.Position{}, 0)
	b.Must(err)
	want := `{"seq":1,"kind":"direct","from":"bob","body":"hi <b>","data":{"a":1},"client_id":"k","sent_at":"` + first.SentAt.String() + `"}`
	if len(batch.Items) != 1 || string(batch.Items[0].JSON) != want || !batch.Complete || batch.To != 1 {
		t.Errorf("got %s\nwant %s", batch.Items[0].JSON, want)
	}
	for what, c := range map[string]struct {
		to   string
		d    chat.Direct
		want chat.Code
	}{"no body": {"alice", chat.Direct{}, chat.CodeInvalid}, "a bad id": {"a b", chat.Direct{Body: new("x")}, chat.CodeInvalid},
		"too long":  {"alice", chat.Direct{Body: new(strings.Repeat("x", 16<<10+1))}, chat.CodeTooLarge},
		"a bad key": {"alice", chat.Direct{Body: new("x"), ClientID: "\n"}, chat.CodeInvalid}} {
		_, _, err := b.SendDirect(b.Ctx, as("bob"), c.to, c.d)
		b.Refused(what, err, c.want)
	}
	ack := func(seq int64) error {
		_, err := b.AckInbox(b.Ctx, as("alice"), chat.At(seq))
		return err
	}
	b.Must(ack(1))
	b.Must(ack(1))
	b.Refused("above the last", ack(2), chat.CodeOutOfRange)
	b.Refused("negative", ack(-1), chat.CodeInvalid)
	batch, err = b.Inbox(b.Ctx, as("alice"), chat.Position{}, 0)
	b.Must(err)
	if len(batch.Items) != 0 || batch.From != 2 || batch.To != 1 || batch.Last != 1 || !batch.Complete {
		t.Errorf("after the ack: got %+v", batch)
	}
}

func TestInboxPages(t *testing.T) {
	b := newBench(t, func(o *chat.Options) { o.Limits.PageBytesMax, o.Limits.InboxItemsMax = 500, 4 })
	for i := range 4 {
		_, _, err := b.SendDirect(b.Ctx, as("bob"), "alice", chat.Direct{Body: new(fmt.Sprint(i) + strings.Repeat("x", 200))})
		b.Must(err)
	}
	_, _, err := b.SendDirect(b.Ctx, as("bob"), "alice", chat.Direct{Body: new("one more")})
	b.Refused("a full inbox", err, chat.CodeInboxFull)
	var at chat.Position
	got := 0
	for {
		batch, err := b.Inbox(b.Ctx, as("alice"), at, 0)
		b.Must(err)
		if batch.From != int64(got)+1 || batch.To != int64(got+len(batch.Items)) || len(batch.Items) == 0 || len(batch.Items) > 2 {
			t.Fatalf("after %d: %d..%d with %d items", got, batch.From, batch.To, len(batch.Items))
		}
		got += len(batch.Items)
		if at = batch.Position(); !batch.HasMore {
			break
		}
	}
	if got != 4 {
		t.Errorf("got %d items", got)
	}
	_, err = b.Inbox(b.Ctx, as("alice"), chat.At(-1), 0)
	b.Refused("a negative position", err, chat.CodeInvalid)
	above, err := b.Inbox(b.Ctx, as("alice"), chat.At(1<<63-1), 0)
	if err != nil || above.Complete {
		t.Errorf("a position above the last: %+v, %v", above, err)
	}
}
