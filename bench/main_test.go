package main

import (
	"fmt"
	"os"
	"testing"
)

// TestMain lets this program be the load generator too.
func TestMain(m *testing.M) {
	if os.Getenv(loadVariable) != "" {
		if err := generate(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, "load:", err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// TestTable makes the table with little work, so that it cannot rot, and holds what it counts without noise.
func TestTable(t *testing.T) {
	*scale = 0.002
	b := newBench(t.Context())
	defer b.close()
	if err := run(b); err != nil {
		t.Fatal(err)
	}
	for step, most := range map[string][2]int64{
		"a send": {1, 1}, "an ack": {1, 1}, "a pull of 50": {5, 2}, "a sync over 20 groups": {46, 2},
	} {
		got, counted := b.steps[step]
		if !counted || got[0] > most[0] || got[1] > most[1] {
			t.Errorf("%s: %d commands in %d round trips (counted: %v), want at most %d in %d", step, got[0], got[1], counted, most[0], most[1])
		}
	}
	if len(b.idle) != 2 || max(b.idle[0], b.idle[1]) > 12 {
		t.Errorf("an idle engine sends %.1f commands a second with an empty queue and with a full one, want 12 at most", b.idle)
	}
}
