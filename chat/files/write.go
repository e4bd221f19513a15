package files

import (
	"context"
	"crypto/sha256"
	"encoding"
	"errors"
	"hash"
	"io"
	"time"

	"github.com/chatd/chatd/chat"
)

// Piece is what one request adds to an upload.
type Piece struct {
	Offset int64
	Body   io.Reader
	// Check, if set, gets every byte and then decides whether the piece counts. Otherwise all that arrived counts.
	Check Checksum
}

// Checksum is computed while a piece arrives.
type Checksum interface {
	io.Writer
	Fits() bool
}

// Write adds a piece to an upload. What arrived counts, even if the sender breaks off. With the last byte the file is whole.
func (s *Service) Write(ctx context.Context, by chat.Caller, group, id string, p Piece) (File, error) {
	if err := s.check(by, group, id); err != nil {
		return File{}, err
	}
	w := s.writer(ctx, by, group, id)
	defer w.stop()
	r, err := w.lock()
	if err != nil {
		return File{}, s.refused(ctx, by, group, err)
	}
	switch {
	case r.Whole && p.Offset == r.Size:
		return fileOf(r)
	case r.Whole:
		return File{}, ErrOffset
	case p.Offset != r.Offset:
		w.unlock(r)
		return File{}, ErrOffset
	}
	if r, err = w.write(r, p); err != nil {
		return File{}, s.refused(ctx, by, group, err)
	}
	if r.Offset < r.Size {
		return fileOf(r)
	}
	return w.finish(by, r)
}

// write writes pieces until the sender or the file ends, and commits each. It keeps the lock if the file is complete.
func (w *writer) write(done Record, p Piece) (Record, error) {
	digest, err := digestOf(done.Hash)
	if err != nil {
		return Record{}, err
	}
	at := done.Offset
	for {
		from := &source{writer: w, r: p.Body, digest: digest, check: p.Check, left: min(done.Size-at, pieceBytesMax),
			until: w.service.opt.Now().Add(pieceTime)}
		n, err := w.service.blobs.Write(w.ctx, w.id, at, from)
		if errors.Is(err, ErrShort) {
			// The store lost bytes that were committed: nobody can go on with this upload.
			_ = w.service.store.RemoveFile(w.ctx, w.group, w.user, w.id)
			return Record{}, ErrNoFile
		}
		if n != from.read {
			w.unlock(done)
			return Record{}, errors.Join(blobError(err), errNotStored)
		}
		err = blobError(err)
		at += n
		ended := from.ended || at == done.Size || err != nil
		counts := p.Check == nil
		if ended && err == nil {
			err = from.atEnd(at == done.Size)
			counts = err == nil
		}
		next := Commit{Group: w.group, User: w.user, ID: w.id, Token: w.token, Offset: done.Offset, Hash: done.Hash}
		if counts {
			next.Offset, next.Hash = at, stateOf(digest)
		}
		if !ended || err == nil && next.Offset == done.Size {
			next.Keep = lockLease
		}
		if done, err = w.commit(next, err); err != nil || ended {
			return done, err
		}
	}
}

// commit records how far the upload is, even if the sender has failed with cause.
func (w *writer) commit(c Commit, cause error) (Record, error) {
	ctx := w.ctx
	if cause != nil { // the request may have ended, and what arrived still counts
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(w.ctx), commitTimeout)
		defer cancel()
	}
	asked := w.service.opt.Now()
	r, err := w.service.store.CommitFile(ctx, c)
	if cause != nil {
		return Record{}, cause
	}
	if err == nil {
		w.renewedAt(asked)
	}
	return r, err
}

var (
	errNotStored = &chat.Error{Code: chat.CodeUnavailable, Message: "the bytes could not be stored", RetryAfter: time.Second}
	errLease     = &chat.Error{Code: chat.CodeUnavailable, Message: "the lock of the upload could not be renewed; go on from its offset", RetryAfter: time.Second}
	errBeyond    = chat.Errorf(chat.CodeTooLarge, "the body is longer than what is left of the file")
	errSender    = &chat.Error{Code: chat.CodeInvalid, Message: "the body could not be read to its end"}
)

// source reads one piece of a body. It yields nothing after the end of the lease, so that nobody writes without the lock.
type source struct {
	writer *writer
	r      io.Reader
	digest hash.Hash
	check  Checksum // may be nil
	left   int64
	until  time.Time
	read   int64
	ended  bool
}

func (f *source) Read(p []byte) (int, error) {
	now := f.writer.service.opt.Now
	if f.ended || f.left == 0 || f.read > 0 && now().After(f.until) {
		return 0, io.EOF
	}
	n, err := f.r.Read(p[:min(int64(len(p)), f.left)])
	if err := f.writer.held(); err != nil {
		return 0, err
	}
	f.digest.Write(p[:n])
	if f.check != nil {
		_, _ = f.check.Write(p[:n]) // a digest takes everything
	}
	f.read += int64(n)
	f.left -= int64(n)
	f.ended = errors.Is(err, io.EOF)
	if err != nil && !f.ended {
		return n, errors.Join(errSender, err)
	}
	return n, err
}

// atEnd refuses a piece that does not fit its checksum, and one that goes on after the last byte of the file.
func (f *source) atEnd(complete bool) error {
	var one [1]byte
	if complete && !f.ended {
		if n, _ := io.ReadFull(f.r, one[:]); n > 0 {
			return errBeyond
		}
	}
	if f.check != nil && !f.check.Fits() {
		return ErrChecksum
	}
	return nil
}

func digestOf(state []byte) (hash.Hash, error) {
	h := sha256.New()
	if err := h.(encoding.BinaryUnmarshaler).UnmarshalBinary(state); err != nil {
		return nil, &chat.Error{Code: chat.CodeInternal, Message: "the state of a digest cannot be read", Cause: err}
	}
	return h, nil
}

// stateOf is the state of a digest, to continue from later.
func stateOf(h hash.Hash) []byte {
	state, err := h.(encoding.BinaryMarshaler).MarshalBinary()
	if err != nil {
		panic("files: " + err.Error()) //nolint:forbidigo // the digests of the standard library always have a state
	}
	return state
}

// is tells whether err is exactly this error of ours: errors.Is compares codes.
func is(err error, want *chat.Error) bool {
	var e *chat.Error
	return errors.As(err, &e) && e == want
}
