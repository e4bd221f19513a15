package store_test

import (
	"fmt"
	"strings"
	"time"
)

// notes are the ids of the notes that have not ended, with their texts.
func (w *fixture) notes() string {
	w.Helper()
	notes, nowMs, err := w.Notes(w.ctx)
	w.ok(err)
	var all []string
	for _, n := range notes {
		if n.EndsMs <= nowMs || n.EndsMs > nowMs+time.Hour.Milliseconds() {
			w.Fatalf("note %s ends at %d, %d is now", n.ID, n.EndsMs, nowMs)
		}
		all = append(all, n.ID+"="+n.Text)
	}
	return strings.Join(all, ",")
}

// note writes a note, and tells whether there was one to keep.
func (w *fixture) note(id, text string, lasts time.Duration, notesMax int) bool {
	w.Helper()
	kept, err := w.PutNote(w.ctx, id, text, lasts, notesMax)
	w.ok(err)
	return kept
}

var healthTests = map[string]func(*fixture){
	"notes end by themselves": func(w *fixture) {
		w.equal(w.note("a", "1", time.Hour, 10), true)
		w.equal(w.note("b", "2", -time.Millisecond, 10), true) // it has ended
		w.equal(w.note("a", "", time.Hour, 10), true)          // kept
		w.equal(w.note("none", "", time.Hour, 10), false)
		w.equal(w.notes(), "a=1")
		w.equal(w.note("a", "3", time.Hour, 10), true)
		w.equal(w.note("b", "", time.Hour, 10), false)
		w.ok(w.DropNote(w.ctx, "a"))
		w.ok(w.DropNote(w.ctx, "a"))
		w.equal(w.notes(), "")
	},
	"too many notes": func(w *fixture) {
		for i := range 5 {
			w.equal(w.note(fmt.Sprint("n", i), "x", time.Minute, 3), i < 3)
		}
		w.equal(w.note("n1", "y", time.Minute, 3), true)
		w.equal(w.notes(), "n0=x,n1=y,n2=x")
	},
}
