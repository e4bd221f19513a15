package tokens

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
)

func texts(list []Token) (out []string) {
	for _, t := range list {
		out = append(out, t.Text)
	}
	return out
}

func TestSplit(t *testing.T) {
	for text, want := range map[string]string{
		"Hello, World!":            "hello world",
		"東京タワー":                    "東京 京タ タワ ワー ー",
		"東 京":                      "東 京",
		"Tower東京":                  "tower 東京 京",
		"가나":                       "가나 나",
		"ก้าว":                     "ก้า าว ว",
		"Straße ÅÄÖ Łódź":          "strasse aao lodz",
		"İI ıi":                    "ii ii",
		"a_b-c.d@e/f":              "a b c d e f",
		"👍🏽👩‍💻":                    "👍 👩 💻",
		"ﬁx ½ ①":                   "fix 1 2 1",
		"क्षत्रिय":                 "क्षत्रिय",
		strings.Repeat("a", 100):   strings.Repeat("a", WordMax),
		"":                         "",
		" \n\t'\"\\:*&|!()<->\x00": "",
	} {
		if got := strings.Join(texts(Split(text)), " "); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if got := len(Split(strings.Repeat("a ", 2*Max))); got != Max {
		t.Errorf("a long text has %d tokens", got)
	}
}

func TestParse(t *testing.T) {
	for text, want := range map[string][]Term{
		`one "two three" -four five*`: {{Tokens: []string{"one"}}, {Tokens: []string{"two", "three"}}, {Tokens: []string{"four"}, Not: true}, {Tokens: []string{"five"}, Prefix: true}},
		`-"a b"`:                      {{Tokens: []string{"a", "b"}, Not: true}},
		`"open quote`:                 {{Tokens: []string{"open"}}, {Tokens: []string{"quote"}}},
		`a-b foo.* - * ""`:            {{Tokens: []string{"a", "b"}}, {Tokens: []string{"foo"}}},
		`git push --force --`:         {{Tokens: []string{"git"}}, {Tokens: []string{"push"}}, {Tokens: []string{"force"}}},
		`---a -- -b`:                  {{Tokens: []string{"a"}}, {Tokens: []string{"b"}, Not: true}},
		"水":                           {{Tokens: []string{"水"}, Prefix: true}},
		"東京 a東京b":                     {{Tokens: []string{"東京"}}, {Tokens: []string{"a", "東京", "京", "b"}}},
		"":                            nil,
	} {
		got := Parse(text).Terms
		if !slices.EqualFunc(got, want, func(a, b Term) bool {
			return slices.Equal(a.Tokens, b.Tokens) && a.Prefix == b.Prefix && a.Not == b.Not
		}) {
			t.Errorf("%q: %+v, want %+v", text, got, want)
		}
	}
	if q := Parse(strings.Repeat("a ", TermsMax)); q.Cut {
		t.Errorf("%d words are cut", len(q.Terms))
	}
	if q := Parse(strings.Repeat("é", QueryMax+1)); !q.Cut {
		t.Errorf("a long word is not cut")
	}
	if n := len(Parse(strings.Repeat("a ", TermsMax+1)).Terms); n != TermsMax || !Parse(strings.Repeat("a ", TermsMax+1)).Cut {
		t.Errorf("a long query has %d terms", n)
	}
}

func TestMarks(t *testing.T) {
	for _, c := range []struct{ query, text, want string }{
		{"hello", "👍 Hello, world", "👍 [Hello], world"},
		{`"b c"`, "a b-c b", "a [b-c] b"},
		{"京タ", "東京タワー", "東[京タ]ワー"},
		{"京", "東京タワー", "東[京]タワー"},
		{"ー", "タワー", "タワ[ー]"},
		{"stra*", "die Straße", "die [Straße]"},
		{"e\u0301te\u0301", "l'ÉTÉ", "l'[ÉTÉ]"},
		{"x", strings.Repeat("word ", 100) + "x" + strings.Repeat(" word", 100), ""},
	} {
		marks, ok := Parse(c.query).Match(Split(c.text))
		if !ok {
			t.Errorf("%q is not in %q", c.query, c.text)
			continue
		}
		snippet := MakeSnippet(c.text, marks)
		units := utf16.Encode([]rune(snippet.Text))
		var b strings.Builder
		at := 0
		for _, m := range snippet.Marks {
			b.WriteString(string(utf16.Decode(units[at:m[0]])) + "[" + string(utf16.Decode(units[m[0]:m[1]])) + "]")
			at = m[1]
		}
		b.WriteString(string(utf16.Decode(units[at:])))
		if c.want == "" {
			if !strings.Contains(b.String(), " [x] ") || !strings.HasPrefix(snippet.Text, "…word") || !strings.HasSuffix(snippet.Text, "…") || len(units) > snippetMax+2 {
				t.Errorf("the snippet of a long text: %q", b.String())
			}
		} else if b.String() != c.want {
			t.Errorf("%q: %q, want %q", c.query, b.String(), c.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{`a "b c" -d e*`, "東京 -水*", "\"", "-", "\xff*", "'':*&|!<->", "ก้", "a\u0301\u0301", "👩‍💻", "İı"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		q := Parse(text)
		if len(q.Terms) > TermsMax {
			t.Fatalf("%d terms", len(q.Terms))
		}
		for _, term := range q.Terms {
			if len(term.Tokens) == 0 {
				t.Fatal("a term of nothing")
			}
			for _, token := range term.Tokens {
				if token == "" || len(token) > 2000 || strings.ContainsFunc(token, func(r rune) bool { return r < 0x80 && (r < '0' || r > '9') && (r < 'a' || r > 'z') }) {
					t.Fatalf("token %q", token)
				}
			}
		}
		// What has no operators finds itself.
		valid := strings.ToValidUTF8(text, " ")
		if len(valid) < QueryMax && len(q.Terms) < TermsMax && q.Positive() && !strings.ContainsAny(valid, `-*"`) {
			split := Split(valid)
			marks, ok := q.Match(split)
			if !ok {
				t.Fatalf("%q does not find itself: %+v in %+v", valid, q, split)
			}
			end := len(utf16.Encode([]rune(valid)))
			for _, m := range marks {
				if m[0] >= m[1] || m[1] > end {
					t.Fatalf("marks %v of %d units", marks, end)
				}
			}
			MakeSnippet(valid, marks)
		}
	})
}
