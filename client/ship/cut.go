package ship

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/klauspost/compress/zstd"
)

// segment is a piece of a file, ready to be uploaded.
type segment struct {
	pendingState
	state  *fileState
	head   string // of the file, as in fileState
	headN  int64
	digest []byte // state of the digest of the shipment after it
	data   []byte // compressed
	sha256 string // of data
	// drained: not a piece; the rotated file is shipped to its end.
	drained bool
}

// cutter reads files and cuts them at line ends. It is ahead of the state by the segments that are under way.
type cutter struct {
	opts    Options
	mu      *sync.Mutex // guards state
	state   *shipState
	out     chan<- *segment
	encoder *zstd.Encoder
	digest  hash.Hash // of the shipment so far
	planned map[*fileState]int64
	open    map[string]*source // by path
	drained map[*fileState]bool
}

// source is a file that is being shipped.
type source struct {
	path    string
	file    *os.File
	state   *fileState
	at      int64
	since   time.Time // when lines that do not fill a segment were first there; zero: there are none
	rotated time.Time // when its path was found to name another file; zero: it does not
}

func newCutter(opts Options, mu *sync.Mutex, state *shipState, out chan<- *segment) (*cutter, error) {
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(zstdWindow), zstd.WithLowerEncoderMem(true))
	if err != nil {
		return nil, err
	}
	k := &cutter{opts: opts, mu: mu, state: state, out: out, encoder: encoder, planned: map[*fileState]int64{}, open: map[string]*source{},
		drained: map[*fileState]bool{}}
	k.digest = sha256.New()
	if state.End == 0 { // else the next part begins a new shipment
		k.digest, err = state.digest()
	}
	return k, err
}

// run sends the segments of all files until their ends, or with Follow until ctx ends.
func (k *cutter) run(ctx context.Context) error {
	defer k.close()
	if err := k.resume(ctx); err != nil {
		return err
	}
	for {
		grew := false
		for _, path := range k.opts.Paths {
			more, err := k.ship(ctx, path)
			for more && err == nil && !k.opts.Follow { // with Follow, the other files get their turn
				more, err = k.ship(ctx, path)
			}
			if err != nil {
				return err
			}
			grew = grew || more
		}
		if !k.opts.Follow {
			return nil
		}
		if !grew {
			if err := sleep(ctx, followEvery); err != nil {
				return err
			}
		}
	}
}

func (k *cutter) close() {
	for _, s := range k.open {
		_ = s.file.Close() // it was only read
	}
	_ = k.encoder.Close() // there is nothing left to write
}

// resume sends the part that was under way once more, exactly as it was.
func (k *cutter) resume(ctx context.Context) error {
	part := k.state.Part
	if part == nil {
		return nil
	}
	gone := permanent(fmt.Errorf("%s no longer has the bytes %d to %d, of which part %d was made; remove the state file to start over",
		part.Path, part.Offset, part.Offset+part.Bytes, k.state.Parts+1))
	path, err := locate(part.Path, part.Inode)
	if err != nil {
		return errors.Join(gone, err)
	}
	s, err := k.begin(path)
	if err != nil {
		return err
	}
	s.at = part.Offset
	defer func() { _ = s.file.Close() }() // it was only read
	seg, err := k.compress(s, part.Bytes)
	if err != nil || seg == nil || seg.SHA256 != part.SHA256 {
		return errors.Join(gone, err)
	}
	seg.Path = part.Path
	return k.send(ctx, s, seg)
}

// ship sends the new content of a file, and reports whether there was any.
func (k *cutter) ship(ctx context.Context, path string) (bool, error) {
	s, err := k.source(path)
	if s == nil || err != nil {
		return false, err
	}
	sent := false
	// A program that wrote to a rotated file may do so for a moment longer.
	final := !k.opts.Follow || !s.rotated.IsZero() && time.Since(s.rotated) > k.opts.Linger
	for {
		seg, err := k.cut(s, final)
		if err != nil {
			return sent, err
		}
		if seg == nil {
			break
		}
		sent = true
		if err := k.send(ctx, s, seg); err != nil {
			return sent, err
		}
	}
	if final && !s.rotated.IsZero() {
		delete(k.open, path)
		k.drained[s.state] = true
		_ = s.file.Close() // it was only read
		return true, k.send(ctx, nil, &segment{pendingState: pendingState{Path: path, Inode: s.state.Inode}, state: s.state, drained: true})
	}
	return sent, nil
}

// send hands over a segment, and moves on behind it.
func (k *cutter) send(ctx context.Context, s *source, seg *segment) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case k.out <- seg:
	}
	if s != nil {
		s.at = seg.Offset + seg.Bytes
		k.planned[s.state], s.since = s.at, time.Time{}
	}
	return nil
}

// source returns the file to read for a path: the one that it named before a rotation until that is read to its end, then the one
// that it names now. nil: there is none.
func (k *cutter) source(path string) (*source, error) {
	s := k.open[path]
	info, err := os.Stat(path)
	switch {
	case s == nil:
		return k.first(path, info, err)
	case !s.rotated.IsZero():
		return s, nil
	case errors.Is(err, fs.ErrNotExist):
		s.rotated = time.Now()
		return s, nil
	case err != nil:
		return nil, permanent(err)
	}
	own, err := s.file.Stat()
	if err != nil {
		return nil, permanent(err)
	}
	if !os.SameFile(info, own) {
		s.rotated = time.Now()
		return s, nil
	}
	if info.Size() < s.at { // truncated: it begins again
		k.mu.Lock()
		defer k.mu.Unlock()
		s.state, s.at, s.since = k.state.add(path, info), 0, time.Time{}
	}
	return s, nil
}

// first opens what a path names for the first time, or what it named when the state was saved.
func (k *cutter) first(path string, info fs.FileInfo, err error) (*source, error) {
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, permanent(err)
	}
	if old := k.before(path, info); old != nil {
		if name, err := locate(path, old.Inode); err == nil {
			s, err := k.begin(name)
			if err != nil {
				return nil, err
			}
			if s.state == old {
				s.path, s.rotated = path, time.Now().Add(-k.opts.Linger)
				k.open[path] = s
				return s, nil
			}
			_ = s.file.Close()
		}
	}
	switch {
	case err == nil && !info.Mode().IsRegular():
		return nil, permanent(fmt.Errorf("%s: want a regular file", path))
	case err == nil:
		s, err := k.begin(path)
		if err == nil {
			k.open[path] = s
		}
		return s, err
	case k.opts.Follow || k.opts.Delete && k.shipped(path):
		return nil, nil
	}
	return nil, permanent(err)
}

// before returns the state of the file that path named before, if it names another one now.
func (k *cutter) before(path string, now fs.FileInfo) *fileState {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, f := range k.state.Files {
		if f.Path == path && !f.Shipped && !k.drained[f] && f.Inode != 0 && (now == nil || inodeOf(now) != f.Inode) {
			return f
		}
	}
	return nil
}

func (k *cutter) shipped(path string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, f := range k.state.Files {
		if f.Path == path && f.Shipped {
			return true
		}
	}
	return false
}

// begin opens a file at the position in the state.
func (k *cutter) begin(path string) (*source, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, permanent(err)
	}
	info, err := file.Stat()
	if err != nil {
		return nil, permanent(errors.Join(err, file.Close()))
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	state, err := k.state.find(path, file, info)
	if err != nil {
		return nil, permanent(errors.Join(err, file.Close()))
	}
	if state == nil {
		state = k.state.add(path, info)
	}
	at := state.Offset
	if ahead, ok := k.planned[state]; ok {
		at = ahead
	}
	return &source{path: path, file: file, state: state, at: at}, nil
}

// locate finds the file with an inode: at its path, or renamed in the same folder.
func locate(path string, inode uint64) (string, error) {
	info, err := os.Stat(path)
	if err == nil && (inode == 0 || inodeOf(info) == inode) {
		return path, nil
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return "", err
	}
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil && info.Mode().IsRegular() && inode != 0 && inodeOf(info) == inode {
			return filepath.Join(filepath.Dir(path), entry.Name()), nil
		}
	}
	return "", fmt.Errorf("%s: %w", path, fs.ErrNotExist)
}

// cut makes the next segment of a file; nil: there is none yet. Unless the file is final, lines that do not fill a segment
// wait for Linger, and a line that has no end waits for it.
func (k *cutter) cut(s *source, final bool) (*segment, error) {
	info, err := s.file.Stat()
	if err != nil {
		return nil, permanent(err)
	}
	n := min(info.Size()-s.at, k.opts.Segment)
	if n <= 0 {
		return nil, nil
	}
	full := n == k.opts.Segment
	if full || !final {
		lines, err := wholeLines(s.file, s.at, n)
		switch {
		case err != nil:
			return nil, permanent(err)
		case lines > 0:
			n = lines
		case !full:
			return nil, nil
		}
	}
	if !full && !final {
		if s.since.IsZero() {
			s.since = time.Now()
		}
		if time.Since(s.since) < k.opts.Linger {
			return nil, nil
		}
	}
	return k.compress(s, n)
}

// wholeLines returns how many of the n bytes at offset make whole lines.
func wholeLines(file io.ReaderAt, offset, n int64) (int64, error) {
	var buf [32 << 10]byte
	for n > 0 {
		size := min(n, int64(len(buf)))
		if _, err := file.ReadAt(buf[:size], offset+n-size); err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
		if i := bytes.LastIndexByte(buf[:size], '\n'); i >= 0 {
			return n - size + int64(i) + 1, nil
		}
		n -= size
	}
	return 0, nil
}

// compress reads n bytes, compresses them and adds them to the digest of the shipment. nil: the file was truncated meanwhile.
func (k *cutter) compress(s *source, n int64) (*segment, error) {
	var out bytes.Buffer
	digest, last := sha256.New(), &lastByte{}
	var before, after shipState
	before.setDigest(k.digest)
	k.encoder.Reset(&out)
	read, err := io.Copy(k.encoder, io.TeeReader(io.NewSectionReader(s.file, s.at, n), io.MultiWriter(digest, k.digest, last)))
	if err = errors.Join(err, k.encoder.Close()); err != nil {
		return nil, permanent(fmt.Errorf("%s: %w", s.path, err))
	}
	if read != n {
		k.digest, err = before.digest()
		return nil, err
	}
	packed := sha256.Sum256(out.Bytes())
	seg := &segment{state: s.state, headN: min(s.at+n, headBytes), data: out.Bytes(), sha256: hex.EncodeToString(packed[:])}
	if seg.head, err = headOf(s.file, seg.headN); err != nil {
		return nil, permanent(err)
	}
	seg.pendingState = pendingState{Path: s.path, Inode: s.state.Inode, Offset: s.at, Bytes: n, SHA256: hex.EncodeToString(digest.Sum(nil)),
		Open: last.b != '\n'}
	after.setDigest(k.digest)
	seg.digest = after.Digest
	return seg, nil
}

// lastByte remembers the last byte that was written to it.
type lastByte struct{ b byte }

func (l *lastByte) Write(p []byte) (int, error) {
	if len(p) > 0 {
		l.b = p[len(p)-1]
	}
	return len(p), nil
}
