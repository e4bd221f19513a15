package embedded

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// syncCounter counts fsyncs.
type syncCounter struct{ n atomic.Int64 }

func (c *syncCounter) open(path string) (file, error) {
	f, err := openFile(path)
	return &countedFile{f, c}, err
}

type countedFile struct {
	file
	c *syncCounter
}

func (f *countedFile) Sync() error {
	f.c.n.Add(1)
	return f.file.Sync()
}

// slowFile lets its second and later fsyncs wait; the first belongs to Open.
type slowFile struct {
	file
	release chan struct{}
	n       atomic.Int64
}

func (f *slowFile) Sync() error {
	if f.n.Add(1) > 1 {
		<-f.release
	}
	return f.file.Sync()
}

// brokenFile fails as told.
type brokenFile struct {
	file
	syncErr, truncateErr, writeErr atomic.Pointer[error]
}

func (f *brokenFile) Sync() error {
	if e := f.syncErr.Load(); e != nil {
		return *e
	}
	return f.file.Sync()
}

func (f *brokenFile) Truncate(n int64) error {
	if e := f.truncateErr.Load(); e != nil {
		return *e
	}
	return f.file.Truncate(n)
}

func (f *brokenFile) WriteAt(p []byte, off int64) (int, error) {
	if e := f.writeErr.Load(); e != nil {
		n, _ := f.file.WriteAt(p[:len(p)/2], off)
		return n, *e
	}
	return f.file.WriteAt(p, off)
}

// TestFullDisk lets the kernel refuse to grow files (RLIMIT_FSIZE): writes are cut short exactly as by a full disk.
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
	// A small one may still fit; whether it does or not, nothing may be half done.
	_, _ = send(ctx, c, "s")
	restore()
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

func openBroken(t *testing.T, dir string) (*Store, *brokenFile) {
	t.Helper()
	var broken *brokenFile
	s := openStore(t, Options{Dir: dir, SyncEvery: time.Hour, open: func(path string) (file, error) {
		f, err := openFile(path)
		broken = &brokenFile{file: f}
		return broken, err
	}})
	return s, broken
}

func TestWriteThatCannotBeTakenBackEndsWriting(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	s, f := openBroken(t, dir)
	c := client(t, s)
	mustSend(t, c, "before")
	want := contents(t, s)
	broken := error(syscall.EIO)
	f.writeErr.Store(&broken)
	f.truncateErr.Store(&broken)
	if _, err := send(ctx, c, "x"); !redis.HasErrorPrefix(err, "MISCONF") {
		t.Fatalf("send: %v", err)
	}
	f.writeErr.Store(nil)
	f.truncateErr.Store(nil)
	if _, err := send(ctx, c, "x"); !redis.HasErrorPrefix(err, "MISCONF") {
		t.Fatalf("send behind half a record: %v", err)
	}
	if err := c.Get(ctx, sendKeys[0]).Err(); err != nil {
		t.Errorf("reads go on: %v", err)
	}
	_ = s.Close()
	s = openStore(t, Options{Dir: dir})
	if got := contents(t, s); got != want || s.Info().CutBytes == 0 {
		t.Errorf("reopened %s, want %s; cut %d", got, want, s.Info().CutBytes)
	}
}

func TestFailedFsyncEndsWriting(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	s, f := openBroken(t, dir)
	c := client(t, s)
	mustSend(t, c, "before")
	broken := error(syscall.EIO)
	f.syncErr.Store(&broken)
	if err := s.Sync(ctx); !errors.Is(err, syscall.EIO) {
		t.Fatalf("Sync: %v", err)
	}
	f.syncErr.Store(nil)
	if err := s.Sync(ctx); !errors.Is(err, syscall.EIO) {
		t.Errorf("Sync after a failed one: %v", err)
	}
	if _, err := send(ctx, c, "x"); !redis.HasErrorPrefix(err, "MISCONF") {
		t.Errorf("send: %v", err)
	}
	if err := s.compact(); !errors.Is(err, syscall.EIO) {
		t.Errorf("compact: %v", err)
	}
	if err := s.Close(); !errors.Is(err, syscall.EIO) {
		t.Errorf("Close: %v", err)
	}
	if _, err := os.Stat(dir + "/" + snapshotName(2)); err == nil {
		t.Error("a snapshot was made")
	}
}
