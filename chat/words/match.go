package words

import (
	"strings"
	"unicode"

	"github.com/chatd/chatd/internal/fold"
)

// token is a word of a text, folded, and where it stands.
type token struct {
	word       string
	begin, end int // bytes of the text
}

// tokens are the words of a text: letters, digits and their marks. Characters that do not show inside of a word are passed over. Scripts
// that put no space between words have a token for each character, so a word of theirs is found as a phrase is.
func tokens(text string) (list []token) {
	var word strings.Builder
	begin := -1
	finish := func(end int) {
		if folded := fold.Fold(word.String()); folded != "" {
			list = append(list, token{folded, begin, end})
		}
		word.Reset()
		begin = -1
	}
	end := 0 // of the last character of the word
	for i, r := range text {
		after := i + len(string(r))
		switch {
		case unicode.Is(unicode.Cf, r):
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai):
			if begin >= 0 {
				finish(end)
			}
			begin = i
			word.WriteRune(r)
			finish(after)
		case unicode.IsLetter(r), unicode.IsNumber(r), unicode.IsMark(r):
			if begin < 0 {
				begin = i
			}
			word.WriteRune(r)
			end = after
		case begin >= 0:
			finish(end)
		}
	}
	if begin >= 0 {
		finish(end)
	}
	return list
}

// phrase is an entry of a list: words that follow each other. open tells that the last one only begins so; ends that the first one only
// ends so.
type phrase struct {
	words      []string
	open, ends bool
}

// newPhrase reads an entry; ok is false if there is no word in it, or a star elsewhere than at one end.
func newPhrase(text string) (p phrase, ok bool) {
	text = strings.TrimSpace(text)
	if text, p.open = strings.CutSuffix(text, "*"); !p.open {
		text, p.ends = strings.CutPrefix(text, "*")
	}
	for _, t := range tokens(text) {
		p.words = append(p.words, t.word)
	}
	return p, len(p.words) > 0 && !strings.Contains(text, "*")
}

// matcher finds phrases by how their first word stands in a text: `=` and the word, `^` and how it begins, `$` and how it ends.
type matcher map[string][]phrase

func newMatcher(list []string) matcher {
	m := matcher{}
	for _, text := range list {
		p, ok := newPhrase(text)
		if !ok {
			continue
		}
		key := "=" + p.words[0]
		switch {
		case p.ends:
			key = "$" + p.words[0]
		case p.open && len(p.words) == 1:
			key = "^" + p.words[0]
		}
		m[key] = append(m[key], p)
	}
	return m
}

// span is where a phrase was found, in bytes.
type span struct{ begin, end int }

// find finds the phrases in a text, in the order in which they begin.
func (m matcher) find(text string) (found []span) {
	list := tokens(text)
	for i, t := range list {
		longest := 0
		look := func(key string) {
			for _, p := range m[key] {
				if p.follows(list[i:]) {
					longest = max(longest, len(p.words))
				}
			}
		}
		look("=" + t.word)
		for at := range t.word {
			look("$" + t.word[at:])
			if at > 0 {
				look("^" + t.word[:at])
			}
		}
		look("^" + t.word)
		if longest > 0 {
			found = append(found, span{t.begin, list[i+longest-1].end})
		}
	}
	return found
}

// follows tells whether the words behind the first one stand at the beginning of a list.
func (p phrase) follows(list []token) bool {
	if len(list) < len(p.words) {
		return false
	}
	for i := 1; i < len(p.words); i++ {
		last := p.open && i == len(p.words)-1
		if list[i].word != p.words[i] && !(last && strings.HasPrefix(list[i].word, p.words[i])) {
			return false
		}
	}
	return true
}

// masked is a text with stars in the place of all that shows in the spans.
func masked(text string, spans []span) string {
	if len(spans) == 0 {
		return text
	}
	var b strings.Builder
	next := 0
	for i, r := range text {
		for next < len(spans) && i >= spans[next].end {
			next++
		}
		if next < len(spans) && i >= spans[next].begin && !unicode.IsSpace(r) {
			r = '*'
		}
		b.WriteRune(r)
	}
	return b.String()
}
