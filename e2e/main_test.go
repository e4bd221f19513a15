// Package e2e tests chatd from outside: the built binary, real redis-server processes, real sockets, through the client
// that users have. Nothing here knows the inside.
package e2e

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
	"github.com/chatd/chatd/internal/redistest"
)

func TestMain(m *testing.M) {
	if spec := os.Getenv(workerEnv); spec != "" {
		if err := workerMain(spec); err != nil {
			fmt.Fprintln(os.Stderr, "worker:", err)
			os.Exit(1)
		}
		return
	}
	// Most of these tests wait: for leases, restarts and browsers. Those are parallel. What measures, and what keeps the
	// machine busy for itself, is not: it runs before them, one test at a time.
	if !flag.Parsed() {
		flag.Parse()
	}
	if err := inParallel(3 * runtime.GOMAXPROCS(0)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	harness.BehindNginx = *nginxFlag
	harness.Main(m, stopBrowser)
}

// inParallel runs n tests at a time unless -parallel says otherwise.
func inParallel(n int) error {
	said := false
	flag.Visit(func(f *flag.Flag) { said = said || f.Name == "test.parallel" })
	if said {
		return nil
	}
	return flag.Set("test.parallel", strconv.Itoa(n))
}

var nginxFlag = flag.Bool("nginx", false, "reach every node through nginx as it is installed")

var seedFlag = flag.Uint64("seed", 0, "seed of every random choice; 0: a new one each run")

// random gives the test its choices, all from one printed seed.
func random(t *testing.T) *rand.Rand {
	t.Helper()
	seed := *seedFlag
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("repeat with -seed=%d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

// bounded is the context of a test that takes no longer than limit on a quiet machine.
func bounded(t *testing.T, limit time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), harness.Slack*limit)
	t.Cleanup(cancel)
	return ctx
}

// stores runs a test on both stores, each on a fresh node.
func stores(t *testing.T, test func(t *testing.T, node *harness.Node)) {
	t.Helper()
	storesWith(t, harness.Config{}, test)
}

// storesWith is stores with other settings.
func storesWith(t *testing.T, config harness.Config, test func(t *testing.T, node *harness.Node)) {
	t.Helper()
	t.Run("embedded", func(t *testing.T) { test(t, harness.StartNode(t, config)) })
	t.Run("redis", func(t *testing.T) {
		config.Redis = redistest.Start(t).URL()
		test(t, harness.StartNode(t, config))
	})
}

// withoutArchive is for tests of what is trimmed, and of what stands in the journal.
var withoutArchive = map[string]string{"CHATD_ARCHIVE": "off"}

// must gives the value of a call that has to succeed.
func must[T any](value T, err error) func(t testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

// patient retries while a node restarts, however long that takes: the context of the test ends it.
func patient() client.Option {
	return client.WithRetry(10_000, client.Backoff{Base: 20 * time.Millisecond, Max: time.Second})
}

// quick are the options of streams that shall be back soon after a fault.
func quick(cursors client.Cursors) client.StreamOptions {
	return client.StreamOptions{Cursors: cursors, Backoff: client.Backoff{Base: 50 * time.Millisecond, Max: time.Second}}
}

// until takes events until one of type E satisfies want.
func until[E client.Event](ctx context.Context, t testing.TB, next func(context.Context) (client.Event, error), want func(E) bool) E {
	t.Helper()
	for {
		event, err := next(ctx)
		if err != nil {
			t.Fatalf("waiting for %T: %v", *new(E), err)
		}
		if e, ok := event.(E); ok && want(e) {
			return e
		}
	}
}
