package main

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestMain lets this program be the other processes of the bench too.
func TestMain(m *testing.M) {
	if !otherProcess() {
		os.Exit(m.Run())
	}
}

// TestTable makes the table with little work, so that it cannot rot, and holds what it counts without noise.
func TestTable(t *testing.T) {
	*scale, *writeTo = 0.002, t.TempDir()
	for _, folder := range []string{"bench", "docs/images"} {
		if err := os.MkdirAll(filepath.Join(*writeTo, folder), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	b := newBench(t.Context())
	defer b.close()
	if err := run(b); err != nil {
		t.Fatal(err)
	}
	for step, most := range map[string][2]int64{
		"a send": {1, 1}, "an ack": {1, 1}, "a pull of 50": {4, 1}, "a sync over 20 groups": {46, 2},
	} {
		got, counted := b.steps[step]
		if !counted || got[0] > most[0] || got[1] > most[1] {
			t.Errorf("%s: %d commands in %d round trips (counted: %v), want at most %d in %d", step, got[0], got[1], counted, most[0], most[1])
		}
	}
	if len(b.idle) != 2 || max(b.idle[0], b.idle[1]) > 12 {
		t.Errorf("an idle engine sends %.1f commands a second with an empty queue and with a full one, want 12 at most", b.idle)
	}
	page, err := os.ReadFile(filepath.Join(*writeTo, "bench", "RESULTS.md"))
	if err != nil {
		t.Fatal(err)
	}
	charts := 0
	for _, s := range b.table.sections {
		if !strings.Contains(string(page), "## "+capitalized(s.name)+"\n") || len(s.rows) == 0 {
			t.Errorf("section %q has %d rows, or is not on the page", s.name, len(s.rows))
		}
		if s.chart != nil {
			charts++
			checkChart(t, string(page), *s.chart)
		}
	}
	if charts != 5 {
		t.Errorf("got %d charts, want 5", charts)
	}
}

// checkChart reads a chart that was written: it is well formed, the page shows it, and it has a dot for each figure.
func checkChart(t *testing.T, page string, c chart) {
	t.Helper()
	name := "docs/images/" + c.file + ".svg"
	if !strings.Contains(page, "(../"+name+")") {
		t.Errorf("%s is not on the page", name)
	}
	drawn, err := os.Open(filepath.Join(*writeTo, name))
	if err != nil {
		t.Fatal(err)
	}
	defer drawn.Close()
	dots := 0
	for d := xml.NewDecoder(drawn); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if e, ok := token.(xml.StartElement); ok && e.Name.Local == "circle" {
			dots++
		}
	}
	want := len(c.lines) * (len(c.sizes) + 1) // one stands in the legend
	if dots != want || len(c.lines) == 0 {
		t.Errorf("%s: got %d dots, want %d", name, dots, want)
	}
	for _, l := range c.lines {
		if len(l.values) != len(c.sizes) || slices.Min(l.values) <= 0 {
			t.Errorf("%s: %s has the figures %v at %v", name, l.what, l.values, c.sizes)
		}
	}
}
