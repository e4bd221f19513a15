// Package blob keeps the bytes of files under random ids: in a folder (dir:PATH) or in a bucket (s3://...). It knows
// neither groups nor Redis: who may read a blob, and how long it lives, is decided by those who hold its id.
//
// A blob grows as an upload, piece by piece, becomes whole once and never changes after that. Every node of a deployment
// works on the same blobs, so that an upload may go on at another node. What a call reports as done is durable: it survives
// a kill and a power failure.
package blob

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"time"
)

// Store keeps blobs. Its methods may be called at the same time; a call works on one blob and uses at most 64 KiB of memory
// for it, whatever the size. An error that is none of this package's means that the disk or the bucket failed: nothing is
// known about the step, and it may be tried again.
type Store interface {
	// Identity returns the random id that was given to the folder or bucket when it was first used. Nodes of one deployment
	// must see the same.
	Identity() string

	// Write appends what r yields to the upload at offset and returns how many bytes of it are durable, also where it fails:
	// what r yielded before it failed counts in a folder, and in S3 too. An offset of 0 begins the upload. What an
	// interrupted Write left beyond offset is dropped. Errors: ErrOffset where less than offset was written, ErrBusy while
	// another Write to the same upload is under way, ErrFull, ErrSource with the error of r.
	Write(ctx context.Context, id string, offset int64, r io.Reader) (int64, error)

	// Finish makes the upload whole; it must have exactly size bytes, or the error is ErrOffset. From here on Open finds it.
	// Finishing a whole blob of that size does nothing. An upload of no bytes needs no Write.
	Finish(ctx context.Context, id string, size int64) error

	// Put stores a small whole blob at once: nobody sees a part of it. It replaces nothing: a whole blob of that id stays.
	Put(ctx context.Context, id string, r io.Reader) error

	// Open opens a whole blob; ErrNotFound. Its bytes are read as they are asked for.
	Open(ctx context.Context, id string) (Blob, error)

	// Copy makes the whole blob from available as to; ErrNotFound. If to is there already, nothing happens.
	Copy(ctx context.Context, from, to string) error

	// Remove drops the upload or the whole blob; one that is not there is no error.
	Remove(ctx context.Context, id string) error

	// List returns up to limit uploads and blobs with ids above after, in the order of their bytes.
	List(ctx context.Context, after string, limit int) ([]Item, error)

	// Check tells whether the store can be reached and is the one that was opened.
	Check(ctx context.Context) error
}

// Linker is a Store of which clients may read by themselves.
type Linker interface {
	// Link returns an address from which anybody reads the whole blob, with these two headers, if they begin within a minute.
	// Whether the blob is there is not checked.
	Link(ctx context.Context, id, contentType, disposition string) (string, error)
}

// Blob is the content of a whole blob. Seek is relative to its bytes and does no I/O. Close it.
type Blob interface {
	io.ReadSeekCloser
	Size() int64
}

// Item is an upload or a whole blob, as a listing shows it.
type Item struct {
	ID       string
	Size     int64     // bytes; of an upload in S3: what is kept outside its parts
	Modified time.Time // by the clock of the disk or the bucket
	Whole    bool
}

// Errors to compare with in errors.Is.
var (
	ErrNotFound = errors.New("no such blob")
	ErrOffset   = errors.New("the upload does not have that many bytes")
	ErrBusy     = errors.New("another write to this upload is under way")
	ErrFull     = errors.New("the disk is full")
	ErrSource   = errors.New("reading what is to be stored failed")
)

// markerName is the file, or object, that holds the identity.
const markerName = "chatd-blobs"

// ids are random from their first character on, because the first two name a folder. The caller makes them; the pattern
// keeps anything else from ever becoming a path.
var ids = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{3,99}$`)

func checkID(id string) error {
	if !ids.MatchString(id) {
		return fmt.Errorf("blob id %q: must be 4 to 100 letters, digits, - and _", id)
	}
	return nil
}

// Open opens the store at url: dir:PATH, a folder that is made if it is not there, or s3://..., see OpenS3.
func Open(ctx context.Context, url string) (Store, error) {
	if path, ok := strings.CutPrefix(url, "dir:"); ok && path != "" {
		return OpenDir(path)
	}
	if strings.HasPrefix(url, "s3://") {
		return OpenS3(ctx, url)
	}
	return nil, errors.New("blobs: must be dir:PATH or " + formS3)
}

// source marks the errors of a reader, to distinguish them from those of the store.
type source struct{ r io.Reader }

func (s source) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = fmt.Errorf("%w: %w", ErrSource, err)
	}
	return n, err
}
