package chat

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

func TestContentChecked(t *testing.T) {
	text := func(b string) *string { return &b }
	long := strings.Repeat("x", 16<<10)
	many := make([]string, 51)
	for i := range many {
		many[i] = "u" + strings.Repeat("x", i)
	}
	for _, c := range []struct {
		name    string
		content Content
		want    Code
		field   string // that the message must name
	}{
		{"text", Content{Body: text("hi")}, "", ""},
		{"text by name", Content{Kind: Text, Body: text("hi")}, "", ""},
		{"the longest", Content{Body: &long}, "", ""},
		{"too long", Content{Body: text(long + "x")}, CodeTooLarge, "body"},
		{"empty", Content{}, CodeInvalid, "body"},
		{"empty body", Content{Body: text("")}, CodeInvalid, "body"},
		{"no UTF-8", Content{Body: text("\xff")}, CodeInvalid, "body"},
		{"NUL", Content{Body: text("a\x00b")}, CodeInvalid, "body"},
		{"escape", Content{Body: text("\x1b[31m")}, CodeInvalid, "body"},
		{"lines", Content{Body: text("a\r\n\tb\u2028")}, "", ""},
		{"text with data", Content{Body: text("hi"), Data: json.RawMessage(`{"any":"json"}`)}, "", ""},
		{"data", Content{Data: json.RawMessage(`[1,2]`)}, "", ""},
		{"null as data", Content{Kind: Data, Data: json.RawMessage(`null`)}, "", ""},
		{"null as no data", Content{Body: text("hi"), Data: json.RawMessage(`null`)}, "", ""},
		{"no data", Content{Kind: Data}, CodeInvalid, "data"},
		{"data with a body", Content{Kind: Data, Body: text("hi"), Data: json.RawMessage(`1`)}, CodeInvalid, "body"},
		{"data that is none", Content{Data: json.RawMessage(`{`)}, CodeInvalid, "data"},
		{"data too large", Content{Data: json.RawMessage(`"` + long + `"`)}, CodeTooLarge, "data"},
		{"reply", Content{Body: text("hi"), ReplyTo: 3, Mentions: []string{"bob"}, ClientID: "c-1"}, "", ""},
		{"reply to less than nothing", Content{Body: text("hi"), ReplyTo: -1}, CodeInvalid, "reply_to"},
		{"bad key", Content{Body: text("hi"), ClientID: "a\nb"}, CodeInvalid, "client_id"},
		{"bad mention", Content{Body: text("hi"), Mentions: []string{"a b"}}, CodeInvalid, "mentions[0]"},
		{"many mentions", Content{Body: text("hi"), Mentions: many}, CodeOutOfRange, "mentions"},
		{"a target on a text", Content{Body: text("hi"), Target: 1}, CodeInvalid, "target"},
		{"an emoji on a text", Content{Body: text("hi"), Emoji: "👍"}, CodeInvalid, "emoji"},
		{"removed on a text", Content{Body: text("hi"), Removed: true}, CodeInvalid, "removed"},
		{"edit", Content{Kind: Edit, Target: 1, Body: text("x")}, "", ""},
		{"edit of data", Content{Kind: Edit, Target: 1, Data: json.RawMessage(`1`)}, "", ""},
		{"edit of nothing", Content{Kind: Edit, Body: text("x")}, CodeInvalid, "target"},
		{"edit below", Content{Kind: Edit, Body: text("x"), Target: -1}, CodeInvalid, "target"},
		{"edit to nothing", Content{Kind: Edit, Target: 1}, CodeInvalid, "body"},
		{"edit with mentions", Content{Kind: Edit, Target: 1, Body: text("x"), Mentions: []string{"bob"}}, CodeInvalid, "mentions"},
		{"delete", Content{Kind: Delete, Target: 1}, "", ""},
		{"delete with a body", Content{Kind: Delete, Target: 1, Body: text("x")}, CodeInvalid, "body"},
		{"reaction", Content{Kind: Reaction, Target: 1, Emoji: "👍🏽"}, "", ""},
		{"reaction without emoji", Content{Kind: Reaction, Target: 1}, CodeInvalid, "emoji"},
		{"a long name", Content{Kind: Reaction, Target: 1, Emoji: ":" + strings.Repeat("e", 63) + ":"}, CodeInvalid, "emoji"},
		{"the longest name", Content{Kind: Reaction, Target: 1, Emoji: ":" + strings.Repeat("e", 60) + "+_:"}, "", ""},
		{"a name without letters", Content{Kind: Reaction, Target: 1, Emoji: "::"}, CodeInvalid, "emoji"},
		{"a name in capitals", Content{Kind: Reaction, Target: 1, Emoji: ":Smile:"}, CodeInvalid, "emoji"},
		{"a word", Content{Kind: Reaction, Target: 1, Emoji: "lgtm"}, CodeInvalid, "emoji"},
		{"a word that is taken back", Content{Kind: Reaction, Target: 1, Emoji: "lgtm", Removed: true}, "", ""},
		{"two emoji", Content{Kind: Reaction, Target: 1, Emoji: "👍👍"}, CodeInvalid, "emoji"},
		{"emoji with a blank", Content{Kind: Reaction, Target: 1, Emoji: "a b"}, CodeInvalid, "emoji"},
		{"a notice", Content{Kind: Notice, Body: text("x")}, CodeInvalid, "kind"},
		{"an unknown kind", Content{Kind: "poll", Body: text("x")}, CodeInvalid, "kind"},
	} {
		_, err := c.content.Checked(DefaultLimits())
		if got := CodeOf(err); got != c.want {
			t.Errorf("%s: got %v, want code %q", c.name, err, c.want)
		} else if err != nil && !strings.Contains(err.Error(), c.field+":") {
			t.Errorf("%s: %v does not name %s", c.name, err, c.field)
		}
	}
}

// What is stored is what is served: one line, whatever the content, and the content comes back as it went in.
func FuzzEntryJSON(f *testing.F) {
	f.Add("hi", `{"a": [1, 2.50, "<&>\u2028"]}`)
	f.Add("\"\\\n\t\u2028\u2029<script>&amp;", "null")
	f.Fuzz(func(t *testing.T, body, raw string) {
		c, err := Content{Body: &body, Data: json.RawMessage(raw)}.Checked(DefaultLimits())
		if err != nil {
			return
		}
		e := Entry{Group: "general", From: "alice", Content: c}
		line := EntryJSON(42, NewAppend(e, 1).Rest)
		if !bytes.HasPrefix(line, []byte(`{"id":42,"group":"general",`)) || bytes.ContainsAny(line, "\n\r") {
			t.Fatalf("stored as %q", line)
		}
		var back Entry
		if err := json.Unmarshal(line, &back); err != nil {
			t.Fatalf("%v: %q", err, line)
		}
		if back.Body == nil || *back.Body != body || back.ID != 42 {
			t.Fatalf("%q comes back as %q", body, line)
		}
		if again := Encode(back); !bytes.Equal(again, line) {
			t.Fatalf("%q is encoded again as %q", line, again)
		}
	})
}

func TestContentHash(t *testing.T) {
	body, other := "hi", "ho"
	base := Entry{Content: Content{Kind: Text, Body: &body}}
	same := base
	same.ClientID, same.From, same.ID, same.SentAt = "c", "alice", 3, TimeMs(5)
	if contentHash(base) != contentHash(same) {
		t.Error("what the server adds is taken for content")
	}
	for name, c := range map[string]Content{
		"body": {Kind: Text, Body: &other}, "kind": {Kind: Edit, Body: &body}, "reply_to": {Kind: Text, Body: &body, ReplyTo: 1},
		"mentions": {Kind: Text, Body: &body, Mentions: []string{"b"}}, "target": {Kind: Text, Body: &body, Target: 1},
		"data": {Kind: Text, Body: &body, Data: json.RawMessage("1")}, "emoji": {Kind: Text, Body: &body, Emoji: "e"},
		"removed": {Kind: Text, Body: &body, Removed: true}, "actions": {Kind: Text, Body: &body, Actions: []Action{{ID: "a", Label: "A"}}},
	} {
		if contentHash(base) == contentHash(Entry{Content: c}) {
			t.Errorf("another %s is taken for the same content", name)
		}
	}
}
