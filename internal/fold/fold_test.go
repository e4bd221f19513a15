package fold_test

import (
	"testing"

	"github.com/chatd/chatd/internal/fold"
)

func TestFold(t *testing.T) {
	for text, want := range map[string]string{
		"Straße": "strasse", "ÉCOLE": "ecole", "E\u0301cole": "ecole", "ΣΊΣΥΦΟΣ": "σισυφοσ", " a\u00a0 b\n": "a b", "Москва": "москва", "東京": "東京", "": "",
	} {
		if got := fold.Fold(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
