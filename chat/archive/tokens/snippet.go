package tokens

import (
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Bounds of a snippet, in UTF-16 units.
const (
	snippetMax  = 240
	snippetLead = 60 // before the first mark
)

// Snippet is a part of a text with what was found in it.
type Snippet struct {
	Text  string
	Marks []Range // in UTF-16 units of Text, ascending and apart
}

// MakeSnippet cuts a part around the first mark; whole words where there are spaces, with an ellipsis where text is left out.
func MakeSnippet(text string, marks []Range) Snippet {
	if len(marks) == 0 {
		marks = nil
	}
	if len(text) <= snippetMax && utf8.ValidString(text) { // no text has more units than bytes
		return Snippet{text, marks}
	}
	runes := []rune(text)
	at := make([]int, len(runes)+1) // of each rune in UTF-16 units
	for i, r := range runes {
		at[i+1] = at[i] + utf16.RuneLen(r)
	}
	from, to := 0, len(runes)
	if at[len(runes)] > snippetMax {
		from, to = window(runes, at, marks)
	}
	out := Snippet{Text: string(runes[from:to])}
	shift := -at[from]
	if from > 0 {
		out.Text, shift = "…"+out.Text, shift+1
	}
	for _, m := range marks {
		if m[0] >= at[from] && m[1] <= at[to] {
			out.Marks = append(out.Marks, Range{m[0] + shift, m[1] + shift})
		}
	}
	if to < len(runes) {
		out.Text += "…"
	}
	return out
}

// window is the part to show, in runes. It begins at a word where one begins shortly before the first mark.
func window(runes []rune, at []int, marks []Range) (from, to int) {
	first := Range{0, 0}
	if len(marks) > 0 {
		first = marks[0]
	}
	for at[from] < first[0]-snippetLead {
		from++
	}
	for i := from; from > 0 && i < len(runes) && at[i] < first[0]; i++ {
		if unicode.IsSpace(runes[i]) {
			from = i + 1
			break
		}
	}
	for to = from; to < len(runes) && at[to+1]-at[from] <= snippetMax; {
		to++
	}
	for from > 0 && unicode.IsMark(runes[from]) {
		from--
	}
	return from, to
}
