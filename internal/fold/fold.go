// Package fold makes texts comparable that differ only in case, diacritics, composition or spaces.
package fold

import (
	"strings"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// bytesMax is how many bytes of a folded text are compared.
const bytesMax = 256

// Fold is a text as it is compared: without case and diacritics, and with single spaces between words.
func Fold(text string) string {
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
	return strings.ToValidUTF8(folded[:min(len(folded), bytesMax)], "")
}
