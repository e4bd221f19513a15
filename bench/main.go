// Command bench measures chatd beside the raw limit of the same redis-server in one run, and prints one table. Figures of
// different runs or machines do not compare; the ratios in one run do, and the counts always.
//
//	go run .                  the full table, some minutes
//	go run . -scale 0.1       a tenth of the work, for a look
//	go run . -only tasks,waiting   some of the sections
//	go run . -only history -messages 1000000   an archive of that size, some minutes
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"
)

var (
	scale = flag.Float64("scale", 1, "how much work, as a share of the full run")
	only  = flag.String("only", "", "the sections to run, separated by commas; empty: all")
)

// scaled is n by the scale of this run, at least 1.
func scaled(n int) int { return max(1, int(float64(n)**scale)) }

// shorter is d, or a part of it where the scale is small: what is measured over a time needs not much less of it.
func shorter(d time.Duration) time.Duration {
	return max(d/10, time.Duration(float64(d)*min(1, 2**scale)))
}

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
	r := &t.rows[len(t.rows)-1]
	r.ratio, r.against = fmt.Sprintf("%.2f", ratio), against
	fmt.Fprintf(os.Stderr, "%s: %s %s\n", r.what, r.ratio, r.against)
}

func inMs(d time.Duration) string { return fmt.Sprintf("%.2f ms", d.Seconds()*1000) }

func (t *table) print() error {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, "what\tfigure\tratio\tto")
	for _, r := range t.rows {
		_, _ = fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", r.what, r.figure, r.ratio, r.against)
	}
	return w.Flush() // only here anything is written
}

// sections are the parts of the table, in its order.
var sections = []struct {
	name string
	run  func(*bench) error
}{
	{"sending", sending}, {"reading", reading}, {"counting", counting}, {"memory", memory}, {"embedded", embeddedStore},
	{"tasks", tasks}, {"waiting", waiting}, {"priorities", priorities}, {"schedules", schedules},
	{"announcements", announcements}, {"overload", overload}, {"archiving", archiving}, {"history", histories}, {"files", transfers},
}

func main() {
	if os.Getenv(loadVariable) != "" {
		if err := generate(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(1)
		}
		return
	}
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	b := newBench(ctx)
	err := run(b)
	b.close()
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// run makes the table. What was measured is printed also when the rest was interrupted.
func run(b *bench) error {
	err := measure(b)
	return errors.Join(err, b.table.print())
}

func measure(b *bench) error {
	for _, s := range sections {
		if *only != "" && !slices.Contains(strings.Split(*only, ","), s.name) {
			continue
		}
		if err := s.run(b); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	return nil
}
