// Package tokens splits text into what a search compares: words, pairs of characters where a language writes no spaces,
// and emoji. Text and query go through the same code, so that both database engines find the same.
//
// Case, accents, and forms of one character (NFKC) do not matter, nor does the dot of an i. Punctuation separates, so an
// address or an identifier is a phrase of its parts.
package tokens

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

const (
	// Max bounds the tokens of one text: PostgreSQL counts positions to 16,383. What comes after them is not found.
	Max = 16_000
	// WordMax bounds a word, in characters. The rest of a longer one is not compared.
	WordMax = 64
	// characterBytesMax bounds a character with its marks.
	characterBytesMax = 64
)

// Token is a word, a pair of characters, a single character at the end of a run of pairs, or an emoji. It holds no ASCII
// but lower-case letters and digits. From, First and To are offsets in the text, in UTF-16 units: First is where the first
// character of a pair ends, and To for all others.
type Token struct {
	Text            string
	From, First, To int
	// Pair is set for what stands in a run of characters without spaces.
	Pair bool
	// Tail is set for the last character of such a run, which begins no pair.
	Tail  bool
	emoji bool
}

type class int

const (
	separator class = iota
	letter          // joins others to a word
	paired          // of a script that puts no spaces between words, or whose words are better found by pairs
	emoji
	mark   // belongs to what is before it
	joiner // says nothing
)

// pairedScripts are written without spaces, or (Hangul) with endings that hang on to the words.
var pairedScripts = []*unicode.RangeTable{unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Bopomofo,
	unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar, unicode.Tibetan}

func classOf(r rune) class {
	if r < utf8.RuneSelf {
		if 'a' <= r && r <= 'z' || '0' <= r && r <= '9' {
			return letter
		}
		return separator
	}
	switch {
	case r == zeroWidthJoiner, r >= '\ufe00' && r <= '\ufe0f', r >= 0x1f3fb && r <= 0x1f3ff, r == '\u20e3', unicode.Is(unicode.Cf, r):
		return joiner // of emoji sequences; variants, skin tones, keycaps
	case unicode.IsMark(r):
		return mark
	case unicode.IsLetter(r), unicode.IsNumber(r):
		if unicode.In(r, pairedScripts...) || r == 'ー' {
			return paired
		}
		return letter
	case unicode.Is(unicode.So, r) && r != unicode.ReplacementChar:
		return emoji
	}
	return separator
}

// accent tells a mark that may be left out: those of Latin, Greek, Cyrillic, Hebrew and Arabic. In other scripts marks
// are vowels and tones.
func accent(r rune) bool {
	switch {
	case r >= 0x300 && r <= 0x36f, r >= 0x483 && r <= 0x487, r >= 0x591 && r <= 0x5c7, r >= 0x610 && r <= 0x61a,
		r == 0x640, r >= 0x64b && r <= 0x65f, r == 0x670:
		return true
	}
	return false
}

// letters that no decomposition leads back to their base.
var base = map[rune]string{'ı': "i", 'ø': "o", 'ł': "l", 'đ': "d", 'ð': "d", 'ħ': "h", 'ŧ': "t", 'æ': "ae", 'œ': "oe", 'þ': "th",
	// Arabic: forms of alef, the final yeh and heh that are often written for one another.
	'ٱ': "ا", 'ى': "ي", 'ة': "ه"}

// splitter holds the word or the run that is being read.
type splitter struct {
	tokens []Token
	fold   cases.Caser // made when it is needed
	folds  bool

	word    strings.Builder
	letters int // characters in word
	from    int
	to      int

	run []Token // one character each, with its marks
}

// Split gives the tokens of text in their order: the index of a token is its position. Indexes hold what it gave: a developer who
// changes it writes a migration that rebuilds them.
func Split(text string) []Token {
	s := splitter{tokens: make([]Token, 0, min(len(text)/wordBytes+1, Max))}
	offset := 0
	for i := 0; i < len(text) && len(s.tokens) < Max; {
		if n := s.plainWord(text[i:], offset); n > 0 {
			i, offset = i+n, offset+n
			continue
		}
		if c := text[i]; c < utf8.RuneSelf && (i+1 == len(text) || text[i+1] < utf8.RuneSelf) {
			s.add(unicode.ToLower(rune(c)), offset, offset+1)
			i, offset = i+1, offset+1
			continue
		}
		end := i + max(1, norm.NFKD.NextBoundaryInString(text[i:], true))
		units := utf16Len(text[i:end])
		s.segment(text[i:end], offset, offset+units)
		i, offset = end, offset+units
	}
	s.endWord()
	s.endRun()
	return s.tokens[:min(len(s.tokens), Max)]
}

// wordBytes is less than what a word takes in most texts, with the space after it.
const wordBytes = 5

// plainWord takes a whole word of ASCII letters and digits that nothing can join: not what is before it, and no mark after it. It
// returns its length, and 0 where there is none. Most words are like this, and most of these are their own compared form.
func (s *splitter) plainWord(text string, offset int) int {
	if s.letters > 0 {
		return 0
	}
	n := 0
	for n < len(text) && n <= WordMax && plainLetter(text[n]) {
		n++
	}
	if n == 0 || n > WordMax || n < len(text) && text[n] >= utf8.RuneSelf {
		return 0
	}
	s.endRun()
	s.emit(Token{Text: strings.ToLower(text[:n]), From: offset, First: offset + n, To: offset + n})
	return n
}

func plainLetter(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

func utf16Len(s string) (n int) {
	for _, r := range s {
		n++
		if r > 0xffff {
			n++
		}
	}
	return n
}

// segment takes a character with its marks.
func (s *splitter) segment(text string, from, to int) {
	bare := strings.Map(func(r rune) rune {
		if accent(r) {
			return -1
		}
		return r
	}, norm.NFKD.String(text))
	if !s.folds {
		s.fold, s.folds = cases.Fold(), true
	}
	for _, r := range s.fold.String(norm.NFC.String(bare)) {
		if plain, ok := base[r]; ok {
			for _, r := range plain {
				s.add(r, from, to)
			}
		} else {
			s.add(r, from, to)
		}
	}
}

// add takes one character in its compared form.
func (s *splitter) add(r rune, from, to int) {
	switch classOf(r) {
	case letter:
		s.endRun()
		s.extendWord(r, from, to)
	case paired:
		s.endWord()
		s.run = append(s.run, Token{Text: string(r), From: from, To: to})
	case emoji:
		s.endWord()
		s.endRun()
		s.emit(Token{Text: string(r), From: from, First: to, To: to, emoji: true})
	case mark:
		if last := len(s.run) - 1; last >= 0 {
			if len(s.run[last].Text) < characterBytesMax {
				s.run[last].Text += string(r)
			}
			s.run[last].To = to
		} else if s.letters > 0 {
			s.extendWord(r, from, to)
		}
	case joiner:
		// An emoji is marked with its skin tone and its variant.
		if last := len(s.tokens) - 1; last >= 0 && r != zeroWidthJoiner && s.tokens[last].To == from && s.tokens[last].emoji {
			s.tokens[last].First, s.tokens[last].To = to, to
		}
	case separator:
		s.endWord()
		s.endRun()
	}
}

const zeroWidthJoiner = '\u200d'

func (s *splitter) extendWord(r rune, from, to int) {
	if s.letters == 0 {
		s.from = from
	}
	if s.letters++; s.letters <= WordMax {
		s.word.WriteRune(r)
	}
	s.to = to
}

func (s *splitter) emit(t Token) { s.tokens = append(s.tokens, t) }

func (s *splitter) endWord() {
	if s.letters > 0 {
		s.emit(Token{Text: s.word.String(), From: s.from, First: s.to, To: s.to})
	}
	s.word.Reset()
	s.letters = 0
}

// endRun makes the pairs of a run, and a token of its last character: a search for one character looks for what begins
// with it.
func (s *splitter) endRun() {
	for i, c := range s.run {
		if i+1 < len(s.run) {
			next := s.run[i+1]
			s.emit(Token{Text: c.Text + next.Text, From: c.From, First: c.To, To: next.To, Pair: true})
		} else {
			s.emit(Token{Text: c.Text, From: c.From, First: c.To, To: c.To, Pair: true, Tail: true})
		}
	}
	s.run = s.run[:0]
}
