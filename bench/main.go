// Command bench measures chatd beside the raw limit of the same redis-server in one run, and prints one table. Figures of
// different runs or machines do not compare; the ratios in one run do, and the counts always.
//
//	go run .            the full table, some minutes
//	go run . -scale 0.1 a tenth of the work, for a look
package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"text/tabwriter"
)

var scale = flag.Float64("scale", 1, "how much work, as a share of the full run")

// scaled is n by the scale of this run, at least 1.
func scaled(n int) int { return max(1, int(float64(n)**scale)) }

// row is one line of the table. Ratio compares with the raw limit named in against; empty where there is none.
type row struct {
	what, figure, ratio, against string
}

type table struct{ rows []row }

func (t *table) section(name string) {
	t.rows = append(t.rows, row{what: "\n" + strings.ToUpper(name)})
}

// rate adds a rate per second and its ratio to a raw one (0: no ratio).
func (t *table) rate(what string, perSecond, raw float64, against string) {
	r := row{what: what, figure: fmt.Sprintf("%.0f/s", perSecond), against: against}
	if raw > 0 {
		r.ratio = fmt.Sprintf("%.2f", perSecond/raw)
	}
	t.rows = append(t.rows, r)
	fmt.Fprintf(os.Stderr, "%s: %s %s\n", r.what, r.figure, r.ratio)
}

// count adds a figure that no noise touches.
func (t *table) count(what, format string, args ...any) {
	r := row{what: what, figure: fmt.Sprintf(format, args...)}
	t.rows = append(t.rows, r)
	fmt.Fprintf(os.Stderr, "%s: %s\n", r.what, r.figure)
}

func (t *table) print() error {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, "what\tfigure\tratio\tto")
	for _, r := range t.rows {
		_, _ = fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", r.what, r.figure, r.ratio, r.against)
	}
	return w.Flush() // only here anything is written
}

func main() {
	flag.Parse()
	b := newBench()
	defer b.close()
	if err := run(b); err != nil {
		b.close()
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(b *bench) error {
	for _, section := range []func(*bench) error{sending, reading, counting, memory, embeddedStore} {
		if err := section(b); err != nil {
			return err
		}
	}
	return b.table.print()
}
