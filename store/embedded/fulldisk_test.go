//go:build unix

package embedded

import (
	"context"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// TestFullDisk makes the kernel refuse to grow files (RLIMIT_FSIZE): writes are cut short exactly as by a full disk.
func TestFullDisk(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	s := openStore(t, Options{Dir: dir, SyncEvery: time.Hour})
	c := client(t, s)
	mustSend(t, c, "before")

	signal.Ignore(syscall.SIGXFSZ)
	defer signal.Reset(syscall.SIGXFSZ)
	var old syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
		t.Fatal(err)
	}
	limit := syscall.Rlimit{Cur: 4096, Max: old.Max}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		t.Fatal(err)
	}
	restore := func() {
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
			t.Error(err)
		}
	}
	refusals, sent := 0, 1
	for range 100 {
		before := contents(t, s)
		_, err := send(ctx, c, strings.Repeat("x", 300))
		if err == nil {
			sent++
			continue
		}
		if !redis.HasErrorPrefix(err, "MISCONF") || !strings.Contains(err.Error(), "nothing was changed") {
			restore()
			t.Fatalf("on a full disk: %v", err)
		}
		if got := contents(t, s); got != before {
			restore()
			t.Fatalf("a refused call changed\n%s\nto\n%s", before, got)
		}
		refusals++
	}
	// A small one may still fit; either way, nothing may be half done, and the store is not ready for others.
	_, _ = send(ctx, c, "s")
	if _, err := send(ctx, c, strings.Repeat("x", 300)); err != nil && s.Writable() == nil {
		t.Error("a store that refuses writes calls itself writable")
	}
	restore()
	if err := s.Writable(); err != nil {
		t.Errorf("with room on the disk again: %v", err)
	}
	if refusals == 0 || sent < 5 {
		t.Fatalf("%d sent, %d refused", sent, refusals)
	}
	mustSend(t, c, "after")
	want := contents(t, s)
	for name, d := range map[string]string{"crash": clone(t, dir), "close": dir} {
		if name == "close" {
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
		again := openStore(t, Options{Dir: d})
		if got := contents(t, again); got != want {
			t.Errorf("%s: reopened\n%s\nwant\n%s", name, got, want)
		}
		if again.Info().CutBytes != 0 {
			t.Errorf("%s: %d bytes were cut", name, again.Info().CutBytes)
		}
	}
}
