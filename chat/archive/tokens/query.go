package tokens

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds of a query.
const (
	QueryMax = 1_000 // characters
	TermsMax = 32
)

// Term is a word or a phrase: tokens that follow one another. A word that has several tokens (an address, a run of
// pairs) is a phrase too.
type Term struct {
	Tokens []string
	Prefix bool // the last token is the beginning of one
	Not    bool // the text must not have it
}

// Word tells that a text must have a single token.
func (t Term) Word() bool { return len(t.Tokens) == 1 && !t.Prefix && !t.Not }

// Query is what a text must have: every term, and none of those with Not.
type Query struct {
	Terms []Term
	Cut   bool // there was more than the bounds allow
}

// Parse reads a query: words, "a phrase", -word and word*. Everything else is text to look for, --force too, and punctuation
// separates. It takes any string: what lies beyond the bounds is left out. The query may be empty, or only say what is
// not wanted.
func Parse(text string) Query {
	var q Query
	text = strings.ToValidUTF8(text, " ")
	n := 0
	for at := range text {
		if n++; n > QueryMax {
			q.Cut, text = true, text[:at]
			break
		}
	}
	for {
		text = strings.TrimLeftFunc(text, unicode.IsSpace)
		if text == "" {
			break
		}
		var t Term
		var said string
		if rest, ok := strings.CutPrefix(text, "-"); ok && rest != "" && rest[0] != '-' && !startsWithSpace(rest) {
			t.Not, text = true, rest
		}
		said, text = nextTerm(text)
		t.Prefix = strings.HasSuffix(said, "*")
		if !t.parse(strings.TrimSuffix(said, "*")) {
			continue
		}
		if len(q.Terms) == TermsMax {
			q.Cut = true
			break
		}
		q.Terms = append(q.Terms, t)
	}
	return q
}

func startsWithSpace(text string) bool {
	r, _ := utf8.DecodeRuneInString(text)
	return unicode.IsSpace(r)
}

// nextTerm cuts a phrase or a word off the front. A quote that is not closed does not count.
func nextTerm(text string) (said, rest string) {
	if inside, ok := strings.CutPrefix(text, `"`); ok {
		if phrase, rest, closed := strings.Cut(inside, `"`); closed {
			return phrase, rest
		}
	}
	if i := strings.IndexFunc(text, unicode.IsSpace); i >= 0 {
		return text[:i], text[i:]
	}
	return text, ""
}

// parse sets the tokens, and tells whether there are any.
func (t *Term) parse(said string) bool {
	split := Split(said)
	if n := len(split); n > 0 && split[n-1].Tail {
		if n > 1 && split[n-2].Pair && !split[n-2].Tail {
			split = split[:n-1] // the text may go on: its pairs are enough
		} else {
			t.Prefix = true // one character: the text may go on
		}
	} else if n == 0 || !endsInToken(said, split[n-1]) {
		t.Prefix = false // "foo.*" is foo
	}
	for _, one := range split {
		t.Tokens = append(t.Tokens, one.Text)
	}
	return len(t.Tokens) > 0
}

func endsInToken(said string, last Token) bool { return last.To == utf16Len(said) }

// Positive tells whether the query names anything to look for.
func (q Query) Positive() bool {
	return slices.ContainsFunc(q.Terms, func(t Term) bool { return !t.Not })
}

// at tells whether the term is in tokens from position i on.
func (t Term) at(tokens []Token, i int) bool {
	if i+len(t.Tokens) > len(tokens) {
		return false
	}
	last := len(t.Tokens) - 1
	for n, want := range t.Tokens {
		got := tokens[i+n].Text
		if got != want && !(n == last && t.Prefix && strings.HasPrefix(got, want)) {
			return false
		}
	}
	return true
}

// Range is a part of a text, in UTF-16 units.
type Range [2]int

// Match tells whether a text of these tokens has what the query wants, and where, ascending and apart.
func (q Query) Match(tokens []Token) (marks []Range, ok bool) {
	for _, t := range q.Terms {
		found := false
		for i := range tokens {
			if !t.at(tokens, i) {
				continue
			}
			if found = true; t.Not {
				return nil, false
			}
			last := tokens[i+len(t.Tokens)-1]
			end := last.To
			if want := t.Tokens[len(t.Tokens)-1]; last.Text != want && last.Pair {
				end = last.First // one character, which a pair begins with
			}
			marks = append(marks, Range{tokens[i].From, end})
		}
		if !found && !t.Not {
			return nil, false
		}
	}
	return joined(marks), q.Positive()
}

// Score tells how well a text matches the query, to compare it with other texts: how often it has the terms, with less weight
// for each repetition and in long texts (BM25; all hits have all terms, so the rarity of a term does not count).
func (q Query) Score(tokens []Token) (score float64) {
	const saturation, length, usual = 1.2, 0.75, 40.0
	for _, t := range q.Terms {
		times := 0.0
		for i := range tokens {
			if t.at(tokens, i) {
				times++
			}
		}
		if !t.Not {
			score += times / (times + saturation*(1-length+length*float64(len(tokens))/usual))
		}
	}
	return score
}

// joined sorts ranges and joins those that touch or overlap.
func joined(marks []Range) []Range {
	slices.SortFunc(marks, func(a, b Range) int { return a[0] - b[0] })
	var out []Range
	for _, m := range marks {
		if n := len(out); n > 0 && m[0] <= out[n-1][1] {
			out[n-1][1] = max(out[n-1][1], m[1])
		} else {
			out = append(out, m)
		}
	}
	return out
}
