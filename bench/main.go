// Command bench measures chatd beside the raw limit of the same redis-server in one run, and prints one table. Figures of
// different runs or machines do not compare; the ratios in one run do, and the counts always.
//
//	go run .                  the full table, some minutes
//	go run . -scale 0.1       a tenth of the work, for a look
//	go run . -only tasks,waiting   some of the sections
//	go run . -only history -messages 1000000   an archive of that size, some minutes
//	go run . -write ..   also write RESULTS.md and its charts
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
	"time"
)

var (
	scale = flag.Float64("scale", 1, "how much work, as a share of the full run")
	only  = flag.String("only", "", "the sections to run, separated by commas; empty: all")

	writeTo = flag.String("write", "", "the tree of the repository in which to write bench/RESULTS.md and docs/images/growth-*.svg; empty: none")
)

// scaled is n by the scale of this run, at least 1.
func scaled(n int) int { return max(1, int(float64(n)**scale)) }

// shorter is d, or a part of it where the scale is small: what is measured over a time needs not much less of it.
func shorter(d time.Duration) time.Duration {
	return max(d/10, time.Duration(float64(d)*min(1, 2**scale)))
}

// sections are the parts of the table, in its order.
var sections = []struct {
	name string
	run  func(*bench)
}{
	{"sending", sending}, {"batches", batches}, {"reading", reading}, {"counting", counting}, {"memory", memory}, {"embedded", embeddedStore},
	{"tasks", tasks}, {"features", features}, {"options", options}, {"river", besideRiver}, {"waiting", waiting}, {"priorities", priorities}, {"schedules", schedules},
	{"announcements", announcements}, {"streams", streams}, {"presence", whereabouts}, {"readers", readers}, {"back", back}, {"deliveries", deliveries}, {"arrivals", arrivals}, {"cluster", cluster}, {"overload", overload}, {"hooks", hooks}, {"archiving", archiving}, {"history", histories},
	{"files", transfers}, {"browser", inBrowser}, {"growth", growth}, {"newsless", newsless},
}

func main() {
	if otherProcess() {
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

// otherProcess runs what this program starts itself for: the load, or a server that only holds its clients.
func otherProcess() bool {
	var err error
	switch {
	case os.Getenv(loadVariable) != "":
		err = generate(os.Stdin, os.Stdout)
	case os.Getenv(bareVariable) != "":
		err = holdClients(os.Stdin, os.Stdout)
	case os.Getenv(hubVariable) != "":
		err = deliver(os.Getenv(hubVariable), os.Stdin, os.Stdout)
	default:
		return false
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
	return true
}

// run makes the table. What was measured is printed even if the rest was interrupted; only a complete run is written.
func run(b *bench) error {
	err := measure(b)
	if err == nil && *writeTo != "" {
		err = report(b, *writeTo)
	}
	return errors.Join(err, b.table.print(os.Stdout))
}

func measure(b *bench) error {
	for _, s := range sections {
		if *only != "" && !slices.Contains(strings.Split(*only, ","), s.name) {
			continue
		}
		if err := attempt(b, s.run); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	return nil
}

// attempt runs a section until its end or its failure.
func attempt(b *bench, section func(*bench)) (err error) {
	defer func() {
		switch f := recover().(type) {
		case nil:
		case failure:
			err = f.error
		default:
			panic(f) //nolint:forbidigo // a programmer's error, as it came
		}
	}()
	section(b)
	return nil
}
