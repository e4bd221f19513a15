package tokens

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// characterByCharacter is Split without whole words.
func characterByCharacter(text string) []Token {
	var s splitter
	offset := 0
	for i := 0; i < len(text) && len(s.tokens) < Max; {
		end, units := i+1, 1
		if c := text[i]; c < utf8.RuneSelf && (end == len(text) || text[end] < utf8.RuneSelf) {
			s.add(unicode.ToLower(rune(c)), offset, offset+1)
		} else {
			end = i + max(1, norm.NFKD.NextBoundaryInString(text[i:], true))
			units = utf16Len(text[i:end])
			s.segment(text[i:end], offset, offset+units)
		}
		i, offset = end, offset+units
	}
	s.endWord()
	s.endRun()
	return s.tokens[:min(len(s.tokens), Max)]
}

// TestPlainWords: words that are taken whole are those that their characters make, whatever is beside them.
func TestPlainWords(t *testing.T) {
	pieces := []string{"a", "Bc", "word", "42", " ", "-", "_", "é", "ß", "\u0301", "\u200d", "\ufe0f", "天", "気", "ก้", "👍", "👍🏽", "\xff", "½", strings.Repeat("x", WordMax), "İ"}
	random := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		var text strings.Builder
		for range random.IntN(8) {
			text.WriteString(pieces[random.IntN(len(pieces))])
		}
		if got, want := Split(text.String()), characterByCharacter(text.String()); !slices.Equal(got, want) {
			t.Fatalf("%q: %+v, want %+v", text.String(), got, want)
		}
	}
	long := strings.Repeat("ab ", Max+10)
	if got, want := Split(long), characterByCharacter(long); !slices.Equal(got, want) {
		t.Errorf("a long text: %d tokens, want %d", len(got), len(want))
	}
}

// TestLongRun: the work on a text grows with its length, also where nothing in it separates words.
func TestLongRun(t *testing.T) {
	if got := len(Split("é" + strings.Repeat("a", 1<<20))); got != 1 {
		t.Errorf("%d tokens, want 1", got)
	}
}
