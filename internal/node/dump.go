package node

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/chatd/chatd/queue"
	"github.com/chatd/chatd/store"
	sqlarchive "github.com/chatd/chatd/store/archive"
	"github.com/chatd/chatd/store/dump"
	"github.com/chatd/chatd/store/embedded"
)

// Export writes the configured store, with its archive, to a new file. The file appears under its name once it is complete and on the
// disk; one that is there already is never replaced. An export that was interrupted goes on when it is repeated, unless the store
// may have changed meanwhile: then it begins again, which output says.
func (c Config) Export(ctx context.Context, path string, o dump.Options, output io.Writer) (counts dump.Counts, err error) {
	set, err := c.checkForStore()
	if err != nil {
		return counts, err
	}
	if _, err := os.Lstat(path); err == nil {
		return counts, fmt.Errorf("%s already exists", path)
	}
	s, closeStore, err := set.openForDump(ctx, store.Options{Existing: true, Export: true}, output)
	if err != nil {
		return counts, err
	}
	defer func() { err = errors.Join(err, closeStore()) }()
	if set.archived() {
		db, err := sqlarchive.Open(ctx, set.Archive)
		if err != nil {
			return counts, fmt.Errorf("CHATD_ARCHIVE: %w", err)
		}
		defer func() { _ = db.Close() }()
		o.Archive = db
	}
	part, err := openPart(path)
	if err != nil {
		return counts, err
	}
	defer func() { err = part.close(err) }()
	o.Save = part.save
	if o.Resume = part.resume(); o.Resume != nil {
		counts, err = dump.Export(ctx, s, part, o)
		if !errors.Is(err, dump.ErrChanged) {
			return counts, err
		}
		_, _ = fmt.Fprintf(output, "%s: the store may have changed since the export was interrupted: it begins again\n", path)
		o.Resume = nil
	}
	if err := part.begin(); err != nil {
		return counts, err
	}
	return dump.Export(ctx, s, part, o)
}

// Import fills the configured store and archive, which must be empty, from a file. It begins once the whole file was checked. An
// import that was interrupted goes on when it is repeated.
func (c Config) Import(ctx context.Context, path string, o dump.Options, output io.Writer) (counts dump.Counts, err error) {
	set, err := c.checkForStore()
	if err != nil {
		return counts, err
	}
	if o.Partitions < 0 || o.Partitions > queue.PartitionsMax {
		return counts, fmt.Errorf("%d partitions: must be 1 to %d", o.Partitions, queue.PartitionsMax)
	}
	file, err := os.Open(path)
	if err != nil {
		return counts, err
	}
	defer func() { _ = file.Close() }()
	manifest, counts, err := dump.Check(ctx, file)
	if err != nil {
		return counts, fmt.Errorf("%s: %w", path, err)
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return counts, err
	}
	s, closeStore, err := set.openForDump(ctx, store.Options{Import: manifest.ID, Partitions: cmp.Or(o.Partitions, manifest.Partitions)}, output)
	if errors.Is(err, queue.ErrPartitions) && o.Partitions == 0 {
		// An import that was interrupted goes on with the number that it began with.
		s, closeStore, err = set.openForDump(ctx, store.Options{Import: manifest.ID}, output)
	}
	if err != nil {
		return counts, err
	}
	defer func() { err = errors.Join(err, closeStore()) }()
	if set.archived() && manifest.Archive && !o.DropArchive {
		db, err := sqlarchive.Open(ctx, set.Archive)
		if err != nil {
			return counts, fmt.Errorf("CHATD_ARCHIVE: %w", err)
		}
		defer func() { _ = db.Close() }()
		o.Archive = db
	}
	return counts, dump.Import(ctx, s, file, counts, o)
}

// archived tells whether there is an archive.
func (s settings) archived() bool { return s.Archive != "" && s.Archive != archiveOff }

// openForDump opens the configured store while no server runs on it.
func (s settings) openForDump(ctx context.Context, o store.Options, output io.Writer) (opened *store.Store, closeBoth func() error, err error) {
	o.URL, o.Prefix, o.Limits, o.Log = s.Redis, s.Prefix, s.limits, newLogger(s, output)
	closeServer := func() error { return nil }
	if s.Redis == "" {
		open := openStopped
		if !o.Existing {
			open = openNew
		}
		server, err := open(ctx, s, output)
		if err != nil {
			return nil, nil, err
		}
		o.Embedded, closeServer = server, server.Close
	}
	if opened, err = s.open(ctx, o); err != nil {
		return nil, nil, errors.Join(err, closeServer())
	}
	return opened, func() error { return errors.Join(opened.Close(), closeServer()) }, nil
}

// openNew opens the embedded store of a node that does not run, and makes it where there is none.
func openNew(ctx context.Context, set settings, output io.Writer) (*embedded.Store, error) {
	dir := filepath.Join(set.Data, "store")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	return openStopped(ctx, set, output)
}
