package node

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/chatd/chatd/queue"
	"github.com/chatd/chatd/store"
	sqlarchive "github.com/chatd/chatd/store/archive"
	"github.com/chatd/chatd/store/dump"
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
	log := newLogger(set, output)
	s, err := set.open(ctx, store.Options{Existing: true, Export: true, Log: log}, log)
	if err != nil {
		return counts, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
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
		counts, err = dump.Export(ctx, s.Store, part, o)
		if !errors.Is(err, dump.ErrChanged) {
			return counts, err
		}
		_, _ = fmt.Fprintf(output, "%s: the store may have changed since the export was interrupted: it begins again\n", path)
		o.Resume = nil
	}
	if err := part.begin(); err != nil {
		return counts, err
	}
	return dump.Export(ctx, s.Store, part, o)
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
	log := newLogger(set, output)
	s, err := set.open(ctx, store.Options{Import: manifest.ID, Partitions: cmp.Or(o.Partitions, manifest.Partitions), Log: log}, log)
	if errors.Is(err, queue.ErrPartitions) && o.Partitions == 0 {
		// An import that was interrupted goes on with the number that it began with.
		s, err = set.open(ctx, store.Options{Import: manifest.ID, Log: log}, log)
	}
	if err != nil {
		return counts, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if set.archived() && manifest.Archive && !o.DropArchive {
		db, err := sqlarchive.Open(ctx, set.Archive)
		if err != nil {
			return counts, fmt.Errorf("CHATD_ARCHIVE: %w", err)
		}
		defer func() { _ = db.Close() }()
		o.Archive = db
	}
	return counts, dump.Import(ctx, s.Store, file, counts, o)
}
