// Command daily-by-place is a processor of shipped log files: it counts lines by day and by the country of their address, in Redis,
// each line once however often it is killed. README.md says how.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/oschwald/maxminddb-golang/v2"
	"github.com/redis/go-redis/v9"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/client/ship"
)

func main() {
	log.SetFlags(0)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil && !errors.Is(err, context.Canceled) {
		log.Fatalf("daily-by-place: %v", err)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("daily-by-place", flag.ContinueOnError)
	url := flags.String("url", cmp.Or(os.Getenv("CHATD_URL"), "http://127.0.0.1:8080"), "address of chatd (CHATD_URL); CHATD_TOKEN holds the token of the processor")
	group := flags.String("group", "logs", "group that the files are shipped through")
	address := flags.String("redis", "redis://127.0.0.1:6379/1", "where the counts are kept")
	database := flags.String("mmdb", "", "MaxMind database of countries, such as GeoLite2-Country.mmdb")
	zoneName := flags.String("zone", "UTC", "time zone of the days, such as Europe/Berlin")
	state := flags.String("state", "", "file that keeps what could not be posted yet, over a crash")
	follow := flags.Bool("follow", false, "go on after the end mark, with what is shipped next")
	table := flags.Bool("table", false, "write the counts as a table, and end")
	if err := flags.Parse(args); err != nil {
		return err
	}
	opts, err := redis.ParseURL(*address)
	if err != nil {
		return fmt.Errorf("-redis: %w", err)
	}
	counts := redis.NewClient(opts)
	defer func() { _ = counts.Close() }()
	if *table {
		all, err := newDays(counts).all(ctx)
		if err != nil {
			return err
		}
		return writeTable(out, all)
	}
	zone, err := time.LoadLocation(*zoneName)
	if err != nil {
		return fmt.Errorf("-zone: %w", err)
	}
	if *database == "" {
		return errors.New("-mmdb: name a MaxMind database of countries")
	}
	countries, err := maxminddb.Open(*database)
	if err != nil {
		return fmt.Errorf("-mmdb: %w", err)
	}
	defer func() { _ = countries.Close() }()
	c := &counter{days: newDays(counts), zone: zone, country: countriesOf(countries), now: time.Now, flushLines: flushLines}
	return process(ctx, c, *url, ship.ProcessOptions{Group: *group, State: *state, Follow: *follow})
}

// process counts what is shipped until the end mark. A part is acked once all of it is in Redis.
func process(ctx context.Context, c *counter, server string, opts ship.ProcessOptions) error {
	chatd, err := client.New(server, client.StaticToken(os.Getenv("CHATD_TOKEN")))
	if err != nil {
		return err
	}
	opts.Failed = func(err error, again time.Duration) { log.Printf("%v; next attempt in %s", err, again) }
	return ship.Process(ctx, chatd, opts, func(ctx context.Context, p ship.Part) (string, error) {
		r, err := c.count(ctx, part{log: p.Group + " " + p.Epoch, id: p.ID}, p.Lines)
		return r.result.String(), err
	})
}
