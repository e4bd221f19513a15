package profiles

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// foldedMax is how many bytes of a folded text are compared.
const foldedMax = 256

// fold is a text as it is compared: without case and diacritics, and with single spaces between words.
func fold(text string) string {
	bare := strings.Map(func(r rune) rune {
		switch {
		case unicode.Is(unicode.Mn, r):
			return -1
		case unicode.IsSpace(r):
			return ' '
		}
		return r
	}, norm.NFKD.String(text))
	folded := norm.NFC.String(cases.Fold().String(bare))
	folded = strings.Join(strings.Fields(folded), " ")
	return strings.ToValidUTF8(folded[:min(len(folded), foldedMax)], "")
}

// wordsOf is how a user is found: by the id, and by the name from each of its words on.
func wordsOf(user, name string) []string {
	words := []string{fold(user)}
	folded := fold(name)
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
