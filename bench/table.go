package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// row is one line of the table. Ratio compares with the raw limit named in against; empty where there is none.
type row struct {
	what, figure, ratio, against string
}

// table is what was measured, section by section.
type table struct{ sections []section }

type section struct {
	name  string
	rows  []row
	chart *chart // nil if the section has none
}

func (t *table) section(name string) { t.sections = append(t.sections, section{name: name}) }

func (t *table) add(r row) {
	s := &t.sections[len(t.sections)-1]
	s.rows = append(s.rows, r)
	fmt.Fprintf(os.Stderr, "%s: %s %s\n", r.what, r.figure, r.ratio)
}

// rate adds a rate per second and its ratio to a raw one (0: no ratio).
func (t *table) rate(what string, perSecond, raw float64, against string) {
	r := row{what: what, figure: fmt.Sprintf("%.0f/s", perSecond), against: against}
	if raw > 0 {
		r.ratio = fmt.Sprintf("%.2f", perSecond/raw)
	}
	t.add(r)
}

// count adds a figure without a ratio.
func (t *table) count(what, format string, args ...any) {
	t.add(row{what: what, figure: fmt.Sprintf(format, args...)})
}

// spread adds the median and the 99th percentile of times, which it sorts.
func (t *table) spread(what string, times []time.Duration) {
	if len(times) == 0 {
		t.count(what, "none")
		return
	}
	slices.Sort(times)
	t.count(what, "p50 %s, p99 %s", inMs(times[len(times)/2]), inMs(times[len(times)*99/100]))
}

// compare gives the last row a ratio.
func (t *table) compare(ratio float64, against string) {
	rows := t.sections[len(t.sections)-1].rows
	r := &rows[len(rows)-1]
	r.ratio, r.against = fmt.Sprintf("%.2f", ratio), against
	fmt.Fprintf(os.Stderr, "%s: %s %s\n", r.what, r.ratio, r.against)
}

// chart adds one to the section.
func (t *table) chart(c chart) { t.sections[len(t.sections)-1].chart = &c }

func inMs(d time.Duration) string { return fmt.Sprintf("%.2f ms", d.Seconds()*1000) }

// print writes the table as plain text.
func (t *table) print(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, "what\tfigure\tratio\tto")
	for _, s := range t.sections {
		_, _ = fmt.Fprintf(w, "\n%s\t\t\t\n", strings.ToUpper(s.name))
		for _, r := range s.rows {
			_, _ = fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", r.what, r.figure, r.ratio, r.against)
		}
	}
	return w.Flush() // only here anything is written
}
