package blob

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/chatd/chatd/chat/files"
)

func openFolder(t *testing.T, root string) *dir {
	t.Helper()
	d, err := openDir(root)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestDirConforms(t *testing.T) {
	root := t.TempDir()
	conforms(t, func(t *testing.T) files.Blobs { return openFolder(t, root) })
}

// TestDirSyncsBeforeItCounts: the bytes are durable before the name, and the name before a call returns.
func TestDirSyncsBeforeItCounts(t *testing.T) {
	d, id := openFolder(t, t.TempDir()), newID()
	var steps []string
	d.fault = func(step string) error {
		steps = append(steps, step)
		return nil
	}
	expect := func(call string, want ...string) {
		t.Helper()
		if !slices.Equal(steps, want) {
			t.Errorf("%s: got %q, want %q", call, steps, want)
		}
		steps = nil
	}
	write(t, d, id, 0, []byte("abc"))
	expect("first piece", "sync parent", "open", "lock", "truncate", "write", "sync file", "sync uploads")
	write(t, d, id, 3, []byte("def"))
	expect("next piece", "open", "lock", "truncate", "write", "sync file")
	finish(t, d, id, 6)
	expect("finish", "open", "lock", "sync file", "sync parent", "rename", "sync blobs", "sync uploads")
	finish(t, d, id, 6)
	expect("finish again", "sync blobs")
	if err := d.Copy(t.Context(), id, id[:2]+newID()); err != nil {
		t.Fatal(err)
	}
	expect("copy", "link", "sync blobs")
}

// upload brings an upload from offset to its end in three pieces, and returns how far it got.
func upload(t *testing.T, s files.Blobs, id string, offset int64, whole []byte) (int64, error) {
	for end := int64(len(whole)); offset < end; {
		n, err := s.Write(t.Context(), id, offset, bytes.NewReader(whole[offset:min(offset+100_000, end)]))
		if offset += n; err != nil {
			return offset, err
		}
	}
	return offset, s.Finish(t.Context(), id, int64(len(whole)))
}

// TestDirFailsAtEachStep fails each step of an upload in turn, with a full disk and with a broken one: the same upload goes on.
func TestDirFailsAtEachStep(t *testing.T) {
	broken := errors.New("input/output error")
	whole := random(250_000)
	for _, cause := range []error{syscall.ENOSPC, broken} {
		for at, done := 1, false; !done; at++ {
			d, id, steps := openFolder(t, t.TempDir()), newID(), 0
			d.fault = func(string) error {
				if steps++; steps == at {
					return cause
				}
				return nil
			}
			offset, err := upload(t, d, id, 0, whole)
			d.fault = nil
			if done = err == nil; !done && (!errors.Is(err, cause) || errors.Is(err, files.ErrFull) != errors.Is(cause, syscall.ENOSPC)) {
				t.Fatalf("step %d: %v", at, err)
			}
			if _, err := upload(t, d, id, offset, whole); err != nil {
				t.Fatalf("step %d, then: %v", at, err)
			}
			holds(t, d, id, whole)
			if items := all(t, d, 10); len(items) != 1 || !items[0].Whole {
				t.Fatalf("step %d: %+v", at, items)
			}
		}
	}
}

// TestDirOnAFullDisk lets the kernel refuse to let files grow (RLIMIT_FSIZE): what fitted counts, and the upload goes on when there
// is room.
func TestDirOnAFullDisk(t *testing.T) {
	d, id, whole := openFolder(t, t.TempDir()), newID(), random(1<<20)
	restore := limitFiles(t, 200_000)
	n, err := d.Write(t.Context(), id, 0, bytes.NewReader(whole))
	putErr := d.Put(t.Context(), newID(), bytes.NewReader(whole))
	restore()
	wantError(t, err, files.ErrFull)
	wantError(t, putErr, files.ErrFull)
	if n < 100_000 || n > 200_000 {
		t.Errorf("%d bytes count, want what fitted, but for a part of a buffer", n)
	}
	write(t, d, id, n, whole[n:])
	finish(t, d, id, len(whole))
	holds(t, d, id, whole)
	if items := all(t, d, 10); len(items) != 1 {
		t.Errorf("left over: %+v", items)
	}
}

// TestDirFinishedBeforeTheLock: a writer that another overtakes between opening an upload and locking it writes nothing: what it has
// open is the blob by then, and another upload may have begun in its place.
func TestDirFinishedBeforeTheLock(t *testing.T) {
	for name, c := range map[string]struct {
		again bool // another upload has begun by then
		want  error
	}{"finished": {false, files.ErrShort}, "and begun again": {true, files.ErrBusy}} {
		t.Run(name, func(t *testing.T) {
			root, id := t.TempDir(), newID()
			slow, other := openFolder(t, root), openFolder(t, root)
			write(t, other, id, 0, []byte("abcdef"))
			slow.fault = func(step string) error {
				if step == "lock" {
					finish(t, other, id, 6)
					if c.again {
						write(t, other, id, 0, []byte("new"))
					}
				}
				return nil
			}
			_, err := slow.Write(t.Context(), id, 0, strings.NewReader("x"))
			wantError(t, err, c.want)
			holds(t, other, id, []byte("abcdef"))
		})
	}
}

// TestDirIsAnotherFolder: a disk that is not mounted, or another one in its place, is noticed.
func TestDirIsAnotherFolder(t *testing.T) {
	root, other := t.TempDir(), t.TempDir()
	d := openFolder(t, root)
	if d.Identity() == openFolder(t, other).Identity() {
		t.Error("two folders have one identity")
	}
	if err := os.Rename(filepath.Join(other, markerName), filepath.Join(root, markerName)); err != nil {
		t.Fatal(err)
	}
	if err := d.Check(t.Context()); err == nil || !strings.Contains(err.Error(), "not the folder that was opened") {
		t.Errorf("another folder: %v", err)
	}
	if err := os.Remove(filepath.Join(root, markerName)); err != nil {
		t.Fatal(err)
	}
	if err := d.Check(t.Context()); err == nil {
		t.Error("no folder at all")
	}
}
