package web

import (
	"testing"

	"github.com/chatd/chatd/chat"
)

func TestIfMatch(t *testing.T) {
	for header, want := range map[string]bool{
		`"a"`: true, `*`: true, ` * `: true, `"b", "a"`: true, `"b","a"`: true, `, "b" ,, "a",`: true, `"x,y"	,"a"`: true,
		`W/"a"`: false, `"b"`: false, `"A"`: false, `""`: false, `W/"a", "b"`: false, ``: false,
	} {
		match, err := ifMatch(&header)
		if err != nil || match(`"a"`) != want {
			t.Errorf("%s: got %v, %v, want %v", header, match != nil && match(`"a"`), err, want)
		}
	}
	for _, header := range []string{`a`, `"a`, `"a" "b"`, `*, "a"`, `w/"a"`, `W/ "a"`, `"a b"`, "\"\x01\"", `W/`, `"a"b`} {
		if _, err := ifMatch(&header); chat.CodeOf(err) != chat.CodeInvalid {
			t.Errorf("%s: got %v", header, err)
		}
	}
	if match, err := ifMatch(nil); match != nil || err != nil {
		t.Errorf("no header: got %v", err)
	}
}
