// Command sim plays the busiest hour of an installation that is too large to be measured here: users, groups of skewed sizes
// and rates, and masters that do one thing after the other. Costs are those that bench measured. docs/scaling.md has what it
// prints.
//
//	go run ./sim                    1, 10 and 100 million users
//	go run ./sim -users 3000000 -partitions 256 -masters 8
package main

import (
	"flag"
	"fmt"
	"math"
	"os"
	"text/tabwriter"
)

var (
	users      = flag.Int("users", 0, "how many users there are; 0: a million, ten and a hundred")
	partitions = flag.Int("partitions", 1000, "of the store, 1 to 1024")
	masters    = flag.Int("masters", 0, "of the cluster, 1 to 1000; 0: as many as keep the busiest one below half a core")
	seconds    = flag.Float64("seconds", 2, "that are played")
	keep       = flag.Float64("keep", 100, "messages that a group keeps in Redis, with an archive")
	seed       = flag.Uint64("seed", 1, "of chance")
)

func main() {
	flag.Parse()
	if *partitions < 1 || *partitions > 1024 || *masters < 0 || *masters > 1000 || *users < 0 || *seconds <= 0 || *keep < 0 {
		fmt.Fprintln(os.Stderr, "sim: -partitions is 1 to 1024, -masters 0 to 1000, -users and -keep at least 0, -seconds more than 0")
		os.Exit(2)
	}
	sizes := []int{1_000_000, 10_000_000, 100_000_000}
	if *users > 0 {
		sizes = []int{*users}
	}
	out := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(out, "users\tmessages/s\tmasters\tbusiest\tover even\tsend p99\tmembers\tmessages kept\tsockets\tof memory\tnode cores\tarchive a day")
	for _, n := range sizes {
		w, o := sized(n)
		busiest, excess := o.busiest()
		members, messages := w.memory(*keep)
		sockets := float64(n) * w.online
		_, _ = fmt.Fprintf(out, "%d\t%.0f\t%d\t%.0f %%\t%.0f %%\t%.1f ms\t%s\t%s\t%.0f\t%s\t%.1f\t%s\n", n, w.rate(), w.masters, 100*busiest, 100*excess,
			o.p99Us/1000, inBytes(members), inBytes(messages), sockets, inBytes(sockets*socketBytes), o.nodeCores, inBytes(w.daily()*archiveBytes))
	}
	_ = out.Flush() // the terminal is gone: nobody reads it
}

// sized plays n users on the number of masters that was asked for, or on about the fewest of which the busiest one stays below
// half a core.
func sized(n int) (*world, outcome) {
	for count := max(*masters, 1); ; {
		w := newWorld(n, *partitions, min(count, *partitions), *seed)
		o := w.run(*seconds)
		if busiest, _ := o.busiest(); busiest < half || *masters > 0 || count >= *partitions {
			return w, o
		}
		count = max(int(math.Ceil(o.cores()/half)), count+(count+9)/10)
	}
}

// half is the share of a core that a master is planned for.
const half = 0.5

func inBytes(n float64) string {
	for _, unit := range []string{"B", "KB", "MB", "GB"} {
		if n < 1000 {
			return fmt.Sprintf("%.3g %s", n, unit)
		}
		n /= 1000
	}
	return fmt.Sprintf("%.3g TB", n)
}
