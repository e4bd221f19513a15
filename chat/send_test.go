package chat_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/chatd/chatd/chat"
)

func TestSendTwice(t *testing.T) {
	b := newBench(t)
	b.MakeGroup(chat.GroupDraft{ID: "g"}, "alice", "bob")
	d := chat.Content{Body: new("hi <&> \u2028 \"\n"), ClientID: "c-1", ReplyTo: 1, Mentions: []string{"bob", "zoe", "bob"},
		Data: []byte(`{ "n": 1.50 }`)}
	first, err := b.Send(b.Ctx, as("alice"), "g", d, "")
	b.Must(err)
	again, err := b.Send(b.Ctx, as("alice"), "g", d, "")
	b.Must(err)
	if first.Duplicate || !again.Duplicate || !bytes.Equal(first.JSON, again.JSON) || first.Mark != again.Mark {
		t.Errorf("first %+v\n%s\nagain %+v\n%s", first, first.JSON, again, again.JSON)
	}
	batch := b.PullFrom("bob", "g", fmt.Sprint(first.ID-1), 1)
	if !bytes.Equal(batch.Messages[0].JSON, first.JSON) {
		t.Errorf("served %s, answered %s", batch.Messages[0].JSON, first.JSON)
	}
	want := `{"id":3,"group":"g","from":"alice","kind":"text","body":"hi <&> \u2028 \"\n","data":{"n":1.50},"client_id":"c-1",` +
		`"reply_to":1,"mentions":["bob","zoe"],"sent_at":"` + first.SentAt.String() + `"}`
	if string(first.JSON) != want {
		t.Errorf("got  %s\nwant %s", first.JSON, want)
	}
	d.Body = new("other")
	_, err = b.Send(b.Ctx, as("alice"), "g", d, "")
	b.Refused("another content", err, chat.CodeKeyReused)
	_, err = b.Send(b.Ctx, as("bob"), "g", chat.Content{Body: new("x"), ClientID: "c-1"}, "")
	b.Must(err)
	_, err = b.Send(b.Ctx, as("alice"), "g", chat.Content{Body: new("x"), ReplyTo: 99}, "")
	b.Refused("a reply to what is not there", err, chat.CodeOutOfRange)
	_, err = b.Send(b.Ctx, as("alice"), "g", chat.Content{Body: new("x")}, "tape")
	b.Refused("an unknown durability", err, chat.CodeInvalid)
}

func TestEditAndDelete(t *testing.T) {
	b := newBench(t)
	b.MakeGroup(chat.GroupDraft{ID: "g"}, "alice", "bob", "cid")
	m := b.Say("bob", "g", "frist")
	edit := chat.Content{Kind: chat.Edit, Target: m.ID, Body: new("first"), ClientID: "e"}
	sent, err := b.Send(b.Ctx, as("bob"), "g", edit, "")
	b.Must(err)
	again, err := b.Send(b.Ctx, as("bob"), "g", edit, "")
	b.Must(err)
	if !again.Duplicate || !bytes.Equal(again.JSON, sent.JSON) {
		t.Errorf("got %s, want %s", again.JSON, sent.JSON)
	}
	if e := b.At("cid", "g", m.ID); *e.Body != "first" || e.EditedAt == nil || !e.SentAt.Equal(m.SentAt.Time) {
		t.Errorf("edited: got %+v", e)
	}
	_, err = b.Send(b.Ctx, as("alice"), "g", chat.Content{Kind: chat.Edit, Target: m.ID, Body: new("mine")}, "")
	b.Refused("the owner edits another's", err, chat.CodeForbidden)
	_, err = b.Send(b.Ctx, as("bob"), "g", chat.Content{Kind: chat.Edit, Target: m.ID, Data: []byte("1")}, "")
	b.Refused("data for a text", err, chat.CodeInvalid)
	_, err = b.Send(b.Ctx, as("bob"), "g", chat.Content{Kind: chat.Edit, Target: 1, Body: new("x")}, "")
	b.Refused("a notice", err, chat.CodeInvalid)
	_, err = b.Send(b.Ctx, as("bob"), "g", chat.Content{Kind: chat.Edit, Target: 1 << 60, Body: new("x")}, "")
	b.Refused("beyond the end", err, chat.CodeNotFound)
	_, err = b.Send(b.Ctx, as("cid"), "g", chat.Content{Kind: chat.Delete, Target: m.ID}, "")
	b.Refused("a member deletes another's", err, chat.CodeForbidden)

	gone := chat.Content{Kind: chat.Delete, Target: m.ID, ClientID: "d"}
	first, err := b.Send(b.Ctx, as("alice"), "g", gone, "")
	b.Must(err)
	again, err = b.Send(b.Ctx, as("alice"), "g", gone, "")
	b.Must(err)
	if !again.Duplicate || !bytes.Equal(again.JSON, first.JSON) {
		t.Errorf("a deletion again: got %s, want %s", again.JSON, first.JSON)
	}
	gone.ClientID = "d2"
	_, err = b.Send(b.Ctx, as("alice"), "g", gone, "")
	b.Refused("deleted twice", err, chat.CodeNotFound)
	_, err = b.Send(b.Ctx, as("alice"), "g", chat.Content{Kind: chat.Delete, Target: 1, ClientID: "d"}, "")
	b.Refused("the key of another deletion", err, chat.CodeKeyReused)
	for _, id := range []int64{m.ID, sent.ID} {
		if e := b.At("cid", "g", id); e.Body != nil || e.DeletedAt == nil {
			t.Errorf("%d still says %+v", id, e)
		}
	}
	_, err = b.Send(b.Ctx, as("bob"), "g", edit, "")
	b.Must(err) // the first answer again, although the target is gone
	edit.ClientID = ""
	_, err = b.Send(b.Ctx, as("bob"), "g", edit, "")
	b.Refused("an edit of what is deleted", err, chat.CodeNotFound)
}

func TestEditsAreBounded(t *testing.T) {
	b := newBench(t, func(o *chat.Options) { o.Limits.EditsMax = 3 })
	b.MakeGroup(chat.GroupDraft{ID: "g"}, "alice")
	m := b.Say("alice", "g", "0")
	edit := func(body string) error {
		_, err := b.Send(b.Ctx, as("alice"), "g", chat.Content{Kind: chat.Edit, Target: m.ID, Body: &body}, "")
		return err
	}
	for i := range 3 {
		b.Must(edit(fmt.Sprint(i + 1)))
	}
	b.Refused("one more", edit("4"), chat.CodeConflict)
}

func TestDataEditAndOperatorDelete(t *testing.T) {
	b := newBench(t)
	b.MakeGroup(chat.GroupDraft{ID: "g"}, "alice", "root")
	m, err := b.Send(b.Ctx, as("alice"), "g", chat.Content{Data: []byte(`{"a":1}`)}, "")
	b.Must(err)
	_, err = b.Send(b.Ctx, as("alice"), "g", chat.Content{Kind: chat.Edit, Target: m.ID, Data: []byte(`[2]`)}, "")
	b.Must(err)
	if e := b.At("root", "g", m.ID); string(e.Data) != "[2]" || e.Kind != chat.Data {
		t.Errorf("got %+v", e)
	}
	_, err = b.Send(b.Ctx, as("root"), "g", chat.Content{Kind: chat.Delete, Target: m.ID}, "")
	b.Refused("a member", err, chat.CodeForbidden)
	_, err = b.Send(b.Ctx, operator("root"), "g", chat.Content{Kind: chat.Delete, Target: m.ID}, "")
	b.Must(err)
}

func TestReactions(t *testing.T) {
	b := newBench(t)
	b.MakeGroup(chat.GroupDraft{ID: "g"}, "alice", "bob")
	m := b.Say("alice", "g", "hi")
	react := func(user, key string, removed bool) (chat.Sent, error) {
		return b.Send(b.Ctx, as(user), "g", chat.Content{Kind: chat.Reaction, Target: m.ID, Emoji: "👍", Removed: removed, ClientID: key}, "")
	}
	first, err := react("bob", "r1", false)
	b.Must(err)
	again, err := react("bob", "r2", false)
	b.Must(err)
	if !again.Duplicate || !bytes.Equal(again.JSON, first.JSON) {
		t.Errorf("the same reaction twice: got %s, want %s", again.JSON, first.JSON)
	}
	_, views, err := b.Pull(b.Ctx, as("bob"), "g", chat.PullQuery{After: new(fmt.Sprint(m.ID - 1)), Limit: 1})
	b.Must(err)
	if got := views[0].Reactions["👍"]; got != (chat.ReactionCount{Count: 1, Mine: true}) {
		t.Errorf("got %+v", views[0].Reactions)
	}
	_, err = react("alice", "", true)
	b.Refused("a reaction that never was", err, chat.CodeNotFound)
	_, err = react("bob", "", true)
	b.Must(err)
	_, err = b.Send(b.Ctx, as("bob"), "g", chat.Content{Kind: chat.Reaction, Target: 1 << 60, Emoji: "👍"}, "")
	b.Refused("beyond the end", err, chat.CodeNotFound)
}

func TestCursors(t *testing.T) {
	b := newBench(t)
	b.MakeGroup(chat.GroupDraft{ID: "g"}, "alice", "bob")
	for i := range 4 {
		b.Say("alice", "g", fmt.Sprint(i))
	}
	got, err := b.Ack(b.Ctx, as("bob"), "g", chat.At(4))
	b.Must(err)
	if got != (chat.Cursors{Seen: 4, Read: 0, Unread: 4}) {
		t.Errorf("ack: got %+v", got)
	}
	got, err = b.Ack(b.Ctx, as("bob"), "g", chat.At(2))
	b.Must(err)
	if got.Seen != 4 {
		t.Errorf("ack below: got %+v", got)
	}
	got, err = b.Read(b.Ctx, as("bob"), "g", chat.At(6))
	b.Must(err)
	if got != (chat.Cursors{Seen: 6, Read: 6}) {
		t.Errorf("read: got %+v", got)
	}
	got, err = b.Unread(b.Ctx, as("bob"), "g", 5)
	b.Must(err)
	if got != (chat.Cursors{Seen: 6, Read: 4, Unread: 2}) {
		t.Errorf("unread: got %+v", got)
	}
	counts, err := b.UnreadCounts(b.Ctx, as("bob"))
	b.Must(err)
	if counts.Total != 2 || counts.Groups["g"] != 2 {
		t.Errorf("counts: got %+v", counts)
	}
	for id, want := range map[int64]chat.Code{-1: chat.CodeInvalid, 7: chat.CodeOutOfRange, 1 << 60: chat.CodeOutOfRange, 1<<63 - 1: chat.CodeOutOfRange} {
		_, err := b.Ack(b.Ctx, as("bob"), "g", chat.At(id))
		b.Refused(fmt.Sprintf("ack %d", id), err, want)
	}
	r, next, err := b.Receipts(b.Ctx, as("alice"), "g", chat.ReceiptsQuery{ID: 5})
	b.Must(err)
	if next != "" || r.Members != 1 || r.Seen != 1 || r.Read != 0 || len(r.SeenBy) != 1 || r.SeenBy[0].Read != 4 {
		t.Errorf("receipts: got %+v, next %q", r, next)
	}
	_, _, err = b.Receipts(b.Ctx, as("alice"), "g", chat.ReceiptsQuery{ID: 99})
	b.Refused("receipts of nothing", err, chat.CodeNotFound)
	_, _, err = b.Receipts(b.Ctx, as("alice"), "g", chat.ReceiptsQuery{ID: 5, Cursor: "x"})
	b.Refused("a bad cursor", err, chat.CodeInvalid)
}
