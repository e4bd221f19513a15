package batch

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestCheck(t *testing.T) {
	for want, b := range map[string]Batch{
		"Quiet or MaxWait": {},
		"Max is 1001":      {Max: 1001, Quiet: 1},
		"Max is -1":        {Max: -1, Quiet: 1},
		"Bytes is":         {Bytes: 1<<20 + 1, Quiet: 1},
		"Quiet is -1":      {Quiet: -1},
		"MaxWait 1000h":    {MaxWait: 1000 * time.Hour},
		"key":              {Key: "a\rb", Quiet: 1},
	} {
		if err := b.Check(); !strings.HasPrefix(fmt.Sprint(err), "batch: ") || !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("%+v: %v, want %q", b, err, want)
		}
	}
}

func TestParseIsTheInverseOfLine(t *testing.T) {
	for _, b := range []Batch{{Max: 1, Bytes: 2, Quiet: time.Second, MaxWait: time.Hour}, {Key: "1 2 3", Max: 1000, Bytes: 1 << 20, Quiet: time.Millisecond}} {
		if got, ok := Parse(b.Line()); !ok || *got != b || b.Check() != nil {
			t.Errorf("%+v became %+v, %v", b, got, ok)
		}
	}
	for _, bad := range []string{"", "1 1 1 1", "1 1 1 x a", "1 -1 1 1 a"} {
		if b, ok := Parse(bad); ok {
			t.Errorf("%q is %+v", bad, b)
		}
	}
}
