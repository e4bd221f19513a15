package emoji

import (
	"strings"
	"testing"
)

// TestCanonical: every spelling of an emoji becomes its fully qualified one, and nothing else is an emoji.
func TestCanonical(t *testing.T) {
	for text, want := range map[string]string{
		"👍": "👍", "👍\uFE0F": "👍", "❤": "❤\uFE0F", "❤\uFE0F": "❤\uFE0F", "©": "©\uFE0F", "👍🏽": "👍🏽", "👍\uFE0F🏽": "👍🏽", "☝🏿": "☝🏿",
		"\u231A": "\u231A", "\u231A\uFE0F": "\u231A", "\u2614": "\u2614", "\u2B55\uFE0F": "\u2B55", "\U0001F004": "\U0001F004",
		"#\u20E3": "#\uFE0F\u20E3", "#\uFE0F\u20E3": "#\uFE0F\u20E3", "7\uFE0F\u20E3": "7\uFE0F\u20E3", "*\u20E3": "*\uFE0F\u20E3",
		"🇩🇪": "🇩🇪", "🏴\U000E0067\U000E0062\U000E0073\U000E0063\U000E0074\U000E007F": "🏴\U000E0067\U000E0062\U000E0073\U000E0063\U000E0074\U000E007F",
		"👩\u200D❤\u200D👨": "👩\u200D❤\uFE0F\u200D👨", "👩🏻\u200D❤\u200D💋\u200D👨🏿": "👩🏻\u200D❤\uFE0F\u200D💋\u200D👨🏿",
		"👁\u200D🗨": "👁\uFE0F\u200D🗨\uFE0F", "👁\uFE0F\u200D🗨": "👁\uFE0F\u200D🗨\uFE0F", "👨\u200D👩\u200D👧\u200D👦": "👨\u200D👩\u200D👧\u200D👦",
		"🧑🏻\u200D🤝\u200D🧑🏻": "🧑🏻\u200D🤝\u200D🧑🏻", "👩🏻\u200D🤝\u200D👨🏿": "👩🏻\u200D🤝\u200D👨🏿", "🫪": "🫪", "🏻": "🏻", "🦰": "🦰",
	} {
		if got, ok := Canonical(text); got != want || !ok {
			t.Errorf("%+q: got %+q, %v; want %+q", text, got, ok, want)
		}
	}
	for _, text := range []string{"", "#", "*", "7", "42", "a", "td", "t", "d", "👍t", "☝t", "+1", ":+1:", " ", "👍 ", "👍👍", "👍🏽🏽", "🏽👍", "\uFE0F", "\uFE0F👍", "👍\uFE0F\uFE0F",
		"👍\uFE0E", "\u200D", "👩\u200D", "🇩", "🇽🇽", "👩🏻\u200D🤝\u200D👨🏻", "<b>", "\u20E3", "日"} {
		if got, ok := Canonical(text); ok {
			t.Errorf("%+q: got %+q", text, got)
		}
	}
}

// TestTable: each emoji of the table is one in its own spelling and in the bare one, and fits what a reaction may be.
func TestTable(t *testing.T) {
	n := 0
	for pattern := range strings.FieldsSeq(table) {
		tones := []string{"", ""}
		for first := range 5 {
			for second := range 5 {
				tones[0], tones[1] = string(rune(firstTone+first)), string(rune(firstTone+second))
				if strings.Contains(pattern, "d") && first == second || strings.Count(pattern, "t")+strings.Count(pattern, "d") < 2 && second > 0 ||
					!strings.Contains(pattern, "t") && first > 0 {
					continue
				}
				text := strings.Replace(pattern, "t", tones[0], 1)
				text = strings.NewReplacer("t", tones[1], "d", tones[1]).Replace(text)
				n++
				for _, spelled := range []string{text, Bare(text)} {
					if got, ok := Canonical(spelled); got != text || !ok || len(got) > 64 {
						t.Errorf("%+q: got %+q, %v; want %+q", spelled, got, ok, text)
					}
				}
			}
		}
	}
	if n != 3972 { // as many as Unicode 18.0 has, with the nine components
		t.Errorf("the table has %d emoji", n)
	}
}
