package profiles

import (
	"slices"
	"testing"
)

func TestWordsOf(t *testing.T) {
	for _, c := range []struct {
		user, name string
		want       []string
	}{
		{"Alice", "", []string{"alice"}},
		{"a1", "Ängström  Óscar", []string{"a1", "angstrom oscar", "oscar"}},
		{"u", "Jean-Luc O'Neil", []string{"jean-luc o'neil", "luc o'neil", "neil", "o'neil", "u"}},
		{"u", "王小明 Straße", []string{"strasse", "u", "王小明 strasse"}},
		{"x", "★ star", []string{"star", "x", "★ star"}},
	} {
		if got := wordsOf(c.user, c.name); !slices.Equal(got, c.want) {
			t.Errorf("%s, %s: got %q, want %q", c.user, c.name, got, c.want)
		}
	}
}
