package node

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/klauspost/compress/zstd"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/importer"
	"github.com/chatd/chatd/store"
)

// ImportMessages makes a group of past messages in a file of the configured store. With Redis, servers may run on it meanwhile.
// progress gets how many bytes of the file have been read, twice as many in all as it has.
func (c Config) ImportMessages(ctx context.Context, path string, d importer.Draft, progress func(done, total int64), output io.Writer) (result importer.Result, err error) {
	path, remove, err := spooled(path)
	if err != nil {
		return result, err
	}
	defer remove()
	err = c.withImporter(ctx, output, func(s *importer.Service) error {
		result, err = s.Import(ctx, (&messageFile{path: path, progress: progress}).open, d)
		return err
	})
	return result, err
}

// DiscardImport removes what an interrupted import of messages into a group left behind, and tells whether there was one.
func (c Config) DiscardImport(ctx context.Context, group string, output io.Writer) (found bool, err error) {
	err = c.withImporter(ctx, output, func(s *importer.Service) error {
		found, err = s.Discard(ctx, group)
		return err
	})
	return found, err
}

// withImporter opens the configured store and archive as a server does.
func (c Config) withImporter(ctx context.Context, output io.Writer, do func(*importer.Service) error) (err error) {
	set, err := c.checkForStore()
	if err != nil {
		return err
	}
	log := newLogger(set, output)
	s, err := set.open(ctx, store.Options{Log: log}, log)
	if err != nil {
		return err
	}
	n := &Node{set: set, log: log, store: s}
	defer func() { err = errors.Join(err, n.Close()) }()
	if set.Archive == archiveOff { // a server that starts like this gives the archive up; an import does not
		if state, err := s.ArchiveState(ctx); err != nil || state.On {
			return errors.Join(err, errors.New("CHATD_ARCHIVE: the store is archived: set the database that its servers have"))
		}
	}
	if err := n.openArchive(ctx); err != nil {
		return err
	}
	var db importer.Archive
	if n.archiveDB != nil {
		db = n.archiveDB
	}
	return do(importer.New(chat.New(s.Store, chat.Options{Limits: set.limits}), s.Store, db, set.limits))
}

// spooled is the path of a file that can be read twice: standard input (`-`) is copied first.
func spooled(path string) (string, func(), error) {
	if path != "-" {
		return path, func() {}, nil
	}
	spool, err := os.CreateTemp("", "chatd-import-*")
	if err != nil {
		return "", nil, err
	}
	remove := func() { _ = os.Remove(spool.Name()) }
	_, err = io.Copy(spool, os.Stdin)
	if err = errors.Join(err, spool.Close()); err != nil {
		remove()
		return "", nil, fmt.Errorf("standard input: %w", err)
	}
	return spool.Name(), remove, nil
}

// messageFile is NDJSON, plain or compressed by zstd.
type messageFile struct {
	path     string
	progress func(done, total int64)
	before   int64 // bytes that were read when it was open before
}

// zstdMagic begins what zstd compressed.
const zstdMagic = "\x28\xb5\x2f\xfd"

// zstdMemoryMax bounds what a file can make the reader allocate for its window.
const zstdMemoryMax = 64 << 20

func (f *messageFile) open() (io.ReadCloser, error) {
	file, err := os.Open(f.path)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	opened := &openedFile{messageFile: f, file: file, size: info.Size()}
	read := bufio.NewReader(io.TeeReader(file, opened))
	opened.lines = read
	if head, _ := read.Peek(len(zstdMagic)); string(head) == zstdMagic {
		packed, err := zstd.NewReader(read, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(zstdMemoryMax))
		if err != nil {
			return nil, errors.Join(err, file.Close())
		}
		opened.lines, opened.packed = packed, packed
	}
	return opened, nil
}

type openedFile struct {
	*messageFile
	file   *os.File
	lines  io.Reader
	packed *zstd.Decoder // nil for a plain file
	size   int64
}

// Read implements io.Reader.
func (o *openedFile) Read(b []byte) (int, error) { return o.lines.Read(b) }

// Write counts what is read of the file.
func (o *openedFile) Write(b []byte) (int, error) {
	o.before += int64(len(b))
	if o.progress != nil {
		o.progress(o.before, 2*o.size)
	}
	return len(b), nil
}

// Close implements io.Closer.
func (o *openedFile) Close() error {
	if o.packed != nil {
		o.packed.Close()
	}
	return o.file.Close()
}
