// Package text says what of a text is kept, and whether anything of it shows.
package text

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// CleanName is a name, or another short text, as it is stored: composed, and without the controls that would turn the direction of what stands beside
// it. Text from a right-to-left page often brings some along, so they are dropped, not refused.
func CleanName(name string) string {
	return norm.NFC.String(strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Bidi_Control, r) {
			return -1
		}
		return r
	}, name))
}

// blank are characters that look like a space although Unicode counts them among letters, marks and symbols.
var blank = map[rune]bool{
	'\u2800':     true, // braille pattern without a dot
	'\U00016FE4': true, // filler of the Khitan small script
	'\U0001D159': true, // musical note without a head
}

// Visible reports whether a text has a character that shows by itself: no space, control or format character, filler, variation
// selector, or mark for another character. What this version of Unicode does not know yet is taken to show.
func Visible(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool {
		switch {
		case unicode.IsSpace(r), unicode.In(r, unicode.Z, unicode.Cc, unicode.Noncharacter_Code_Point), blank[r]:
			return false
		case unicode.In(r, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point, unicode.Mn, unicode.Me):
			return false
		case unicode.Is(unicode.Cf, r):
			return unicode.Is(unicode.Prepended_Concatenation_Mark, r) // the Arabic signs of a number, a year and the like
		}
		return true
	})
}
