package chat_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/chatd/chatd/chat"
)

// TestForbiddenRevisionsSayWhoMay: a refusal names those who may edit or delete.
func TestForbiddenRevisionsSayWhoMay(t *testing.T) {
	b := newBench(t)
	if _, err := b.CreateGroup(b.Ctx, as("alice"), chat.GroupDraft{ID: "g", Members: []string{"bob", "cid"}}); err != nil {
		t.Fatal(err)
	}
	m := b.Say("bob", "g", "hi")
	body := "ho"
	for want, c := range map[string]chat.Content{
		"only the author may edit":                           {Kind: chat.Edit, Target: m.ID, Body: &body},
		"only the author, the owner and admins may delete a": {Kind: chat.Delete, Target: m.ID},
	} {
		_, err := b.Send(b.Ctx, as("cid"), "g", c, "")
		if chat.CodeOf(err) != chat.CodeForbidden || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s: %s", err, chat.CodeForbidden, want)
		}
	}
}

// TestAppliedIsWhatIsStored: who follows the log alone and applies each change to what it has gets, byte for byte, what
// the store made of it.
func TestAppliedIsWhatIsStored(t *testing.T) {
	b := newBench(t)
	b.MakeGroup(chat.GroupDraft{ID: "g"}, "alice", "bob")
	send := func(c chat.Content) chat.Sent {
		t.Helper()
		sent, err := b.Send(b.Ctx, as("alice"), "g", c, "")
		b.Must(err)
		return sent
	}
	stored := func(id int64) chat.Message {
		t.Helper()
		list, err := b.Store.Entries(b.Ctx, "g", []int64{id})
		b.Must(err)
		return list[0]
	}
	target := b.Say("alice", "g", "one").ID
	original := stored(target)
	copied := original
	var edit chat.Message
	for _, body := range []string{"two", "three"} {
		edit = send(chat.Content{Kind: chat.Edit, Target: target, Body: &body}).Message
		apply(t, &copied, edit)
		apply(t, &copied, edit) // once more: no difference
		if now := stored(target); !reflect.DeepEqual(copied, now) {
			t.Errorf("after %q: got %v, stored %v", body, copied, now)
		}
	}
	deletion := send(chat.Content{Kind: chat.Delete, Target: target}).Message
	apply(t, &copied, deletion)
	apply(t, &copied, edit) // late: changes nothing
	apply(t, &edit, deletion)
	if now := stored(target); !reflect.DeepEqual(copied, now) {
		t.Errorf("after the deletion: got %v, stored %v", copied, now)
	}
	if now := stored(edit.ID); string(edit.JSON) != string(now.JSON) {
		t.Errorf("an edit of it: got %s, stored %s", edit.JSON, now.JSON)
	}
	for id := target + 1; id <= deletion.ID; id++ {
		apply(t, &original, stored(id))
	}
	if now := stored(target); !reflect.DeepEqual(original, now) {
		t.Errorf("all changes, read after the deletion: got %v, stored %v", original, now)
	}
}

func apply(t *testing.T, m *chat.Message, change chat.Message) {
	t.Helper()
	var e chat.Entry
	if err := json.Unmarshal(change.JSON, &e); err != nil {
		t.Fatal(err)
	}
	now, err := chat.Applied(*m, e)
	if err != nil {
		t.Fatal(err)
	}
	*m = now
}
