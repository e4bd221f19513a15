package webhook

import (
	"testing"
	"time"
)

// TestReportsAreBounded: a webhook that fails a thousand times in an hour is logged 60 times, with a count of the rest.
// A change of the outcome is recorded at once.
func TestReportsAreBounded(t *testing.T) {
	var r reports
	now, records, lines, counted := time.Now(), 0, 0, 0
	for range 3600 {
		record, log, failures := r.note("w", true, now)
		if record {
			records++
		}
		if log {
			lines++
			counted += failures
		}
		now = now.Add(time.Second)
	}
	if records != 60 || lines != 60 || counted != 3600-59 {
		t.Errorf("an hour of failures: %d records and %d lines that count %d, want 60, 60 and all but the last minute's", records, lines, counted)
	}
	now = now.Add(-10 * time.Second)
	for i, want := range []struct{ failed, record, log bool }{
		{false, true, true}, {false, false, false}, {true, true, false}, {false, true, false},
	} {
		if record, log, _ := r.note("w", want.failed, now); record != want.record || log != want.log {
			t.Errorf("attempt %d: recorded %v, logged %v, want %+v", i, record, log, want)
		}
	}
	if record, log, _ := r.note("another", true, now); !record || !log {
		t.Error("the first failure of another webhook is not reported")
	}
	for i := range 3 * reportsMax {
		r.note(time.Duration(i).String(), true, now)
	}
	if len(r.last) > reportsMax+1 {
		t.Errorf("%d webhooks are remembered", len(r.last))
	}
}
