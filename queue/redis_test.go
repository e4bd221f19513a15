package queue

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"github.com/chatd/chatd/internal/harness"
	looks "github.com/chatd/chatd/internal/interval"
	"github.com/chatd/chatd/internal/redistest"
	"github.com/chatd/chatd/store/embedded"
)

// TestMain lets more tests run in parallel than there are processors: most of them wait.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "6"); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/redis/go-redis/v9/internal/pool.(*ConnPool).tryDial"))
}

// A backend is a kind of Redis that the suite runs on.
type backend struct {
	name  string
	start func(t testing.TB) *redis.Options // of its clients
}

var backends = []backend{
	{"redis", func(t testing.TB) *redis.Options { return clientOptions(startRedis(t)) }},
	{"embedded", startEmbedded},
}

// startEmbedded opens chatd's embedded store, in memory.
func startEmbedded(t testing.TB) *redis.Options {
	t.Helper()
	server, err := embedded.Open(context.Background(), embedded.Options{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	o := clientOptions("embedded")
	o.Dialer, o.Protocol = server.Dialer(), 2
	o.ReadTimeout, o.WriteTimeout = -1, -1 // a slow machine must not look like a dead server
	return o
}

// startRedis starts a redis-server and returns its address when it accepts connections.
func startRedis(t testing.TB) string {
	t.Helper()
	addr := redistest.FreeAddr(t)
	t.Cleanup(startRedisAt(t, addr))
	return addr
}

// startRedisAt starts a redis-server at an address; stop kills it, once.
func startRedisAt(t testing.TB, addr string, args ...string) (stop func()) {
	t.Helper()
	host, port, _ := net.SplitHostPort(addr)
	cmd := exec.Command("redis-server", append([]string{"--bind", host, "--port", port, "--save", "",
		"--appendonly", "no", "--dir", t.TempDir()}, args...)...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatalf("redis-server: %v (make test installs it)", err)
	}
	stop = sync.OnceFunc(func() {
		_ = cmd.Process.Kill()
		_, _ = io.Copy(io.Discard, out)
		_ = cmd.Wait()
	})
	var said strings.Builder
	lines := bufio.NewScanner(io.TeeReader(out, &said))
	for lines.Scan() {
		if strings.Contains(lines.Text(), "Ready to accept connections") {
			return stop
		}
	}
	stop()
	t.Fatalf("redis-server at %s did not start: %s", addr, said.String())
	return nil
}

func connect(t testing.TB, addr string) *redis.Client {
	t.Helper()
	return connectWith(t, clientOptions(addr))
}

func connectWith(t testing.TB, o *redis.Options) *redis.Client {
	t.Helper()
	rdb := redis.NewClient(o)
	t.Cleanup(func() { _ = rdb.Close() })
	return rdb
}

// another returns another client of the same server.
func another(o Options) *redis.Client {
	same := o.Client.(*redis.Client).Options()
	with := clientOptions(same.Addr)
	with.Dialer, with.Protocol = same.Dialer, same.Protocol
	return redis.NewClient(with)
}

// poke runs one command from within a script, because the embedded store accepts writes only from scripts.
func poke(t testing.TB, rdb Redis, key string, command ...any) {
	t.Helper()
	const text = "local a = {} for i = 2, #ARGV do a[i - 1] = ARGV[i] end return redis.call(ARGV[1], KEYS[1], unpack(a))"
	if err := rdb.Eval(context.Background(), text, []string{key}, command...).Err(); err != nil {
		t.Fatal(err)
	}
}

func clientOptions(addr string) *redis.Options {
	return &redis.Options{Addr: addr, MaxRetries: -1, DisableIdentity: true, PoolSize: 16}
}

// each runs a test on every backend with 1 and with 4 partitions, each time on a new server.
func each(t *testing.T, test func(t *testing.T, o Options)) {
	t.Parallel()
	for _, b := range backends {
		for _, partitions := range []int{1, 4} {
			t.Run(fmt.Sprintf("%s/P%d", b.name, partitions), func(t *testing.T) {
				t.Parallel()
				test(t, options(connectWith(t, b.start(t)), partitions))
			})
		}
	}
}

func options(rdb Redis, partitions int) Options {
	return Options{
		Client: rdb, Prefix: "test", Partitions: partitions, Queue: "q" + strings.ToLower(NewID(0)[4:12]),
		Workers: 8, Lease: 10 * time.Second, BackoffMin: time.Millisecond, BackoffMax: 20 * time.Millisecond,
		Logger: slog.New(slog.DiscardHandler),
	}
}

func newServer(t testing.TB, o Options) *Server {
	t.Helper()
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func newClient(t testing.TB, o Options) *Client {
	t.Helper()
	c, err := NewClient(o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// start runs a server; stop ends it, once, and returns the error of Run.
func start(t testing.TB, s *Server) (stop func() error) {
	t.Helper()
	if len(s.kinds) == 0 { // Run wants a handler, even where no task is to find one
		s.Handle("another", func(context.Context, Task) error { return nil })
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	stop = sync.OnceValue(func() error {
		cancel()
		select {
		case err := <-ended:
			return err
		case <-time.After(inVain):
			t.Error("waited in vain: Run ends") // also where another goroutine stops it
			return nil
		}
	})
	t.Cleanup(func() { _ = stop() })
	return stop
}

func enqueue(t testing.TB, c *Client, task Task) string {
	t.Helper()
	id, ok, err := c.Enqueue(context.Background(), task)
	if err != nil || !ok {
		t.Fatalf("Enqueue(%+v) = %q, %v, %v", task, id, ok, err)
	}
	return id
}

func stats(t testing.TB, c *Client) Stats {
	t.Helper()
	s, err := c.Stats(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	conserved(t, s)
	return s
}

// conserved checks that no task appears or disappears.
func conserved(t testing.TB, s Stats) {
	t.Helper()
	if got := s.ReadyAll() + s.Delayed + s.Parked + s.Leased + s.Dead + s.Done + s.Dropped + s.Deleted; got != s.Enqueued {
		t.Errorf("%d tasks are somewhere, %d were enqueued: %+v", got, s.Enqueued, s)
	}
}

// inVain is when a test gives up waiting: long after what a busy machine needs.
const inVain = 4 * time.Minute

// until polls cond.
func until(t testing.TB, what string, cond func() bool) {
	t.Helper()
	deadline := time.After(inVain)
	var every looks.Growing
	for !cond() {
		select {
		case <-deadline:
			t.Fatalf("waited in vain: %s", what)
		case <-every.Next():
		}
	}
}

// receive waits for the next value of a channel.
func receive[T any](t testing.TB, what string, ch <-chan T) T {
	t.Helper()
	return harness.Receive(t, inVain/harness.Slack, what, ch)
}

// finished waits for a group.
func finished(t testing.TB, what string, group *sync.WaitGroup) {
	t.Helper()
	done := make(chan struct{})
	go func() { group.Wait(); close(done) }()
	receive(t, what, done)
}

// patient is for a call that waits: it gives up when a test does.
func patient(t testing.TB) context.Context {
	ctx, stop := context.WithTimeout(context.Background(), inVain)
	t.Cleanup(stop)
	return ctx
}

// pagesMax is when a test gives up on pages.
const pagesMax = 10_000

// pages reads page by page until a page has no next one.
func pages(t failer, read func(cursor string) (next string)) {
	t.Helper()
	cursor := ""
	for range pagesMax {
		if cursor = read(cursor); cursor == "" {
			return
		}
	}
	t.Fatal("after", pagesMax, "pages there is another one")
}
