// Package emoji knows the emoji of Unicode, and the one spelling of each that is stored.
package emoji

import (
	_ "embed"
	"strings"
	"sync"
)

// To take another version of Unicode: go run generate.go PATH/emoji-test.txt

// table has the emoji of Unicode 18.0, as emoji-test.txt of Unicode lists them, each fully qualified, separated by blanks. A t
// stands for any of the five skin tones, a second one written d for one that differs from the first.
//
//go:embed table.txt
var table string

// presentation is the variation selector that asks for a picture. A font shows most emoji as one without it, and keyboards
// differ in where they write it.
const presentation = "\uFE0F"

// spellings are the fully qualified emoji by their bare form: without variation selectors, and t for every skin tone.
var spellings = sync.OnceValue(func() map[string]string {
	all := map[string]string{}
	for emoji := range strings.FieldsSeq(table) {
		all[strings.ReplaceAll(Bare(emoji), "d", "t")] = emoji
	}
	return all
})

// Bare is what all spellings of an emoji have in common: the text without U+FE0F.
func Bare(text string) string { return strings.ReplaceAll(text, presentation, "") }

// Canonical returns the fully qualified spelling of an emoji in any of its qualifications, and of one with U+FE0F behind a
// character that needs none. ok is false for everything but a single emoji.
func Canonical(text string) (emoji string, ok bool) {
	if strings.HasPrefix(text, presentation) || strings.Contains(text, presentation+presentation) {
		return "", false
	}
	var tones []rune
	bare := strings.Map(func(r rune) rune {
		if r < firstTone || r > lastTone {
			return r
		}
		tones = append(tones, r)
		return 't'
	}, Bare(text))
	spelling, ok := spellings()[bare]
	if !ok || strings.ContainsAny(Bare(text), "td") {
		return "", false
	}
	if strings.Contains(spelling, "d") && tones[0] == tones[1] {
		return "", false
	}
	return strings.Map(func(r rune) rune {
		if r != 't' && r != 'd' {
			return r
		}
		tone := tones[0]
		tones = tones[1:]
		return tone
	}, spelling), true
}

const firstTone, lastTone = '\U0001F3FB', '\U0001F3FF'
