// Package harness runs the built binary as users do: real processes on free ports of the loopback, killed, drained and
// started again, looked at only from outside. Everything that it starts is stopped by process id when the test ends.
package harness

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// built are those that a run of tests has built.
var built struct {
	race, plain executable
}

type executable struct {
	once sync.Once
	dir  string
	path string
	err  error
}

// Main runs the tests of a package and removes what Binary built.
func Main(m *testing.M) {
	code := m.Run()
	for _, dir := range []string{built.race.dir, built.plain.dir} {
		if dir != "" {
			_ = os.RemoveAll(dir)
		}
	}
	os.Exit(code)
}

// Binary returns the path of chatd, built once a run with the race detector. CHATD_E2E_BINARY names one that is built already.
func Binary(tb testing.TB) string {
	tb.Helper()
	return built.race.get(tb, os.Getenv("CHATD_E2E_BINARY"), "-race")
}

// PlainBinary is Binary without the race detector, which takes several times the memory.
func PlainBinary(tb testing.TB) string {
	tb.Helper()
	return built.plain.get(tb, os.Getenv("CHATD_E2E_PLAIN_BINARY"))
}

func (b *executable) get(tb testing.TB, ready string, flags ...string) string {
	tb.Helper()
	b.once.Do(func() {
		if b.path = ready; b.path != "" {
			return
		}
		root, err := moduleRoot()
		if err != nil {
			b.err = err
			return
		}
		if b.dir, b.err = os.MkdirTemp("", "chatd-e2e-"); b.err != nil {
			return
		}
		b.path = filepath.Join(b.dir, "chatd")
		began := time.Now()
		args := append(append([]string{"build"}, flags...), "-o", b.path, "./cmd/chatd")
		build := exec.CommandContext(tb.Context(), "go", args...)
		build.Dir = root
		if out, err := build.CombinedOutput(); err != nil {
			b.err = fmt.Errorf("go build: %w\n%s", err, out)
		}
		tb.Logf("built chatd in %v", time.Since(began).Round(time.Millisecond))
	})
	if b.err != nil {
		tb.Fatal(b.err)
	}
	return b.path
}

// moduleRoot is the folder of go.mod above the one that the test runs in.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	for err == nil {
		if _, statErr := os.Stat(filepath.Join(dir, "go.mod")); statErr == nil {
			return dir, nil
		}
		if parent := filepath.Dir(dir); parent != dir {
			dir = parent
			continue
		}
		err = fmt.Errorf("no go.mod above the working directory")
	}
	return "", err
}

// Eventually calls done until it says that it is, and fails the test when that takes longer than limit. It is for what
// sends no event that one could wait for, such as a process that becomes ready.
func Eventually(tb testing.TB, limit time.Duration, what string, done func() error) {
	tb.Helper()
	deadline := time.After(limit)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		err := done()
		if err == nil {
			return
		}
		select {
		case <-deadline:
			tb.Fatalf("%s: not within %v: %v", what, limit, err)
		case <-tick.C:
		}
	}
}
