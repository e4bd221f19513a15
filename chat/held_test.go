package chat_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/exports"
)

// exported is what an export of a group has, by id.
func (b *bench) exported(by chat.Caller, group string) map[int64]string {
	b.T.Helper()
	e, err := exports.New(b.Service, b.Store).Group(b.Ctx, by, group, "")
	b.Must(err)
	lines := map[int64]string{}
	for !e.Done() {
		page, err := e.Next(b.Ctx)
		b.Must(err)
		for _, m := range page {
			if lines[m.ID] != "" {
				b.T.Errorf("%d is exported twice", m.ID)
			}
			lines[m.ID] = string(m.JSON)
		}
	}
	return lines
}

// page is the JSON of the first hundred entries that a member may read.
func (b *bench) page(user, group string) string {
	b.T.Helper()
	var all []string
	for _, m := range b.PullFrom(user, group, "0", 100).Messages {
		all = append(all, string(m.JSON))
	}
	return strings.Join(all, "\n")
}

// earlier are the bodies of a line's earlier readings.
func earlier(t *testing.T, line string) (bodies []string) {
	t.Helper()
	var entry struct{ Earlier []chat.Entry }
	if err := json.Unmarshal([]byte(line), &entry); err != nil { // also where there is no line
		t.Fatalf("%s: %v", line, err)
	}
	for _, e := range entry.Earlier {
		bodies = append(bodies, *e.Body)
	}
	return bodies
}

// TestEditedUnderHold: what members edit and delete while a legal hold lasts stands in an operator's export, in order, and nowhere else;
// it is gone when the hold ends.
func TestEditedUnderHold(t *testing.T) {
	b := newBench(t)
	root := chat.Caller{User: "root", Admin: true}
	b.MakeGroup(chat.GroupDraft{ID: "g"}, "alice", "bob")
	edit := func(id int64, body string) int64 {
		b.T.Helper()
		sent, err := b.Send(b.Ctx, as("alice"), "g", chat.Content{Kind: chat.Edit, Target: id, Body: &body}, "")
		b.Must(err)
		return sent.ID
	}
	id := b.Say("alice", "g", "before the hold").ID
	early := edit(id, "one")
	_, err := b.PutHold(b.Ctx, root, "g", "a case")
	b.Must(err)
	const edits = 12 // more than one digit of their ids
	for i := range edits {
		edit(id, fmt.Sprint("edit ", i))
	}
	gone, err := b.Send(b.Ctx, as("bob"), "g", chat.Content{Body: new("gone")}, "")
	b.Must(err)
	for _, target := range []int64{id, gone.ID} {
		_, err := b.Send(b.Ctx, as("alice"), "g", chat.Content{Kind: chat.Delete, Target: target}, "")
		b.Must(err)
	}
	want := []string{"one"}
	for i := range edits {
		want = append(want, fmt.Sprint("edit ", i))
	}
	lines := b.exported(root, "g")
	if got := earlier(t, lines[id]); !slices.Equal(got, want) {
		t.Errorf("the earlier readings are %q, want %q", got, want)
	}
	if got := earlier(t, lines[gone.ID]); !slices.Equal(got, []string{"gone"}) {
		t.Errorf("the earlier readings are %q", got)
	}
	if got := earlier(t, lines[early]); !slices.Equal(got, []string{"one"}) {
		t.Errorf("the earlier readings of an edit are %q", got)
	}
	if got := len(lines); got != int(b.PullFrom("bob", "g", "0", 1).Last) {
		t.Errorf("%d lines", got)
	}
	for name, got := range map[string]string{
		"the owner's export": fmt.Sprint(b.exported(as("alice"), "g")),
		"a page":             b.page("bob", "g"),
	} {
		if strings.Contains(got, "earlier") || strings.Contains(got, `"gone"`) || strings.Contains(got, "edit 0") {
			t.Errorf("%s has %s", name, got)
		}
	}
	b.Must(b.ReleaseHold(b.Ctx, root, "g"))
	_, err = b.PutHold(b.Ctx, root, "g", "another case")
	b.Must(err)
	if got := fmt.Sprint(b.exported(root, "g")); strings.Contains(got, "earlier") {
		t.Errorf("after the hold the export has %s", got)
	}
}

// TestMuchUnderHold: an export goes on where what was kept of some entries is as much as a page may be.
func TestMuchUnderHold(t *testing.T) {
	b := newBench(t)
	root := chat.Caller{User: "root", Admin: true}
	b.MakeGroup(chat.GroupDraft{ID: "g"}, "alice")
	_, err := b.PutHold(b.Ctx, root, "g", "a case")
	b.Must(err)
	long := strings.Repeat("x", 16<<10-10)
	var ids []int64
	for range 5 {
		id := b.Say("alice", "g", long).ID
		for i := range 30 {
			_, err := b.Send(b.Ctx, as("alice"), "g", chat.Content{Kind: chat.Edit, Target: id, Body: new(fmt.Sprint(long, i))}, "")
			b.Must(err)
		}
		ids = append(ids, id)
	}
	lines := b.exported(root, "g")
	if len(lines) != 1+5*31 {
		t.Errorf("%d lines", len(lines))
	}
	for _, id := range ids {
		if n := len(earlier(t, lines[id])); n != 30 {
			t.Errorf("%d has %d earlier readings", id, n)
		}
	}
}

// TestTrimmedUnderHold: what was deleted under a legal hold stands in an operator's export until the hold ends, though it was trimmed.
func TestTrimmedUnderHold(t *testing.T) {
	b := newBench(t)
	root := chat.Caller{User: "root", Admin: true}
	b.MakeGroup(chat.GroupDraft{ID: "g", Keep: new(int64(1))}, "alice")
	_, err := b.PutHold(b.Ctx, root, "g", "a case")
	b.Must(err)
	const n = 150 // more than a page of what is kept
	var last int64
	for i := range n {
		id := b.Say("alice", "g", fmt.Sprint("gone ", i)).ID
		sent, err := b.Send(b.Ctx, as("alice"), "g", chat.Content{Kind: chat.Delete, Target: id}, "")
		b.Must(err)
		last = sent.ID
	}
	_, err = b.Ack(b.Ctx, as("alice"), "g", chat.At(last))
	b.Must(err)
	if first := b.PullFrom("alice", "g", "0", 1).First; first != last {
		t.Fatalf("the log begins at %d, want %d", first, last)
	}
	lines := b.exported(root, "g")
	for i := range n {
		line := lines[int64(2+2*i)]
		if got := earlier(t, line); !slices.Equal(got, []string{fmt.Sprint("gone ", i)}) {
			t.Fatalf("the line of message %d is %q", i, line)
		}
	}
	if len(lines) != n+1 {
		t.Errorf("%d lines", len(lines))
	}
	if got := b.exported(as("alice"), "g"); len(got) != 1 {
		t.Errorf("the owner's export has %v", got)
	}
	b.Must(b.ReleaseHold(b.Ctx, root, "g"))
	if got := b.exported(root, "g"); len(got) != 1 {
		t.Errorf("after the hold the export has %v", got)
	}
}
