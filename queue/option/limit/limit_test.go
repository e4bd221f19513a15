package limit

import (
	"strings"
	"testing"
	"time"
)

func TestCheck(t *testing.T) {
	for _, l := range []Limit{
		{Max: 1}, {Key: "a\nb", Max: 1}, {Key: strings.Repeat("x", 257), Max: 1}, {Key: "a"}, {Key: "a", Max: -1}, {Key: "a", Max: 1001},
		{Key: "a", Max: 1, Busy: -2}, {Key: "a", Max: 1, Busy: Busy(31 * 24 * time.Hour)},
	} {
		if err := l.Check(); err == nil || !strings.HasPrefix(err.Error(), "limit: ") {
			t.Errorf("%+v: %v", l, err)
		}
	}
}

func TestParseIsTheInverseOfLine(t *testing.T) {
	for _, l := range []Limit{{Key: "a b", Max: 1}, {Key: "x", Max: 1000, Busy: Fail}, {Key: "1 2 3", Max: 7, Busy: Busy(time.Second), Hold: true}} {
		if got, ok := Parse(l.Line()); !ok || *got != l || l.Check() != nil {
			t.Errorf("%+v became %+v, %v", l, got, ok)
		}
	}
	for _, bad := range []string{"", "1", "1 0 wait", "1 0 wait ", "x 0 wait a", "0 0 wait a", "1 2 wait a", "1 0 -3 a", "1 0 x a"} {
		if l, ok := Parse(bad); ok {
			t.Errorf("%q is %+v", bad, l)
		}
	}
}
