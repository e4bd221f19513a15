// Package harness runs the built binary as users do: real processes on free ports of the loopback, killed, drained and
// started again, observed only from outside. Everything that it starts is stopped by process id when the test ends.
package harness

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/chatd/chatd/internal/interval"
)

// built is the binary that a test run has built.
var built struct {
	once sync.Once
	dir  string
	path string
	err  error
}

// Main runs the tests of a package, calls after, and removes what Binary built.
func Main(m *testing.M, after ...func()) {
	code := m.Run()
	for _, end := range after {
		end()
	}
	if built.dir != "" {
		_ = os.RemoveAll(built.dir)
	}
	os.Exit(code)
}

// Binary returns the path of chatd, built once per run with the race detector. CHATD_E2E_BINARY names one that is
// already built.
func Binary(tb testing.TB) string {
	tb.Helper()
	b := &built
	b.once.Do(func() {
		if b.path = os.Getenv("CHATD_E2E_BINARY"); b.path != "" {
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
		build := exec.CommandContext(tb.Context(), "go", "build", "-race", "-o", b.path, "./cmd/chatd")
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

// moduleRoot returns the folder of go.mod above the current one.
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

// Slack is how many times longer than on a quiet machine a step may take before a test gives up. Limits only end tests
// that have failed: a test that passes never waits for one.
const Slack = 8

// Receive waits for the next value of a channel, or its end, and fails the test if that takes longer than Slack times limit.
func Receive[T any](tb testing.TB, limit time.Duration, what string, ch <-chan T) T {
	tb.Helper()
	select {
	case v := <-ch:
		return v
	case <-time.After(Slack * limit):
		tb.Fatalf("%s: not within %v", what, Slack*limit)
		var none T
		return none
	}
}

// Eventually calls done until it returns nil, and fails the test if that takes longer than Slack times limit. It is for
// what has no event to wait for, such as a process becoming ready.
func Eventually(tb testing.TB, limit time.Duration, what string, done func() error) {
	tb.Helper()
	deadline := time.After(Slack * limit)
	var every interval.Growing
	for {
		err := done()
		if err == nil {
			return
		}
		select {
		case <-deadline:
			tb.Fatalf("%s: not within %v: %v", what, Slack*limit, err)
		case <-every.Next():
		}
	}
}
