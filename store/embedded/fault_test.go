package embedded

import (
	"context"
	"errors"
	"os"
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

// slowFile delays its second and later fsyncs; the first one is made by Open.
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

// brokenFile fails on request.
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
	if err := s.Compact(); !errors.Is(err, syscall.EIO) {
		t.Errorf("compact: %v", err)
	}
	if err := s.Close(); !errors.Is(err, syscall.EIO) {
		t.Errorf("Close: %v", err)
	}
	if _, err := os.Stat(dir + "/" + snapshotName(2)); err == nil {
		t.Error("a snapshot was made")
	}
}
