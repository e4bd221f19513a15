package chat

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

func TestValidID(t *testing.T) {
	for _, id := range []string{"a", "general", "A.b-c_d@e+f", "0", strings.Repeat("x", 64), "a..b", "-", "@"} {
		if !ValidID(id) {
			t.Errorf("ValidID(%q): got false", id)
		}
	}
	for _, id := range []string{"", ".", "..", ".a", strings.Repeat("x", 65), "a b", "a:b", "a{b}", "a*", "a?", "a[b]", `a\b`,
		"a\x00", "a\n", "é", "а", "a/b", "$archive", "a%20"} {
		if ValidID(id) {
			t.Errorf("ValidID(%q): got true", id)
		}
	}
}

func TestValidKey(t *testing.T) {
	for key, want := range map[string]bool{"c-1": true, " ": true, "~": true, strings.Repeat("k", 64): true,
		"": false, strings.Repeat("k", 65): false, "a\x7f": false, "\x01": false, "é": false} {
		if got := ValidKey(key); got != want {
			t.Errorf("ValidKey(%q): got %v", key, got)
		}
	}
}

func TestDraftEntry(t *testing.T) {
	s := &Service{opt: Options{Limits: DefaultLimits()}}
	text := func(b string) *string { return &b }
	long := strings.Repeat("x", 16<<10)
	many := make([]string, 51)
	for i := range many {
		many[i] = "u" + strings.Repeat("x", i)
	}
	for _, c := range []struct {
		name  string
		draft Draft
		want  Code
		field string // that the message must name
	}{
		{"text", Draft{Body: text("hi")}, "", ""},
		{"text by name", Draft{Kind: Text, Body: text("hi")}, "", ""},
		{"the longest", Draft{Body: &long}, "", ""},
		{"too long", Draft{Body: text(long + "x")}, CodeTooLarge, "body"},
		{"empty", Draft{}, CodeInvalid, "body"},
		{"empty body", Draft{Body: text("")}, CodeInvalid, "body"},
		{"no UTF-8", Draft{Body: text("\xff")}, CodeInvalid, "body"},
		{"NUL", Draft{Body: text("a\x00b")}, CodeInvalid, "body"},
		{"escape", Draft{Body: text("\x1b[31m")}, CodeInvalid, "body"},
		{"lines", Draft{Body: text("a\r\n\tb\u2028")}, "", ""},
		{"text with data", Draft{Body: text("hi"), Data: json.RawMessage(`{"any":"json"}`)}, "", ""},
		{"data", Draft{Data: json.RawMessage(`[1,2]`)}, "", ""},
		{"null as data", Draft{Kind: Data, Data: json.RawMessage(`null`)}, "", ""},
		{"null as no data", Draft{Body: text("hi"), Data: json.RawMessage(`null`)}, "", ""},
		{"no data", Draft{Kind: Data}, CodeInvalid, "data"},
		{"data with a body", Draft{Kind: Data, Body: text("hi"), Data: json.RawMessage(`1`)}, CodeInvalid, "body"},
		{"data that is none", Draft{Data: json.RawMessage(`{`)}, CodeInvalid, "data"},
		{"data too large", Draft{Data: json.RawMessage(`"` + long + `"`)}, CodeTooLarge, "data"},
		{"reply", Draft{Body: text("hi"), ReplyTo: 3, Mentions: []string{"bob"}, ClientID: "c-1"}, "", ""},
		{"reply to less than nothing", Draft{Body: text("hi"), ReplyTo: -1}, CodeInvalid, "reply_to"},
		{"bad key", Draft{Body: text("hi"), ClientID: "a\nb"}, CodeInvalid, "client_id"},
		{"bad mention", Draft{Body: text("hi"), Mentions: []string{"a b"}}, CodeInvalid, "mentions"},
		{"many mentions", Draft{Body: text("hi"), Mentions: many}, CodeOutOfRange, "mentions"},
		{"a target on a text", Draft{Body: text("hi"), Target: 1}, CodeInvalid, "target"},
		{"an emoji on a text", Draft{Body: text("hi"), Emoji: "👍"}, CodeInvalid, "emoji"},
		{"removed on a text", Draft{Body: text("hi"), Removed: true}, CodeInvalid, "removed"},
		{"edit", Draft{Kind: Edit, Target: 1, Body: text("x")}, "", ""},
		{"edit of data", Draft{Kind: Edit, Target: 1, Data: json.RawMessage(`1`)}, "", ""},
		{"edit of nothing", Draft{Kind: Edit, Body: text("x")}, CodeInvalid, "target"},
		{"edit below", Draft{Kind: Edit, Body: text("x"), Target: -1}, CodeInvalid, "target"},
		{"edit to nothing", Draft{Kind: Edit, Target: 1}, CodeInvalid, "body"},
		{"edit with mentions", Draft{Kind: Edit, Target: 1, Body: text("x"), Mentions: []string{"bob"}}, CodeInvalid, "mentions"},
		{"delete", Draft{Kind: Delete, Target: 1}, "", ""},
		{"delete with a body", Draft{Kind: Delete, Target: 1, Body: text("x")}, CodeInvalid, "body"},
		{"reaction", Draft{Kind: Reaction, Target: 1, Emoji: "👍🏽"}, "", ""},
		{"reaction without emoji", Draft{Kind: Reaction, Target: 1}, CodeInvalid, "emoji"},
		{"long emoji", Draft{Kind: Reaction, Target: 1, Emoji: strings.Repeat("e", 33)}, CodeInvalid, "emoji"},
		{"emoji with a blank", Draft{Kind: Reaction, Target: 1, Emoji: "a b"}, CodeInvalid, "emoji"},
		{"a notice", Draft{Kind: Notice, Body: text("x")}, CodeInvalid, "kind"},
		{"an unknown kind", Draft{Kind: "poll", Body: text("x")}, CodeInvalid, "kind"},
	} {
		_, err := s.DraftEntry(Caller{User: "alice"}, "general", c.draft)
		if got := CodeOf(err); got != c.want {
			t.Errorf("%s: got %v, want code %q", c.name, err, c.want)
		} else if err != nil && !strings.Contains(err.Error(), c.field+":") {
			t.Errorf("%s: %v does not name %s", c.name, err, c.field)
		}
	}
}

func TestCheckName(t *testing.T) {
	for name, ok := range map[string]bool{"": true, "Überblick 👋": true, strings.Repeat("n", 200): true,
		strings.Repeat("n", 201): false, "a\nb": false, "a\x00": false, "a\u202eb": false, "a\u2066b": false, "\xff": false} {
		if got := checkName(name) == nil; got != ok {
			t.Errorf("checkName(%q): got %v", name, got)
		}
	}
}

// What is stored is what is served: one line, whatever the content, and the content comes back as it went in.
func FuzzEntryJSON(f *testing.F) {
	f.Add("hi", `{"a": [1, 2.50, "<&>\u2028"]}`)
	f.Add("\"\\\n\t\u2028\u2029<script>&amp;", "null")
	f.Fuzz(func(t *testing.T, body, raw string) {
		s := &Service{opt: Options{Limits: DefaultLimits()}}
		e, err := s.DraftEntry(Caller{User: "alice"}, "general", Draft{Body: &body, Data: json.RawMessage(raw)})
		if err != nil {
			return
		}
		line := entryJSON(42, NewAppend(e, 1).Rest)
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
	base := Entry{Kind: Text, Body: &body}
	same := base
	same.ClientID, same.From, same.ID, same.SentAt = "c", "alice", 3, TimeMs(5)
	if contentHash(base) != contentHash(same) {
		t.Error("what the server adds is taken for content")
	}
	for name, e := range map[string]Entry{
		"body": {Kind: Text, Body: &other}, "kind": {Kind: Edit, Body: &body}, "reply_to": {Kind: Text, Body: &body, ReplyTo: 1},
		"mentions": {Kind: Text, Body: &body, Mentions: []string{"b"}}, "target": {Kind: Text, Body: &body, Target: 1},
		"data": {Kind: Text, Body: &body, Data: json.RawMessage("1")}, "emoji": {Kind: Text, Body: &body, Emoji: "e"},
		"removed": {Kind: Text, Body: &body, Removed: true},
	} {
		if contentHash(base) == contentHash(e) {
			t.Errorf("another %s is taken for the same content", name)
		}
	}
}
