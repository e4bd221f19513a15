package node

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestThrowaway: the folder of a process that was killed goes; those of processes that run or that have just begun stay, and so does what
// is no such folder.
func TestThrowaway(t *testing.T) {
	temp, now := t.TempDir(), time.Now()
	folder := func(name string, begun time.Time) {
		t.Helper()
		dir := filepath.Join(temp, name)
		lock := filepath.Join(dir, throwawayLock)
		if err := os.MkdirAll(filepath.Join(dir, "files"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(lock, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(lock, begun, begun); err != nil {
			t.Fatal(err)
		}
	}
	folder("chatd-demo-killed", now.Add(-2*throwawayBegins))
	folder("chatd-demo-begins", now)
	folder("somebody-else", now.Add(-2*throwawayBegins))
	if err := os.Mkdir(filepath.Join(temp, "chatd-demo-by-hand"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(temp, "somebody-else"), filepath.Join(temp, "chatd-demo-link")); err != nil {
		t.Fatal(err)
	}
	runs, remove, err := Throwaway(temp, "chatd-demo-")
	if err != nil {
		t.Fatal(err)
	}
	folder(filepath.Base(runs), now.Add(-2*throwawayBegins))
	left := func() string {
		t.Helper()
		removeThrown(temp, "chatd-demo-", now.Add(-throwawayBegins))
		entries, err := os.ReadDir(temp)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, e := range entries {
			names = append(names, e.Name())
		}
		return strings.Join(names, " ")
	}
	stay := "chatd-demo-begins chatd-demo-by-hand chatd-demo-link somebody-else"
	if got := left(); !strings.Contains(got, filepath.Base(runs)) || strings.Contains(got, "killed") || len(strings.Fields(got)) != 5 {
		t.Errorf("got %s, want %s and %s", got, filepath.Base(runs), stay)
	}
	if err := remove(); err != nil {
		t.Fatal(err)
	}
	if got := left(); got != stay {
		t.Errorf("when the demo has ended: got %s, want %s", got, stay)
	}
}
