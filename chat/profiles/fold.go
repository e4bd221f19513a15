package profiles

import (
	"slices"
	"strings"
	"unicode"

	"github.com/chatd/chatd/internal/fold"
)

// wordsOf is how a user is found: by the id, and by the name from each of its words on.
func wordsOf(user, name string) []string {
	words := []string{fold.Fold(user)}
	folded := fold.Fold(name)
	for i, r := range folded {
		before := strings.TrimRightFunc(folded[:i], func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) })
		starts := i == 0 || len(before) == i // what is before ends no word
		if starts && (unicode.IsLetter(r) || unicode.IsNumber(r)) {
			words = append(words, folded[i:])
		}
	}
	if folded != "" && !slices.Contains(words, folded) {
		words = append(words, folded) // it begins with a sign
	}
	slices.Sort(words)
	return slices.Compact(words)
}
