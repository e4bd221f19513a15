package chat

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestActionsChecked(t *testing.T) {
	body, many := "x", []Action{}
	for i := range ActionsMax + 1 {
		many = append(many, Action{ID: fmt.Sprint("a", i), Label: "A"})
	}
	one := func(change func(*Action)) []Action {
		a := Action{ID: "a", Label: "A"}
		change(&a)
		return []Action{a}
	}
	for _, c := range []struct {
		name    string
		kind    Kind
		actions []Action
		want    Code
		field   string
	}{
		{"as many as may be", Text, many[:ActionsMax], "", ""},
		{"below data", Data, many[:1], "", ""},
		{"all fields", Text, one(func(a *Action) { a.Style, a.Confirm, a.URL = StyleDanger, "Sure?", "https://example.com/a?b=c#d" }), "", ""},
		{"too many", Text, many, CodeOutOfRange, "actions"},
		{"below a reaction", Reaction, many[:1], CodeInvalid, "actions"},
		{"below an edit", Edit, many[:1], CodeInvalid, "actions"},
		{"below a deletion", Delete, many[:1], CodeInvalid, "actions"},
		{"one id twice", Text, append(many[:1:1], many[0]), CodeInvalid, "actions[1].id"},
		{"no id", Text, one(func(a *Action) { a.ID = "" }), CodeInvalid, "actions[0].id"},
		{"an id with a blank", Text, one(func(a *Action) { a.ID = "a b" }), CodeInvalid, "actions[0].id"},
		{"no label", Text, one(func(a *Action) { a.Label = " " }), CodeInvalid, "actions[0].label"},
		{"a long label", Text, one(func(a *Action) { a.Label = strings.Repeat("é", 81) }), CodeInvalid, "actions[0].label"},
		{"a label of two lines", Text, one(func(a *Action) { a.Label = "a\x00b" }), CodeInvalid, "actions[0].label"},
		{"a long question", Text, one(func(a *Action) { a.Confirm = strings.Repeat("é", 201) }), CodeInvalid, "actions[0].confirm"},
		{"a style of somebody else", Text, one(func(a *Action) { a.Style = "link" }), CodeInvalid, "actions[0].style"},
		{"a script", Text, one(func(a *Action) { a.URL = "javascript:alert(1)" }), CodeInvalid, "actions[0].url"},
		{"a path", Text, one(func(a *Action) { a.URL = "/v1/me" }), CodeInvalid, "actions[0].url"},
		{"no host", Text, one(func(a *Action) { a.URL = "https:///x" }), CodeInvalid, "actions[0].url"},
		{"a user in front of the host", Text, one(func(a *Action) { a.URL = "https://bank.example@evil.example/" }), CodeInvalid, "actions[0].url"},
		{"a blank in the address", Text, one(func(a *Action) { a.URL = "https://example.com/a b" }), CodeInvalid, "actions[0].url"},
		{"a long address", Text, one(func(a *Action) { a.URL = "https://example.com/" + strings.Repeat("a", 2048) }), CodeInvalid, "actions[0].url"},
	} {
		content := Content{Kind: c.kind, Actions: c.actions}
		switch c.kind {
		case Text:
			content.Body = &body
		case Data:
			content.Data = []byte("1")
		case Reaction:
			content.Target, content.Emoji = 1, "👍"
		case Edit:
			content.Target, content.Body = 1, &body
		case Delete:
			content.Target = 1
		}
		got, err := content.Checked(DefaultLimits())
		if CodeOf(err) != c.want || err != nil && !strings.Contains(err.Error(), c.field) {
			t.Errorf("%s: %v", c.name, err)
		}
		if diff := cmp.Diff(c.actions, got.Actions); c.want == "" && diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

// TestActionsOfPrograms: a person's own token adds none.
func TestActionsOfPrograms(t *testing.T) {
	with := Content{Actions: []Action{{ID: "a", Label: "A"}}}
	for _, c := range []struct {
		by    Caller
		given Content
		want  Code
	}{
		{Caller{User: "alice"}, with, CodeForbidden}, {Caller{User: "alice"}, Content{}, ""}, {Caller{User: "root", Admin: true}, with, ""},
		{Caller{User: "key:k", Via: "k"}, with, ""}, {Caller{User: "alice", Via: "k"}, with, ""},
	} {
		if err := c.by.MayAct(c.given); CodeOf(err) != c.want {
			t.Errorf("%+v: %v", c.by, err)
		}
	}
}
