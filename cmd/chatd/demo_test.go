package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chatd/chatd/store/embedded"
)

// TestRemoveDemos: a demo that was killed leaves its folder, which goes; those of demos that run or that have just begun stay, and so does
// what is no folder of a demo.
func TestRemoveDemos(t *testing.T) {
	temp, now := t.TempDir(), time.Now()
	folder := func(name string, begun time.Time) (lock string) {
		t.Helper()
		dir := filepath.Join(temp, name)
		lock = filepath.Join(dir, demoLock)
		if err := os.MkdirAll(filepath.Join(dir, "files"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(lock, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(lock, begun, begun); err != nil {
			t.Fatal(err)
		}
		return lock
	}
	folder("chatd-demo-killed", now.Add(-2*demoBegins))
	folder("chatd-demo-begins", now)
	folder("somebody-else", now.Add(-2*demoBegins))
	if err := os.Mkdir(filepath.Join(temp, "chatd-demo-by-hand"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(temp, "somebody-else"), filepath.Join(temp, "chatd-demo-link")); err != nil {
		t.Fatal(err)
	}
	held, err := embedded.Lock(folder("chatd-demo-runs", now.Add(-2*demoBegins)))
	if err != nil {
		t.Fatal(err)
	}
	left := func() string {
		t.Helper()
		removeDemos(temp, now.Add(-demoBegins))
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
	if got, want := left(), "chatd-demo-begins chatd-demo-by-hand chatd-demo-link chatd-demo-runs somebody-else"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	_ = held.Close()
	if got, want := left(), "chatd-demo-begins chatd-demo-by-hand chatd-demo-link somebody-else"; got != want {
		t.Errorf("when the demo has ended: got %s, want %s", got, want)
	}
}
