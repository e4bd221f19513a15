package words

import "testing"

func TestMasked(t *testing.T) {
	m := newMatcher([]string{"Damn", "bad phrase", "spam*", "*ware", "坏话", "half an*"})
	for text, want := range map[string]string{
		"damn": "****", "DÄMN it": "**** it", "damnit": "damnit", "Damn, damn!": "****, ****!",
		"a bad   phrase": "a ***   ******", "bad, phrase": "**** ******", "bad": "bad", "phrase bad": "phrase bad",
		"spammer spam Spa": "******* **** Spa", "malware ware wares": "******* **** wares", "他说坏话了": "他说**了", "坏 的 话": "坏 的 话",
		"d\u200bamn": "*****", "ｄａｍｎ": "****", "half another": "**** *******", "half a": "half a", "": "", "!!": "!!",
	} {
		if got := masked(text, m.find(text)); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestPhrases(t *testing.T) {
	for text, want := range map[string]bool{"a": true, "a*": true, "*a": true, "*a*": false, "a*b": false, "*": false, "!": false, " ": false, "a b*": true} {
		if _, ok := newPhrase(text); ok != want {
			t.Errorf("%q: got %t, want %t", text, ok, want)
		}
	}
}
