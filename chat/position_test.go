package chat

import (
	"strings"
	"testing"
)

func TestParsePosition(t *testing.T) {
	for _, c := range []struct {
		raw  string
		want Position
		bad  bool
	}{
		{raw: "0", want: Position{Set: true}},
		{raw: "42", want: Position{Set: true, ID: 42}},
		{raw: "9223372036854775807", want: Position{Set: true, ID: 1<<63 - 1}},
		{raw: "9f2c.44.k3", want: Position{Set: true, ID: 44, Epoch: "9f2c", Mark: "k3"}},
		{raw: "9f2c.0.-", want: Position{Set: true, Epoch: "9f2c", Mark: "-"}},
		{raw: "", bad: true}, {raw: "-1", bad: true}, {raw: "+1", bad: true}, {raw: "1e3", bad: true}, {raw: "1.5", bad: true},
		{raw: "007", bad: true}, {raw: " 1", bad: true}, {raw: "9223372036854775808", bad: true}, {raw: "NaN", bad: true},
		{raw: "9f2c.44", bad: true}, {raw: "9f2c..k3", bad: true}, {raw: ".44.k3", bad: true}, {raw: "9f2c.44.", bad: true},
		{raw: "9f2c.44.k3.x", bad: true}, {raw: "9f2c.-1.k3", bad: true}, {raw: "9f 2c.44.k3", bad: true},
		{raw: "9f2c.44.k{3}", bad: true}, {raw: strings.Repeat("a", 33) + ".1.-", bad: true},
	} {
		got, err := ParsePosition(c.raw)
		if c.bad {
			if CodeOf(err) != CodeInvalid {
				t.Errorf("ParsePosition(%q): got %v, %v, want invalid_request", c.raw, got, err)
			}
			continue
		}
		if err != nil || got != c.want {
			t.Errorf("ParsePosition(%q): got %+v, %v, want %+v", c.raw, got, err, c.want)
		}
	}
}

func FuzzParsePosition(f *testing.F) {
	for _, s := range []string{"0", "42", "9f2c.44.k3", "e.0.-", "-1", "1e3", "a.b.c", "..", "9f2c.44.k3.x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		pos, err := ParsePosition(raw)
		if err != nil {
			if CodeOf(err) != CodeInvalid {
				t.Fatalf("%q: %v", raw, err)
			}
			return
		}
		if !pos.Set || pos.ID < 0 || (pos.Epoch == "") != (pos.Mark == "") {
			t.Fatalf("%q: got %+v", raw, pos)
		}
		if pos.Epoch != "" {
			if again := FormatPosition(pos.Epoch, pos.ID, pos.Mark); again != raw {
				t.Fatalf("%q is written %q", raw, again)
			}
		}
	})
}
