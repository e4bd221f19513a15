package store_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/internal/redistest"
	"github.com/chatd/chatd/store"
	"github.com/chatd/chatd/store/embedded"
)

func TestMain(m *testing.M) {
	code := m.Run()
	if code == 0 {
		// go-redis tries to dial once a second after its pool is closed, too.
		if err := goleak.Find(goleak.IgnoreAnyFunction("github.com/redis/go-redis/v9/internal/pool.(*ConnPool).tryDial")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

var prefixes atomic.Int64

// open opens a store of its own on a server that others use too: under a prefix of its own.
// patience is for servers that are never away, on a machine where everything may stand still for a while.
const patience = time.Minute

func open(t testing.TB, o store.Options) *store.Store {
	t.Helper()
	if o.Prefix == "" {
		o.Prefix = fmt.Sprintf("t%d", prefixes.Add(1))
	}
	s, err := store.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func embeddedServer(t testing.TB) *embedded.Store {
	t.Helper()
	server, err := embedded.Open(t.Context(), embedded.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	return server
}

// TestConformance runs the suite over the embedded store. Every test of a chat on Redis runs over one partition there.
func TestConformance(t *testing.T) {
	server := embeddedServer(t) // one for all the cases: a new one parses every script
	runSuite(t, func(t testing.TB, limits chat.Limits) *store.Store {
		return open(t, store.Options{Embedded: server, Partitions: 1, Limits: limits})
	})
}

// TestConformanceWithRestrictedRights runs the suite over Redis with four partitions and a replica, found by a sentinel, as a user
// who may do what docs/redis.acl lists and nothing else.
func TestConformanceWithRestrictedRights(t *testing.T) {
	rules, err := os.ReadFile("../docs/redis.acl")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "users.acl")
	// Each case has a prefix of its own, and some put a script of their own in the place of a fault.
	text := strings.NewReplacer("~chat:*", "~t*:*", "&chat:*", "&t*:*", "-@all", "-@all +eval").Replace(string(rules))
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	server := redistest.Start(t, "--aclfile", file)
	startReplica(t, server)
	url := "redis-sentinel://chatd:change-this-password@" + redistest.StartSentinel(t, "chat", server).Addr + "/0?master_name=chat"
	runSuite(t, func(t testing.TB, limits chat.Limits) *store.Store {
		return open(t, store.Options{URL: url, Partitions: 4, Limits: limits, Patience: patience})
	})
	if log, ok := server.Do("ACL", "LOG").([]any); !ok || len(log) > 0 {
		t.Errorf("rights are missing: %v", log)
	}
}

func TestModel(t *testing.T) { overBoth(t, runModel) }

func TestScheduleModel(t *testing.T) { overBoth(t, runScheduleModel) }

// overBoth runs a model over a real server and over the embedded one.
func overBoth(t *testing.T, run func(*testing.T, factory)) {
	t.Helper()
	t.Run("redis", func(t *testing.T) {
		server := redistest.Start(t)
		run(t, func(t testing.TB, limits chat.Limits) *store.Store {
			return open(t, store.Options{URL: server.URL(), Partitions: 1, Limits: limits})
		})
	})
	t.Run("embedded", func(t *testing.T) {
		server := embeddedServer(t)
		run(t, func(t testing.TB, limits chat.Limits) *store.Store {
			return open(t, store.Options{Embedded: server, Partitions: 1, Limits: limits})
		})
	})
}
