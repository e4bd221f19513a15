package queue

import (
	"fmt"
	"testing"
)

// FuzzParseClaim: what step.lua says of a task never panics, and what is taken says the same when it is written again.
func FuzzParseClaim(f *testing.F) {
	f.Add("7 1 0 -", "high 5 0 1700000000000 0 member g.e1\n{\"group\":\"g\"}")
	f.Add("", "normal 3 0 1 2 kind \n")
	f.Add("7 1 0 a word and more", "low 0 0 9223372036854775807 9223372036854775807 k u\npay\nload")
	f.Add("7 x 0 -", "none\n")
	f.Add("7", "high 1 1")
	f.Fuzz(func(t *testing.T, run, spec string) {
		c, err := parseClaim(0, "p00-x", "7", run, spec)
		if err != nil {
			return
		}
		due := int64(0)
		if !c.Due.IsZero() {
			due = c.Due.UnixMilli()
		}
		again := fmt.Sprintf("%v %d 0 %d %d %s %s\n%s", c.Priority, c.AttemptsMax, c.Enqueued.UnixMilli(), due, c.Kind, c.Unique, c.Payload)
		d, err := parseClaim(0, "p00-x", "7", run, again)
		if err != nil {
			t.Fatalf("%q was taken, %q is not: %v", spec, again, err)
		}
		if string(d.Payload) != string(c.Payload) || d.Kind != c.Kind || d.Unique != c.Unique || d.Attempt != c.Attempt ||
			!d.Enqueued.Equal(c.Enqueued) || !d.Due.Equal(c.Due) || d.Priority != c.Priority || d.AttemptsMax != c.AttemptsMax {
			t.Errorf("got %+v, want %+v", d, c)
		}
	})
}
