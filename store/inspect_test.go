package store

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chatd/chatd/internal/redistest"
)

// TestOpenWithoutTheRightToInspect: a user who may not run INFO and CONFIG GET can still be the one of a store; the log says what
// could not be checked.
func TestOpenWithoutTheRightToInspect(t *testing.T) {
	t.Parallel()
	rules, err := os.ReadFile("../docs/redis.acl")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.NewReplacer(" +info", "", " +config|get", "").Replace(string(rules))
	file := filepath.Join(t.TempDir(), "users.acl")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	server := redistest.Start(t, "--aclfile", file)
	var log bytes.Buffer
	url := strings.Replace(server.URL(), "://", "://chatd:change-this-password@", 1)
	s, err := Open(t.Context(), Options{URL: url, Log: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	for _, want := range []string{"cannot read the version and the role", "cannot read the eviction policy"} {
		if strings.Count(log.String(), want) != 1 {
			t.Errorf("the log does not say once that chatd %s:\n%s", want, log.String())
		}
	}
	if err := s.Ready(t.Context()); err != nil {
		t.Errorf("the store is not ready: %v", err)
	}
	if found, err := s.conn.Conditions(t.Context()); err != nil || len(found) > 0 {
		t.Errorf("got conditions %v and error %v of what cannot be read", found, err)
	}
	createBenchGroup(t, s, "g")
}

// TestOpenLoadsWhatIsMissing: the scripts are 1.5 MB, and most servers that a node connects to have had them from others.
func TestOpenLoadsWhatIsMissing(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	loaded := func(url string) int64 {
		t.Helper()
		server.Do("CONFIG", "RESETSTAT")
		s, err := Open(t.Context(), Options{URL: url})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		return server.Calls()["script|load"]
	}
	all := int64(len(library.Used())) // those of the task engine are loaded when they are needed
	first := loaded(server.URL())
	if first < all {
		t.Errorf("the first store loaded %d scripts, want at least %d", first, all)
	}
	if got := loaded(server.URL()); got != 0 {
		t.Errorf("the second store loaded %d scripts", got)
	}
	server.Do("ACL", "SETUSER", "default", "-script|exists")
	if got := loaded(server.URL()); got != all {
		t.Errorf("a store that may not ask loaded %d scripts, want %d", got, all)
	}
}
