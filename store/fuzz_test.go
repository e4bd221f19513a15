package store

import (
	"strings"
	"testing"
)

// FuzzReply: whatever a server answers in place of a script is an error or a value, never a panic.
func FuzzReply(f *testing.F) {
	f.Add("OK\n1\n2", uint64(0))
	f.Add("OK\nepoch\nname\nprivate\nann\n17\n100\n10000\nmembers\n1\n5\n3\nmark\n3\n3\n2\nowner\n1\n1\n3\n3\n0\n0", uint64(1<<13))
	f.Add("NOTFOUND", uint64(0))
	f.Add("", uint64(1))
	f.Add("OK\n-9223372036854775809\nx", uint64(7))
	f.Fuzz(func(t *testing.T, text string, kinds uint64) {
		var array []any
		for i, part := range strings.Split(text, "\n") {
			switch kinds >> (2 * (i % 32)) & 3 {
			case 0:
				array = append(array, part)
			case 1:
				array = append(array, int64(len(part))-3)
			case 2:
				array = append(array, nil)
			default:
				array = append(array, []any{part})
			}
		}
		r, err := asReply("fuzz", array)
		if err != nil {
			return
		}
		if in := asInfo("g", r); in.Epoch == "" && in.Role != "" {
			t.Errorf("a member of no group: %+v", in)
		}
	})
}
