package local

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/chatd/chatd/client/internal/disk"
)

// rewriteMin is how many bytes a journal has at least before it is written anew; it is then twice as long as it has to be.
const rewriteMin = 1 << 20

// FileStore keeps everything in a file, and in memory too: a journal of writes, which are on the disk when Write returns. One
// process uses it at a time. A write that a crash cut off was none.
type FileStore struct {
	MemoryStore
	path    string
	journal *os.File
	size    int64 // of whole writes, in bytes
	rewrite int64 // the size at which it is written anew
	unlock  func()
}

// OpenFile opens or creates the journal at path, whose directory must exist. A journal that is damaged before its last write
// is an error: going on without it would hide the loss.
func OpenFile(path string) (*FileStore, error) {
	unlock, err := disk.Lock(path)
	if err != nil {
		return nil, err
	}
	f := &FileStore{path: path, rewrite: rewriteMin, unlock: unlock}
	if err := f.load(); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func (f *FileStore) load() error {
	text, err := os.ReadFile(f.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for rest := text; ; {
		line, after, whole := bytes.Cut(rest, []byte{'\n'})
		if !whole {
			break
		}
		var changes []Change
		if err := json.Unmarshal(line, &changes); err != nil {
			if len(after) == 0 {
				break // not all of it came to the disk before the power was cut
			}
			return fmt.Errorf("%s is damaged at byte %d: %w", f.path, f.size, err)
		}
		_ = f.MemoryStore.Write(context.Background(), changes)
		f.size += int64(len(line)) + 1
		rest = after
	}
	if f.journal, err = os.OpenFile(f.path, os.O_CREATE|os.O_RDWR, 0o600); err != nil {
		return err
	}
	return f.cut()
}

// cut drops what follows the last whole write.
func (f *FileStore) cut() error {
	if err := f.journal.Truncate(f.size); err != nil {
		return err
	}
	_, err := f.journal.Seek(f.size, io.SeekStart)
	return err
}

// Write makes the changes; they are on the disk when it returns.
func (f *FileStore) Write(ctx context.Context, changes []Change) error {
	line, err := json.Marshal(changes)
	if err != nil {
		return err
	}
	_, err = f.journal.Write(append(line, '\n'))
	if err == nil {
		err = f.journal.Sync()
	}
	if err != nil { // of a full disk, for one
		return errors.Join(err, f.cut())
	}
	f.size += int64(len(line)) + 1
	_ = f.MemoryStore.Write(ctx, changes)
	if f.size >= f.rewrite && f.anew() != nil {
		f.rewrite = 2 * f.size // what is there holds all of it
	}
	return nil
}

// anew writes the journal as it has to be.
func (f *FileStore) anew() error {
	var text bytes.Buffer
	lines := json.NewEncoder(&text)
	f.held.Scan(func(key string, value json.RawMessage) bool {
		return lines.Encode([]Change{{Key: key, Value: value}}) == nil
	})
	if err := disk.Replace(f.path, text.Bytes()); err != nil {
		return err
	}
	journal, err := os.OpenFile(f.path, os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	f.journal.Close()
	f.journal, f.size = journal, int64(text.Len())
	f.rewrite = max(rewriteMin, 2*f.size)
	return f.cut()
}

// Close lets another process use the file.
func (f *FileStore) Close() {
	if f.journal != nil {
		f.journal.Close()
	}
	f.unlock()
}
