package blob

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/chatd/chatd/chat/files"
)

// A folder of blobs:
//
//	chatd-blobs      the identity
//	uploads/ab/<id>  what grows
//	blobs/ab/<id>    what is whole
//
// The first two characters of an id fan out over folders, which are never removed. An upload is locked (flock) while it is
// written or finished, so that a writer that was given up for dead cannot write between the bytes of the next.
const (
	uploadsFolder = "uploads"
	blobsFolder   = "blobs"
	fanOut        = 2
	copyBytes     = 24 << 10 // what an upload needs in memory, beside a connection: 64 KiB in all
	flushBytes    = 1 << 20  // after so many bytes, the disk begins to write
)

// dir are Blobs in a folder.
type dir struct {
	root     string
	identity string
	synced   sync.Map // folders whose names this process made durable
	// fault runs before each step, if set: tests let it fail or end the process there. Its error is the step's.
	fault func(step string) error
}

// OpenDir opens the folder at root. It makes it, and gives it its identity, if it is not there.
func OpenDir(root string) (files.Blobs, error) { return openDir(root) }

func openDir(root string) (*dir, error) {
	d := &dir{root: root}
	for _, path := range []string{d.root, filepath.Join(root, uploadsFolder), filepath.Join(root, blobsFolder)} {
		if err := os.MkdirAll(path, 0o700); err != nil {
			return nil, fmt.Errorf("blobs: %w", err)
		}
	}
	if err := errors.Join(syncFolder(filepath.Dir(filepath.Clean(root))), syncFolder(root)); err != nil {
		return nil, fmt.Errorf("blobs: %w", err)
	}
	identity, err := d.marker()
	if errors.Is(err, fs.ErrNotExist) {
		if err = d.mark(); err == nil {
			identity, err = d.marker()
		}
	}
	if err != nil {
		return nil, fmt.Errorf("blobs: %w", err)
	}
	d.identity = identity
	return d, nil
}

// marker reads the identity of the folder as it is now.
func (d *dir) marker() (string, error) {
	text, err := os.ReadFile(filepath.Join(d.root, markerName))
	if err != nil {
		return "", err
	}
	id := strings.TrimSpace(string(text))
	if id == "" {
		return "", fmt.Errorf("%s in %s is empty", markerName, d.root)
	}
	return id, nil
}

// mark gives the folder an identity. Of several nodes that do it at once, one wins: the marker appears whole, and never
// changes.
func (d *dir) mark() error {
	f, err := os.CreateTemp(d.root, markerName+".*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) //nolint:errcheck // nobody reads it: the next mark makes another
	_, err = f.WriteString(rand.Text() + "\n")
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Link(f.Name(), filepath.Join(d.root, markerName)); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return syncFolder(d.root)
}

func (d *dir) Identity() string { return d.identity }

// Check compares the marker, so that a disk that is not mounted any more is noticed.
func (d *dir) Check(context.Context) error {
	now, err := d.marker()
	if err != nil {
		return fmt.Errorf("blobs: %w", err)
	}
	if now != d.identity {
		return fmt.Errorf("blobs: %s is not the folder that was opened", d.root)
	}
	return nil
}

func (d *dir) upload(id string) string { return filepath.Join(d.root, uploadsFolder, id[:fanOut], id) }
func (d *dir) blob(id string) string   { return filepath.Join(d.root, blobsFolder, id[:fanOut], id) }

// step is where tests put faults. It names every system call whose order matters after a crash.
func (d *dir) step(name string) error {
	if d.fault == nil {
		return nil
	}
	return d.fault(name)
}

// folder makes the folder of path, durably.
func (d *dir) folder(path string) error {
	folder := filepath.Dir(path)
	if _, ok := d.synced.Load(folder); ok {
		return nil
	}
	if err := os.Mkdir(folder, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return full(err)
	}
	if err := d.sync("sync parent", filepath.Dir(folder)); err != nil {
		return err
	}
	d.synced.Store(folder, true)
	return nil
}

func (d *dir) sync(step, folder string) error {
	if err := d.step(step); err != nil {
		return full(err)
	}
	return full(syncFolder(folder))
}

// full marks the errors of a full disk.
func full(err error) error {
	if err != nil && isFull(err) && !errors.Is(err, files.ErrFull) {
		return fmt.Errorf("%w: %w", files.ErrFull, err)
	}
	return err
}

// lock opens the upload and locks it. With create, it is made if it is not there; fs.ErrNotExist otherwise.
func (d *dir) lock(id string, create bool) (*os.File, error) {
	flags := os.O_RDWR
	if create {
		if err := d.folder(d.upload(id)); err != nil {
			return nil, err
		}
		flags |= os.O_CREATE
	}
	if err := d.step("open"); err != nil {
		return nil, full(err)
	}
	f, err := os.OpenFile(d.upload(id), flags, 0o600)
	if err != nil {
		return nil, full(err)
	}
	if err = d.step("lock"); err == nil {
		err = lockFile(f)
	}
	if err != nil {
		f.Close()
		return nil, full(err)
	}
	// Between the opening and the lock, a Finish may have renamed it, or a Remove have dropped it.
	locked, err := f.Stat()
	if err == nil {
		var named os.FileInfo
		if named, err = os.Stat(d.upload(id)); err == nil && !os.SameFile(locked, named) {
			err = files.ErrBusy
		}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func (d *dir) Write(ctx context.Context, id string, offset int64, r io.Reader) (int64, error) {
	if err := checkID(id); err != nil {
		return 0, err
	}
	f, err := d.lock(id, offset == 0)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, fmt.Errorf("blob %s: %w: it has not begun", id, files.ErrShort)
	}
	if err != nil {
		return 0, fmt.Errorf("blob %s: %w", id, err)
	}
	defer f.Close()
	n, err := d.writeAt(ctx, f, offset, source{r})
	// What was written counts even if the rest failed, but only once it is durable.
	if syncErr := d.syncUpload(f, id, offset == 0); syncErr != nil {
		return 0, fmt.Errorf("blob %s: %w", id, errors.Join(full(syncErr), err))
	}
	if err != nil {
		return n, fmt.Errorf("blob %s: %w", id, full(err))
	}
	return n, nil
}

// writeAt drops what is beyond offset and appends r. It changes nothing before r has yielded: a writer who has lost the upload
// learns it from r.
func (d *dir) writeAt(ctx context.Context, f *os.File, offset int64, r io.Reader) (n int64, err error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	if info.Size() < offset {
		return 0, fmt.Errorf("%w: %d, and %d are there", files.ErrShort, offset, info.Size())
	}
	buffer, flushed := make([]byte, copyBytes), int64(0)
	for {
		got, readErr := io.ReadFull(r, buffer)
		if n == 0 && got == 0 && errors.Is(readErr, files.ErrSource) {
			return 0, readErr
		}
		if n == 0 {
			if err := d.step("truncate"); err != nil {
				return 0, err
			}
			if err := f.Truncate(offset); err != nil {
				return 0, err
			}
		}
		if err := d.step("write"); err != nil {
			return n, err
		}
		written, err := f.WriteAt(buffer[:got], offset+n)
		n += int64(written)
		if n-flushed >= flushBytes {
			startFlush(f, offset+flushed, n-flushed)
			flushed = n
		}
		switch {
		case err != nil:
			return n, err
		case errors.Is(readErr, files.ErrSource):
			return n, readErr
		case readErr != nil: // the end, within a buffer or after it
			return n, nil
		case ctx.Err() != nil:
			return n, ctx.Err()
		}
	}
}

// syncUpload makes the bytes of an upload durable and, where it began with them, its name.
func (d *dir) syncUpload(f *os.File, id string, began bool) error {
	if err := d.step("sync file"); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if !began {
		return nil
	}
	return d.sync("sync uploads", filepath.Dir(d.upload(id)))
}

func (d *dir) Finish(_ context.Context, id string, size int64) error {
	if err := checkID(id); err != nil {
		return err
	}
	if err := d.finish(id, size); err != nil {
		return fmt.Errorf("blob %s: %w", id, err)
	}
	return nil
}

func (d *dir) finish(id string, size int64) error {
	if info, err := os.Stat(d.blob(id)); err == nil {
		if info.Size() != size {
			return fmt.Errorf("%w: %d, but it is complete with %d", files.ErrShort, size, info.Size())
		}
		// It may have been renamed by a process that died before the name was durable.
		return d.sync("sync blobs", filepath.Dir(d.blob(id)))
	}
	f, err := d.lock(id, size == 0)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: it has not begun", files.ErrShort)
	}
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if info.Size() != size {
		return fmt.Errorf("%w: %d, and %d are there", files.ErrShort, size, info.Size())
	}
	return d.rename(f, id)
}

// rename makes the upload that f is, and that is locked, the blob.
func (d *dir) rename(f *os.File, id string) error {
	if err := d.syncUpload(f, id, false); err != nil {
		return full(err)
	}
	if err := d.folder(d.blob(id)); err != nil {
		return err
	}
	if err := d.step("rename"); err != nil {
		return full(err)
	}
	if err := os.Rename(d.upload(id), d.blob(id)); err != nil {
		return full(err)
	}
	if err := d.sync("sync blobs", filepath.Dir(d.blob(id))); err != nil {
		return err
	}
	return d.sync("sync uploads", filepath.Dir(d.upload(id)))
}

func (d *dir) Put(ctx context.Context, id string, r io.Reader) error {
	if err := checkID(id); err != nil {
		return err
	}
	if _, err := os.Stat(d.blob(id)); err == nil {
		return nil
	}
	f, err := d.lock(id, true)
	if err != nil {
		return fmt.Errorf("blob %s: %w", id, err)
	}
	defer f.Close()
	if _, err = d.writeAt(ctx, f, 0, source{r}); err == nil {
		err = d.rename(f, id)
	}
	if err != nil {
		return fmt.Errorf("blob %s: %w", id, errors.Join(full(err), os.Remove(d.upload(id))))
	}
	return nil
}

// opened is a whole blob of a folder.
type opened struct {
	*os.File
	size int64
}

func (o opened) Size() int64 { return o.size }

func (d *dir) Open(_ context.Context, id string) (files.Blob, error) {
	if err := checkID(id); err != nil {
		return nil, err
	}
	f, err := os.Open(d.blob(id))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("blob %s: %w", id, files.ErrNoBlob)
	}
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, err
	}
	return opened{f, info.Size()}, nil
}

// Copy makes a hard link: a blob never changes, so two names may share its bytes.
func (d *dir) Copy(_ context.Context, from, to string) error {
	if err := errors.Join(checkID(from), checkID(to)); err != nil {
		return err
	}
	if err := d.folder(d.blob(to)); err != nil {
		return err
	}
	if err := d.step("link"); err != nil {
		return full(err)
	}
	err := os.Link(d.blob(from), d.blob(to))
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("blob %s: %w", from, files.ErrNoBlob)
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return full(err)
	}
	return d.sync("sync blobs", filepath.Dir(d.blob(to)))
}

// Remove drops the upload first: a Finish at the same time has either renamed it by then, or finds nothing to rename. The
// names may come back after a power failure, and are found by a listing.
func (d *dir) Remove(_ context.Context, id string) error {
	if err := checkID(id); err != nil {
		return err
	}
	for _, path := range []string{d.upload(id), d.blob(id)} {
		if err := d.step("unlink"); err != nil {
			return err
		}
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
