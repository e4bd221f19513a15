package dump

import (
	"testing"

	"github.com/chatd/chatd/store/layout"
)

// TestContentsAreThoseOfTheLayout: there is a check for whatever a key is said to hold, and no other.
func TestContentsAreThoseOfTheLayout(t *testing.T) {
	held := map[string]bool{}
	for _, key := range layout.Keys {
		held[key.Holds] = true
		if _, known := contents[key.Holds]; !known && key.Holds != "" {
			t.Errorf("%s holds %q, which nothing checks", key.Pattern, key.Holds)
		}
	}
	for name := range contents {
		if !held[name] {
			t.Errorf("no key holds %q", name)
		}
	}
}
