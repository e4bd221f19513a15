package chat

import (
	"strings"
	"testing"

	spelling "github.com/chatd/chatd/internal/text"
)

func TestValidID(t *testing.T) {
	for _, id := range []string{"a", "general", "A.b-c_d@e+f", "0", strings.Repeat("x", 64), "a..b", "-", "@"} {
		if !ValidID(id) || !ValidGroupID(id) || !ValidUserID(id) {
			t.Errorf("%q: got %v, %v and %v", id, ValidID(id), ValidGroupID(id), ValidUserID(id))
		}
	}
	for _, id := range []string{"auth0|5f7c", "f:1b2c:jdoe", "system:serviceaccount:ns:x", "a:", ":", "|", "In:x", "in", "inn:x", strings.Repeat("x", 128)} {
		if !ValidGroupID(id) || !ValidUserID(id) {
			t.Errorf("%q: got %v for a group, and %v for a user", id, ValidGroupID(id), ValidUserID(id))
		}
	}
	for _, id := range []string{"a:b", "a|b", strings.Repeat("x", 65)} {
		if ValidID(id) {
			t.Errorf("%q: is no id of a device", id)
		}
	}
	for _, id := range []string{"in:x", "reader:x", "key:x", "in:"} {
		if ValidUserID(id) || !ValidGroupID(id) {
			t.Errorf("%q: got %v for a user, and %v for a group", id, ValidUserID(id), ValidGroupID(id))
		}
	}
	for _, id := range []string{"", ".", "..", ".a", strings.Repeat("x", 129), "a b", "a~b", "a{b}", "a*", "a?", "a[b]", `a\b`,
		"a\x00", "a\n", "é", "а", "a/b", "$archive", "a%20"} {
		if ValidID(id) || ValidGroupID(id) || ValidUserID(id) {
			t.Errorf("%q: got %v, %v and %v", id, ValidID(id), ValidGroupID(id), ValidUserID(id))
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

// TestGroupName: names have 100 characters, of however many bytes. Controls of the writing direction are dropped, others refused.
func TestGroupName(t *testing.T) {
	hundred := strings.Repeat("👋", 100)
	for name, want := range map[string]string{"": "", "Überblick 👋": "Überblick 👋", hundred: hundred, strings.Repeat("e\u0301", 100): strings.Repeat("é", 100),
		"a\u202eb\u2066c\u200fd\u061c": "abcd", "\u202a" + hundred + "\u202c": hundred} {
		if got, err := Line("name", name, nameMax); got != want || err != nil {
			t.Errorf("%q: got %q and %v, want %q", name, got, err, want)
		}
	}
	for _, name := range []string{hundred + "n", strings.Repeat("n", 101), "a\nb", "a\x00", "a\u0085", "\xff"} {
		if got, err := Line("name", name, nameMax); CodeOf(err) != CodeInvalid {
			t.Errorf("%q: got %q and %v", name, got, err)
		}
	}
}

// TestVisible: a body shows something.
func TestVisible(t *testing.T) {
	for _, text := range []string{"", " ", "\t\r\n", "\u00a0\u2003\u3000\u1680\u2028\u205f", "\u200b\u200c\u200d\u2060\ufeff\u180e", "\u00ad\u034f\u061c",
		"\u115f\u1160\u3164\uffa0", "\u2800\u2800", "\ufe0f", "\ufe0e\U000e0100", "\u202e\u2066\u2069", "\U000e0020\U000e007f", "\U0001d159", "\U0001d173", "\u17b4\u17b5",
		"\u0085\u009f", "\ufff9\ufffb", "\ufdd0\U0010ffff", "\u0301", "\u20dd", "\u0301\u0300 \u200b", "\ufe0f\u20e3"} {
		if spelling.Visible(text) {
			t.Errorf("%+q is visible", text)
		}
	}
	for _, text := range []string{"a", " a ", "\u200b.", "0", "👍", "\u200d👩", "日", "\u0600", "e\u0301", "\u0903", "\ufffd", "\ue000", "\U0001fadd", "\u2801"} {
		if !spelling.Visible(text) {
			t.Errorf("%+q is not visible", text)
		}
	}
	for _, body := range []string{"\u200b", "\n", "\u2800"} {
		for _, c := range []Content{{Body: &body}, {Kind: Edit, Target: 1, Body: &body}, {Body: &body, Data: []byte("1")}, {Body: &body, Files: []File{{ID: "f"}}}} {
			if _, err := c.Checked(DefaultLimits()); CodeOf(err) != CodeInvalid {
				t.Errorf("%+q in %+v: got %v", body, c, err)
			}
		}
	}
}

// An error names the element of a list that is wrong.
func TestUniqueUsersNamesTheElement(t *testing.T) {
	_, err := UniqueUsers("to.users", []string{"bob", "a b"}, 10)
	if err == nil || !strings.Contains(err.Error(), " to.users[1]: want ") {
		t.Errorf("got %v", err)
	}
}
