// Command queue shows and controls the tasks of the task engine on a Redis.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"regexp"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kong"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/redis/go-redis/v9"

	"github.com/chatd/chatd/queue"
	"github.com/chatd/chatd/queue/admin"
	"github.com/chatd/chatd/queue/cli"
	"github.com/chatd/chatd/queue/metrics"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		_, _ = fmt.Fprintf(os.Stderr, "queue: %v\n", err)
		os.Exit(1)
	}
}

type commandLine struct {
	Redis  string   `env:"QUEUE_REDIS" default:"redis://localhost:6379" help:"URL of the Redis: redis:// or rediss://. One with addr parameters is a Cluster, and one with a master_name is watched by Sentinels."`
	Prefix string   `env:"QUEUE_PREFIX" default:"chat" help:"Prefix of the keys (Options.Prefix)."`
	Queue  []string `env:"QUEUE_NAMES" default:"core" name:"queues" help:"Names of the queues, with commas between them."`
	JSON   bool     `name:"json" help:"Print one JSON object per line, for programs."`

	cli.Commands
	Limits cli.LimitsCommand `cmd:"" help:"Show who has the slots of limits, and who waits for them."`
	Serve  serveCommand      `cmd:"" help:"Serve pages for operators, and metrics for Prometheus at /metrics."`
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	var line commandLine
	exited := false
	parser, err := kong.New(&line, kong.Name("queue"), kong.Description("Tasks of the task engine on a Redis: lists them, retries and deletes them."),
		kong.Writers(stdout, stderr), kong.Exit(func(int) { exited = true }))
	if err != nil {
		return err
	}
	parsed, err := parser.Parse(longFlags(args))
	if exited {
		return nil // --help
	}
	if err != nil {
		return fmt.Errorf("%w; see queue --help", err)
	}
	rdb, err := dial(line.Redis)
	if err != nil {
		return err
	}
	defer func() { _ = rdb.Close() }()
	return parsed.Run(&line, &cli.Session{
		Context: ctx, Out: stdout, Err: stderr, JSON: line.JSON, Connect: func() (admin.Tasks, error) { return line.connect(ctx, rdb) },
	})
}

var singleDash = regexp.MustCompile(`^-[a-z][a-z-]+(=.*)?$`)

// longFlags accepts -json for --json, as most Go programs do.
func longFlags(args []string) []string {
	out := make([]string, len(args))
	for i, a := range args {
		if singleDash.MatchString(a) {
			a = "-" + a
		}
		out[i] = a
	}
	return out
}

// dial returns a client of what a URL names: see redis.ParseURL, redis.ParseClusterURL and redis.ParseFailoverURL.
func dial(url string) (redis.UniversalClient, error) {
	switch {
	case strings.Contains(url, "master_name="):
		o, err := redis.ParseFailoverURL(url)
		if err != nil {
			return nil, fmt.Errorf("-redis: %w", err)
		}
		o.MaxRetries = -1
		return redis.NewFailoverClient(o), nil
	case strings.Contains(url, "addr="):
		o, err := redis.ParseClusterURL(url)
		if err != nil {
			return nil, fmt.Errorf("-redis: %w", err)
		}
		o.MaxRetries = -1
		return redis.NewClusterClient(o), nil
	}
	o, err := redis.ParseURL(url)
	if err != nil {
		return nil, fmt.Errorf("-redis: %w", err)
	}
	o.MaxRetries = -1
	return redis.NewClient(o), nil
}

// connect asks how many partitions there are. It records no number if there is none: the first program that enqueues does.
func (l *commandLine) connect(ctx context.Context, rdb redis.UniversalClient) (*admin.Admin, error) {
	partitions, err := rdb.HGet(ctx, l.Prefix+":{p00}:layout", "partitions").Int()
	if errors.Is(err, redis.Nil) {
		return nil, fmt.Errorf("there are no tasks under the prefix %q: set -prefix", l.Prefix)
	}
	if err != nil {
		return nil, fmt.Errorf("the Redis at -redis: %w", err)
	}
	queues := make([]admin.Of, len(l.Queue))
	for i, name := range l.Queue {
		queues[i].Name = name
		if queues[i].Client, err = queue.NewClient(queue.Options{Client: rdb, Prefix: l.Prefix, Partitions: partitions, Queue: name}); err != nil {
			return nil, err
		}
	}
	return admin.New(queues, nil), nil
}

type serveCommand struct {
	Addr string `default:"localhost:8080" help:"Address to listen on. It asks nobody for a password: keep it on this host, or behind a proxy that does."`
}

func (c serveCommand) Run(s *cli.Session) error {
	tasks, err := s.Connect()
	if err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(s.Err, nil))
	registry := prometheus.NewRegistry()
	registry.MustRegister(metrics.New("queue", tasks))
	mux := http.NewServeMux()
	mux.Handle("/", admin.Handler(tasks, admin.Pages{Logger: log}))
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	listener, err := new(net.ListenConfig).Listen(s.Context, "tcp", c.Addr)
	if err != nil {
		return err
	}
	log.Info("serving", "url", "http://"+listener.Addr().String()+"/")
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	stopped := make(chan error, 1)
	context.AfterFunc(s.Context, func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(s.Context), 5*time.Second)
		defer cancel()
		stopped <- server.Shutdown(ctx)
	})
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return <-stopped
}
