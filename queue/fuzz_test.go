package queue

import (
	"fmt"
	"testing"
)

// FuzzParseSpec: no specification makes the parser panic, and one that it accepts parses to the same when it is written
// again.
func FuzzParseSpec(f *testing.F) {
	f.Add("0 1 0 0 0 -", "high 5 0 1700000000000 0 member g.e1\n{\"group\":\"g\"}")
	f.Add("", "normal 3 0 1 2 kind \n")
	f.Add("7 1 1700000000000 5 10 a word\nand more", "low 0 9 9223372036854775807 9223372036854775807 k u\npay\nload")
	f.Add("", "normal 3 0 1 2 kind unique\rtimeout 3000\npay\rload")
	f.Add("7 x 0 -", "none\n")
	f.Add("7", "high 1 1")
	f.Fuzz(func(t *testing.T, text, spec string) {
		if r, err := parseRecord(text); err == nil && text != "" {
			again := fmt.Sprintf("%d %d %d %d %d %s", r.attempts, r.crashes, r.due, r.progress.Done, r.progress.Total, r.err)
			if same, err := parseRecord(again); err != nil || same != r {
				t.Errorf("%q was taken as %+v, then as %+v, %v", text, r, same, err)
			}
		}
		var c, d Task
		if parseSpec(&c, spec) != nil {
			return
		}
		var ms [3]int64
		for i, at := range []interface {
			IsZero() bool
			UnixMilli() int64
		}{c.Deadline, c.Enqueued, c.Due} {
			if !at.IsZero() {
				ms[i] = at.UnixMilli()
			}
		}
		again := fmt.Sprintf("%v %d %d %d %d %s %s%s\n%s", c.Priority, c.AttemptsMax, ms[0], ms[1], ms[2], c.Kind, c.Unique,
			c.optionLines(), c.Payload)
		if err := parseSpec(&d, again); err != nil {
			t.Fatalf("%q was taken, %q is not: %v", spec, again, err)
		}
		if string(d.Payload) != string(c.Payload) || d.Kind != c.Kind || d.Unique != c.Unique || d.Timeout != c.Timeout || !d.Deadline.Equal(c.Deadline) ||
			!d.Enqueued.Equal(c.Enqueued) || !d.Due.Equal(c.Due) || d.Priority != c.Priority || d.AttemptsMax != c.AttemptsMax {
			t.Errorf("got %+v, want %+v", d, c)
		}
	})
}

// FuzzCursor: a cursor that is accepted parses to the same when it is written again.
func FuzzCursor(f *testing.F) {
	f.Add("ready", makeCursor(Ready, 3, "4 12 p03-x"))
	f.Add("dead", makeCursor(Dead, 0, "1700000000000 p00-x"))
	f.Add("leased", makeCursor(Leased, 0, ""))
	f.Add("ready", "????")
	f.Fuzz(func(t *testing.T, state, cursor string) {
		p, anchor, ok := parseCursor(State(state), cursor)
		if !ok || cursor == "" {
			return
		}
		q, same, ok := parseCursor(State(state), makeCursor(State(state), p, anchor))
		if !ok || q != p || same != anchor {
			t.Errorf("%q: got %d %q, then %d %q, %v", cursor, p, anchor, q, same, ok)
		}
	})
}
