package embedded

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// disk sits between a store and its files and knows how much of each survives a power failure: its content at the last
// fsync.
type disk struct {
	beforeSync func(name string) // called with the name of a file that is about to be synced; may be nil

	mu    sync.Mutex
	files []*diskFile
}

// diskFile is a file, whatever its current name.
type diskFile struct {
	id           os.FileInfo
	size, synced int64
}

// handle is an open file of a disk.
type handle struct {
	file
	name string
	disk *disk
	of   *diskFile
}

// open and create are for Options.
func (d *disk) open(path string) (file, error) {
	f, err := openFile(path)
	return d.handle(f, path, false), err
}

func (d *disk) create(path string) (file, error) {
	f, err := createFile(path)
	return d.handle(f, path, true), err
}

func (d *disk) handle(f file, path string, fresh bool) file {
	id, err := os.Stat(path)
	if err != nil {
		return f
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	at := slices.IndexFunc(d.files, func(of *diskFile) bool { return os.SameFile(of.id, id) })
	if at >= 0 && fresh { // left by a file that was removed
		d.files = slices.Delete(d.files, at, at+1)
	}
	if at < 0 || fresh {
		at = len(d.files)
		d.files = append(d.files, &diskFile{id: id, size: id.Size()})
	}
	return &handle{file: f, name: filepath.Base(path), disk: d, of: d.files[at]}
}

func (h *handle) Write(p []byte) (int, error) {
	n, err := h.file.Write(p)
	h.disk.mu.Lock()
	h.of.size += int64(n)
	h.disk.mu.Unlock()
	return n, err
}

func (h *handle) WriteAt(p []byte, off int64) (int, error) {
	n, err := h.file.WriteAt(p, off)
	h.disk.mu.Lock()
	h.of.size = max(h.of.size, off+int64(n))
	h.disk.mu.Unlock()
	return n, err
}

func (h *handle) Sync() error {
	if h.disk.beforeSync != nil {
		h.disk.beforeSync(h.name)
	}
	h.disk.mu.Lock()
	size := h.of.size
	h.disk.mu.Unlock()
	err := h.file.Sync()
	if err == nil {
		h.disk.mu.Lock()
		h.of.synced = max(h.of.synced, size)
		h.disk.mu.Unlock()
	}
	return err
}

// losePower copies a folder as a power failure at this instant may leave it: of each file, what was synced.
func (d *disk) losePower(t *testing.T, from string) (to string) {
	t.Helper()
	to = t.TempDir()
	entries, err := os.ReadDir(from)
	if err != nil {
		t.Fatal(err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, e := range entries {
		id, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		at := slices.IndexFunc(d.files, func(of *diskFile) bool { return os.SameFile(of.id, id) })
		if at < 0 { // the lock
			continue
		}
		b, err := os.ReadFile(filepath.Join(from, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(to, e.Name()), b[:d.files[at].synced], 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return to
}

// holds checks the content after a power failure.
func holds(t *testing.T, when, dir, want string) {
	t.Helper()
	s, err := Open(context.Background(), Options{Dir: dir, Log: quiet(), CompactStartBytes: 1 << 40})
	if err != nil {
		t.Errorf("a loss of power %s: %v", when, err)
		return
	}
	defer func() { _ = s.Close() }()
	if got := contents(t, s); got != want {
		t.Errorf("a loss of power %s left\n%swant\n%s", when, got, want)
	}
}

// TestSyncOutlivesLossOfPower: everything that Sync has confirmed is on the disk, even while a journal is replaced.
func TestSyncOutlivesLossOfPower(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	d := &disk{}
	s := openStore(t, Options{Dir: dir, SyncEvery: time.Hour, CompactStartBytes: 1 << 40, open: d.open, create: d.create})
	c := client(t, s)
	sendSynced := func(text string) (want string) {
		t.Helper()
		mustSend(t, c, text)
		if err := s.Sync(ctx); err != nil {
			t.Fatal(err)
		}
		return contents(t, s)
	}
	want := sendSynced("one")
	mustSend(t, c, "two") // nobody called Sync for this one
	holds(t, "after a Sync", d.losePower(t, dir), want)

	compacting := false
	d.beforeSync = func(name string) {
		if !strings.HasPrefix(name, snapshotName(2)) {
			return
		}
		// Calls already go to the next journal, and the snapshot is not finished yet.
		compacting = true
		want := sendSynced("three")
		holds(t, "while a snapshot is written", d.losePower(t, dir), want)
	}
	if err := s.Compact(); err != nil {
		t.Fatal(err)
	}
	if !compacting {
		t.Error("the snapshot was never synced")
	}
	holds(t, "after a compaction", d.losePower(t, dir), contents(t, s))
}
