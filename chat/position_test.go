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

func TestJudge(t *testing.T) {
	open := Info{Group: Group{Epoch: "e", First: 5, Last: 10, History: true}, Joined: 1, Seen: 7, LastMark: "mL"}
	hidden := open
	hidden.History, hidden.Joined = false, 8
	trimmedHidden := hidden
	trimmedHidden.First = 9
	at := func(id int64, mark string) *Message { return &Message{ID: id, Mark: mark} }
	for _, c := range []struct {
		name     string
		info     Info
		pos      Position
		at       *Message
		next     int64
		complete bool
	}{
		{"own seen", open, Position{}, nil, 8, true},
		{"an id", open, Position{Set: true, ID: 6}, nil, 7, true},
		{"the end", open, Position{Set: true, ID: 10}, nil, 11, true},
		{"just before first", open, Position{Set: true, ID: 4}, nil, 5, true},
		{"a trimmed range", open, Position{Set: true, ID: 3}, nil, 5, false},
		{"from the beginning, trimmed", open, Position{Set: true}, nil, 5, false},
		{"above last", open, Position{Set: true, ID: 11}, nil, 5, false},
		{"far above last", open, Position{Set: true, ID: 1<<63 - 1}, nil, 5, false},
		{"another epoch", open, Position{Set: true, ID: 6, Epoch: "f", Mark: "m6"}, at(6, "m6"), 5, false},
		{"the same mark", open, Position{Set: true, ID: 6, Epoch: "e", Mark: "m6"}, at(6, "m6"), 7, true},
		{"another mark", open, Position{Set: true, ID: 6, Epoch: "e", Mark: "m6"}, at(6, "mX"), 5, false},
		{"an unknown mark", open, Position{Set: true, ID: 6, Epoch: "e", Mark: "-"}, at(6, "mX"), 7, true},
		{"a trimmed mark", open, Position{Set: true, ID: 4, Epoch: "e", Mark: "m4"}, nil, 5, true},
		{"another mark at the end", open, Position{Set: true, ID: 10, Epoch: "e", Mark: "m"}, nil, 5, false},
		{"before joining", hidden, Position{Set: true, ID: 2}, nil, 8, true},
		{"after joining", hidden, Position{Set: true, ID: 8}, nil, 9, true},
		{"before joining, trimmed since", trimmedHidden, Position{Set: true, ID: 2}, nil, 9, false},
		{"another epoch, before joining", hidden, Position{Set: true, ID: 2, Epoch: "f", Mark: "-"}, nil, 8, false},
	} {
		got := judge(c.info, c.pos, c.at)
		if want := (place{c.next, c.complete}); got != want {
			t.Errorf("%s: got %+v, want %+v", c.name, got, want)
		}
	}
}
