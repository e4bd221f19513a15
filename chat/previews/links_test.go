package previews

import (
	"fmt"
	"slices"
	"testing"

	"github.com/chatd/chatd/chat"
)

func message(entry string) chat.Message { return chat.Message{JSON: []byte(entry)} }

func TestLinks(t *testing.T) {
	for entry, want := range map[string][]string{
		`{"id":1,"body":"see https://a.example/x, and (https://b.example/y). bye"}`:          {"https://a.example/x", "https://b.example/y"},
		`{"body":"https://a.example/x_(y)"}`:                                                 {"https://a.example/x_(y)"},
		`{"body":"[x](http://a.example/?q=1\u0026r=2)\nhttps://a.example/茶。"}`:               {"http://a.example/?q=1&r=2", "https://a.example/茶"},
		`{"body":"https://a.example https://a.example"}`:                                     {"https://a.example"},
		`{"body":"https://a.example/1 https://a.example/2 https://a.example/3 https://a/4"}`: {"https://a.example/1", "https://a.example/2", "https://a.example/3"},
		`{"stream":"open","body":"https://a.exam"}`:                                          nil,
		`{"data":{"url":"https://a.example"}}`:                                               nil,
		`{"body":"https:// ftp://a.example"}`:                                                nil,
		`{"kind":"delete"}`:                                                                  nil,
		`{"body":"\u003ca href=https://a.example/\u003e"}`:                                   {"https://a.example/"},
	} {
		if got := Links([]chat.Message{message(entry)}); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", entry, got, want)
		}
	}
	var many []chat.Message
	for i := range 100 {
		many = append(many, message(fmt.Sprintf(`{"body":"https://a.example/%d"}`, i)))
	}
	if got := Links(many); len(got) != linksPage {
		t.Errorf("got %d links", len(got))
	}
}

// TestMeter: what one node fetches in a minute is bounded, and what it fetches from one host more so.
func TestMeter(t *testing.T) {
	var m meter
	hosts, all := 0, 0
	for i := range 1000 {
		if m.allows(fmt.Sprintf("https://one.example/%d", i), 0) {
			hosts++
		}
	}
	for i := range 1000 {
		if m.allows(fmt.Sprintf("https://host%d.example/", i), 59_999) {
			all++
		}
	}
	if hosts != minuteHost || all != minuteMax-minuteHost || !m.allows("https://one.example/", 60_000) || m.allows("https://[", 60_000) {
		t.Errorf("got %d of a host, %d of others", hosts, all)
	}
}

func TestOffCostsNothing(t *testing.T) {
	var off *Service
	if got := off.Field(t.Context(), []chat.Message{message(`{"body":"https://a.example"}`)}); got != nil {
		t.Errorf("got %q", got)
	}
}
