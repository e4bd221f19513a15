package chat

import (
	"strings"
	"testing"
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

func TestCheckName(t *testing.T) {
	for name, ok := range map[string]bool{"": true, "Überblick 👋": true, strings.Repeat("n", 200): true,
		strings.Repeat("n", 201): false, "a\nb": false, "a\x00": false, "a\u202eb": false, "a\u2066b": false, "\xff": false} {
		if got := checkName(name) == nil; got != ok {
			t.Errorf("checkName(%q): got %v", name, got)
		}
	}
}
