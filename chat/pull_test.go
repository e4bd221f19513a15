package chat_test

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/chatd/chatd/chat"
)

// describe writes what matters of a batch in one line.
func describe(b chat.Batch) string {
	return fmt.Sprintf("%d..%d of %d..%d, %d, complete %v, more %v", b.From, b.To, b.First, b.Last, len(b.Messages), b.Complete, b.HasMore)
}

func TestPullPositions(t *testing.T) {
	b := newBench(t)
	b.MakeGroup(chat.GroupDraft{ID: "g", Keep: new(int64(4))}, "alice")
	for i := range 9 {
		b.Say("alice", "g", fmt.Sprint(i))
	}
	_, err := b.Ack(b.Ctx, as("alice"), "g", chat.At(10))
	b.Must(err)
	for _, c := range []struct{ after, want string }{
		{"6", "7..8 of 7..10, 2, complete true, more true"},
		{"8", "9..10 of 7..10, 2, complete true, more false"},
		{"10", "11..10 of 7..10, 0, complete true, more false"},
		{"5", "7..8 of 7..10, 2, complete false, more true"},
		{"0", "7..8 of 7..10, 2, complete false, more true"},
		{"11", "7..8 of 7..10, 2, complete false, more true"},
		{"9223372036854775807", "7..8 of 7..10, 2, complete false, more true"},
		{"another.8.-", "7..8 of 7..10, 2, complete false, more true"},
	} {
		if got := describe(b.PullFrom("alice", "g", c.after, 2)); got != c.want {
			t.Errorf("after %s: got %s, want %s", c.after, got, c.want)
		}
	}
	for _, c := range []struct {
		before int64
		want   string
	}{
		{11, "9..10 of 7..10, 2, complete true, more true"},
		{9, "7..8 of 7..10, 2, complete true, more false"},
		{7, "7..6 of 7..10, 0, complete false, more false"},
		{3, "3..2 of 7..10, 0, complete false, more false"},
		{100, "9..10 of 7..10, 2, complete true, more true"},
		{1<<63 - 1, "9..10 of 7..10, 2, complete true, more true"},
	} {
		batch, _, err := b.Pull(b.Ctx, as("alice"), "g", chat.PullQuery{Before: &c.before, Limit: 2})
		b.Must(err)
		if got := describe(batch); got != c.want {
			t.Errorf("before %d: got %s, want %s", c.before, got, c.want)
		}
	}
	for _, q := range []chat.PullQuery{{After: new("")}, {After: new("-1")}, {After: new("x")}, {Limit: -1}, {Before: new(int64(0))},
		{After: new("1"), Before: new(int64(3))}} {
		_, _, err := b.Pull(b.Ctx, as("alice"), "g", q)
		b.Refused(fmt.Sprintf("%+v", q), err, chat.CodeInvalid)
	}
}

func TestPullCursors(t *testing.T) {
	b := newBench(t)
	g := b.MakeGroup(chat.GroupDraft{ID: "g"}, "alice", "bob")
	b.Say("alice", "g", "one")
	first := b.PullFrom("bob", "g", "0", 2)
	if want := g.Epoch + ".2." + first.Messages[1].Mark; first.Cursor != want {
		t.Errorf("cursor: got %q, want %q", first.Cursor, want)
	}
	rest := b.PullFrom("bob", "g", first.Cursor, 0)
	if !rest.Complete || rest.From != 3 || rest.To != 3 {
		t.Errorf("after the cursor: %s", describe(rest))
	}
	end := b.PullFrom("bob", "g", rest.Cursor, 0)
	if !end.Complete || end.Cursor != rest.Cursor || end.From != 4 || end.To != 3 {
		t.Errorf("at the end: %s, cursor %q, want %q", describe(end), end.Cursor, rest.Cursor)
	}
	if byID := b.PullFrom("bob", "g", "3", 0); byID.Cursor != rest.Cursor {
		t.Errorf("the cursor of an empty batch by id: got %q, want %q", byID.Cursor, rest.Cursor)
	}
	if wrong := b.PullFrom("bob", "g", g.Epoch+".2.xxxxxx", 1); wrong.Complete || wrong.From != 1 {
		t.Errorf("another mark: %s", describe(wrong))
	}
	if wrong := b.PullFrom("bob", "g", g.Epoch+".3.xxxxxx", 1); wrong.Complete || wrong.From != 1 {
		t.Errorf("another mark at the end: %s", describe(wrong))
	}
	// The log begins a new life under the same name.
	b.Must(b.DeleteGroup(b.Ctx, as("alice"), "g"))
	b.MakeGroup(chat.GroupDraft{ID: "g"}, "alice", "bob", "cid")
	if again := b.PullFrom("bob", "g", rest.Cursor, 0); again.Complete || again.From != 1 || again.Epoch == g.Epoch {
		t.Errorf("the cursor of another life: %s", describe(again))
	}
}

func TestHiddenHistory(t *testing.T) {
	b := newBench(t)
	b.MakeGroup(chat.GroupDraft{ID: "g", History: new(false)}, "alice")
	for range 3 {
		b.Say("alice", "g", "before")
	}
	_, _, err := b.PutMember(b.Ctx, as("alice"), "g", "bob", "")
	b.Must(err)
	b.Say("alice", "g", "after")
	for _, after := range []string{"0", "2", "4"} {
		if got, want := describe(b.PullFrom("bob", "g", after, 0)), "5..6 of 5..6, 2, complete true, more false"; got != want {
			t.Errorf("after %s: got %s, want %s", after, got, want)
		}
	}
	batch, _, err := b.Pull(b.Ctx, as("bob"), "g", chat.PullQuery{})
	b.Must(err)
	if got, want := describe(batch), "5..6 of 5..6, 2, complete true, more false"; got != want {
		t.Errorf("from seen: got %s, want %s", got, want)
	}
	for before, want := range map[int64]string{3: "5..4 of 5..6, 0, complete true, more false", 6: "5..5 of 5..6, 1, complete true, more false"} {
		batch, _, err := b.Pull(b.Ctx, as("bob"), "g", chat.PullQuery{Before: &before})
		b.Must(err)
		if got := describe(batch); got != want {
			t.Errorf("before %d: got %s, want %s", before, got, want)
		}
	}
	_, err = b.Send(b.Ctx, as("bob"), "g", chat.Content{Kind: chat.Reaction, Target: 2, Emoji: ":x:"}, "")
	b.Refused("a reaction to what is hidden", err, chat.CodeNotFound)
	_, err = b.Send(b.Ctx, as("bob"), "g", chat.Content{Kind: chat.Edit, Target: 2, Body: new("x")}, "")
	b.Refused("an edit of what is hidden", err, chat.CodeNotFound)
}

func TestPageBytes(t *testing.T) {
	b := newBench(t, func(o *chat.Options) { o.Limits.PageBytesMax = 1000 })
	b.MakeGroup(chat.GroupDraft{ID: "g"}, "alice", "bob")
	for range 5 {
		b.Say("alice", "g", strings.Repeat("x", 300))
	}
	b.Say("alice", "g", strings.Repeat("y", 5000))
	at, pages := "0", 0
	for {
		batch := b.PullFrom("bob", "g", at, 0)
		bytes := 0
		for _, m := range batch.Messages {
			bytes += len(m.JSON)
		}
		if len(batch.Messages) == 0 || bytes > 1000 && len(batch.Messages) > 1 || !batch.Complete {
			t.Fatalf("a page of %d bytes: %s", bytes, describe(batch))
		}
		pages++
		if at = batch.Cursor; !batch.HasMore {
			break
		}
	}
	if pages < 4 {
		t.Errorf("got %d pages", pages)
	}
	batch, _, err := b.Pull(b.Ctx, as("bob"), "g", chat.PullQuery{Before: new(int64(8))})
	b.Must(err)
	if batch.To != 7 || len(batch.Messages) == 0 || len(batch.Messages) > 2 || !batch.HasMore {
		t.Errorf("before: %s", describe(batch))
	}
}

// looking notes how many groups are looked at in a step.
type looking struct {
	chat.Store
	most int
}

func (l *looking) Looks(ctx context.Context, user string, groups []string, at chat.LookAt) ([]chat.Look, error) {
	l.most = max(l.most, len(groups))
	return l.Store.Looks(ctx, user, groups, at)
}

// TestUnreadCountsInSteps: however many groups there are, few are in memory at once, and all are counted.
func TestUnreadCountsInSteps(t *testing.T) {
	b := newBench(t)
	for i := range 2100 { // the groups are the truth: most of what the index lists does not exist
		id := fmt.Sprintf("g%04d", i)
		if i%500 == 0 {
			b.MakeGroup(chat.GroupDraft{ID: id}, "alice", "bob")
			b.Say("alice", id, "hi @bob")
			continue
		}
		b.Must(b.Store.AddUserGroups(b.Ctx, []string{"bob"}, chat.UserGroup{Group: id}))
	}
	l := &looking{Store: b.Store}
	counts, err := chat.New(l, b.Options()).UnreadCounts(b.Ctx, as("bob"))
	b.Must(err)
	want := map[string]int64{"g0000": 1, "g0500": 1, "g1000": 1, "g1500": 1, "g2000": 1}
	if counts.Total != 5 || !maps.Equal(counts.Groups, want) {
		t.Errorf("got %+v, want one in each of %v", counts, want)
	}
	if l.most != 1000 {
		t.Errorf("up to %d groups were read at once, want 1000", l.most)
	}
}
