package files

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/chatd/chatd/chat"
)

// Blobs keep the bytes under random ids. A blob grows as an upload, piece by piece, becomes whole once and never changes after that.
// Every node of a deployment works on the same blobs, so that an upload may go on at another node. What a call reports as done is
// durable: it survives a kill and a power failure.
//
// Its methods may be called at the same time; a call works on one blob and uses at most 64 KiB of memory for it, whatever the size.
// An error from outside this package means that the disk or the bucket failed: the outcome of the step is unknown, and it may be
// tried again.
type Blobs interface {
	// Identity returns the random id that was given to the folder or bucket when it was first used. Nodes of one deployment
	// must see the same.
	Identity() string

	// Write appends what r yields to the upload at offset and returns how many bytes of it are durable, even if it fails: what r
	// yielded before it failed counts. An offset of 0 begins the upload. What an
	// interrupted Write left beyond offset is dropped. Errors: ErrShort if less than offset was written, ErrBusy while
	// another Write to the same upload is under way, ErrFull, ErrSource with the error of r.
	Write(ctx context.Context, id string, offset int64, r io.Reader) (int64, error)

	// Finish makes the upload whole; it must have exactly size bytes, or the error is ErrShort. From here on Open finds it.
	// Finishing a whole blob of that size does nothing. An upload of no bytes needs no Write.
	Finish(ctx context.Context, id string, size int64) error

	// Put stores a small whole blob at once: nobody sees a part of it. It replaces nothing: a whole blob of that id stays.
	Put(ctx context.Context, id string, r io.Reader) error

	// Open opens a whole blob; ErrNoBlob. Its bytes are read as they are asked for.
	Open(ctx context.Context, id string) (Blob, error)

	// Copy makes the whole blob from available as to; ErrNoBlob. If to is there already, nothing happens.
	Copy(ctx context.Context, from, to string) error

	// Remove drops the upload or the whole blob; if there is none, it does nothing.
	Remove(ctx context.Context, id string) error

	// List returns up to limit uploads and blobs with ids above after, in the order of their bytes.
	List(ctx context.Context, after string, limit int) ([]Item, error)

	// Check tells whether the blobs can be reached and are those that were opened.
	Check(ctx context.Context) error
}

// Links are Blobs that clients may read directly.
type Links interface {
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

// Errors of Blobs, to compare with in errors.Is.
var (
	ErrNoBlob = errors.New("no such blob")
	ErrShort  = errors.New("the upload does not have that many bytes")
	ErrBusy   = errors.New("another write to this upload is under way")
	ErrFull   = errors.New("the disk is full")
	ErrSource = errors.New("reading what is to be stored failed")
)

// blobError is an error of Blobs as callers get it. An error of this server or of a sender stays as it is; a disk or a bucket that
// fails may work again soon.
func blobError(err error) error {
	var known *chat.Error
	switch {
	case err == nil, errors.As(err, &known):
		return err
	case errors.Is(err, ErrNoBlob), errors.Is(err, ErrShort):
		return &chat.Error{Code: chat.CodeInternal, Message: "bytes of a file are missing", Cause: err}
	case errors.Is(err, ErrBusy):
		return &chat.Error{Code: chat.CodeConflict, Message: "another request is writing to this upload; try again", Cause: err}
	case errors.Is(err, ErrFull):
		return &chat.Error{Code: chat.CodeUnavailable, Message: "the disk is full", Advice: "the server has no space left for files",
			RetryAfter: time.Minute, Cause: err}
	}
	return &chat.Error{Code: chat.CodeUnavailable, Message: "the files cannot be reached", RetryAfter: chat.ErrUnavailable.RetryAfter, Cause: err}
}
