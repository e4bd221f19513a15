package chat

import "testing"

// FuzzParseRank: the cursor of a list of groups is taken only as it was written.
func FuzzParseRank(f *testing.F) {
	for _, seed := range []string{"", "1700000000000.general", "0.a", "1.a.b", "-1.a", "1.", ".a", "01.a", "9223372036854775808.a", "1.a:b", "1.\x00"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		at, err := ParseRank(raw)
		switch {
		case err != nil && CodeOf(err) != CodeInvalid:
			t.Errorf("%q: the code of %v", raw, err)
		case err == nil && raw != "" && at.String() != raw:
			t.Errorf("%q is written %q", raw, at)
		}
	})
}
