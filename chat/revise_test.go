package chat_test

import (
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
