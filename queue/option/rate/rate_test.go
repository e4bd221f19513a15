package rate

import (
	"strings"
	"testing"
	"time"
)

func TestCheck(t *testing.T) {
	for _, r := range []Rate{
		{N: 1, Per: time.Second}, {Key: "a\nb", N: 1, Per: time.Second}, {Key: strings.Repeat("x", 257), N: 1, Per: time.Second},
		{Key: "a", Per: time.Second}, {Key: "a", N: 1_000_001, Per: time.Hour}, {Key: "a", N: 1}, {Key: "a", N: 1, Per: 31 * 24 * time.Hour},
		{Key: "a", N: 1001, Per: time.Millisecond}, {Key: "a", N: 1, Per: time.Second, Burst: -1}, {Key: "a", N: 1, Per: time.Second, Burst: 1_000_001},
	} {
		if err := r.Check(); err == nil || !strings.HasPrefix(err.Error(), "rate: ") {
			t.Errorf("%+v: %v", r, err)
		}
	}
}

func TestParseIsTheInverseOfLine(t *testing.T) {
	for _, r := range []Rate{{Key: "a b", N: 1, Per: time.Millisecond, Burst: 7}, {Key: "1 2", N: 1_000_000, Per: time.Hour, Burst: 1}} {
		if got, ok := Parse(r.Line()); !ok || *got != r || r.Check() != nil {
			t.Errorf("%+v became %+v, %v", r, got, ok)
		}
	}
	rounded := Rate{Key: "a", N: 3, Per: time.Millisecond + 1}
	if got, ok := Parse(rounded.Line()); !ok || *got != (Rate{Key: "a", N: 3, Per: 1001 * time.Microsecond, Burst: 3}) {
		t.Errorf("got %+v, %v", got, ok)
	}
	for _, bad := range []string{"", "1", "1 1 1", "1 1 1 ", "0 1 1 a", "1 0 1 a", "1 1 0 a", "x 1 1 a"} {
		if r, ok := Parse(bad); ok {
			t.Errorf("%q is %+v", bad, r)
		}
	}
}
