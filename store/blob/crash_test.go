//go:build unix

package blob

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// limitFiles lets no file grow beyond that many bytes, until restore.
func limitFiles(t *testing.T, most uint64) (restore func()) {
	t.Helper()
	signal.Ignore(syscall.SIGXFSZ)
	var old syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: most, Max: old.Max}); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
			t.Error(err)
		}
		signal.Reset(syscall.SIGXFSZ)
	}
}

const (
	envRoot = "CHATD_TEST_BLOB_ROOT" // where the child uploads
	envStep = "CHATD_TEST_BLOB_STEP" // before which of its steps it kills itself
	crashID = "c0ffee00"
)

// crashes is what the child does: an upload, with each offset that counts written to standard output.
func crashes(t *testing.T, root string) {
	at, err := strconv.Atoi(os.Getenv(envStep))
	if err != nil {
		t.Fatal(err)
	}
	d, steps := openFolder(t, root), 0
	d.fault = func(string) error {
		if steps++; steps == at {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
		return nil
	}
	whole := random(250_000)
	for offset := int64(0); offset < int64(len(whole)); {
		end := min(offset+100_000, int64(len(whole)))
		write(t, d, crashID, offset, whole[offset:end])
		fmt.Println("offset", end)
		offset = end
	}
	finish(t, d, crashID, len(whole))
	fmt.Println("finished")
}

// TestDirKilledAtEachStep kills a process before each step of an upload, in turn: another one brings it to its end from the offset
// that counted, and nothing is left over.
func TestDirKilledAtEachStep(t *testing.T) {
	if root := os.Getenv(envRoot); root != "" {
		crashes(t, root)
		return
	}
	whole := random(250_000)
	for at, done := 1, false; !done; at++ {
		root := t.TempDir()
		child := exec.Command(os.Args[0], "-test.run=^TestDirKilledAtEachStep$")
		child.Env = append(os.Environ(), envRoot+"="+root, envStep+"="+strconv.Itoa(at))
		out, err := child.Output()
		done = strings.Contains(string(out), "finished")
		if (err == nil) != done {
			t.Fatalf("step %d: %v: %s", at, err, out)
		}
		offset := int64(0)
		for line := range strings.Lines(string(out)) {
			_, _ = fmt.Sscanf(line, "offset %d", &offset)
		}
		d := openFolder(t, root)
		if _, err := upload(t, d, crashID, offset, whole); err != nil {
			t.Fatalf("killed at step %d, at offset %d: %v", at, offset, err)
		}
		holds(t, d, crashID, whole)
		if items := all(t, d, 10); len(items) != 1 || !items[0].Whole {
			t.Fatalf("step %d: %+v", at, items)
		}
		if done && at < 15 {
			t.Fatalf("only %d steps were tried", at)
		}
	}
}
