package blob

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/minio/minio-go/v7"

	"github.com/chatd/chatd/chat/files"
)

// state is how far an upload is. It is an object: a line of JSON, and after it the tail, the bytes that are too few for a part.
//
// Each Write begins at the state that the last one left and ends by creating its own, whose name is the offset that it began at.
// So the state that a caller goes back to is still there, and of two writers that begin at the same offset only one can create the
// next state. Parts are listed with their digests, so that a part that another writer has replaced fails the upload in Finish
// instead of spoiling it.
type state struct {
	Upload string `json:"upload,omitempty"` // of S3; empty while everything is in the tail
	Parts  []part `json:"parts,omitempty"`
	Size   int64  `json:"size"` // of the parts and the tail
	Tail   int64  `json:"tail"`
}

type part struct {
	ETag string `json:"etag"`
	Size int64  `json:"size"`
}

const (
	stateBytesMax = 1 << 20 // the line of JSON; 10,000 parts have 600 KB
	statesMax     = 100     // of an upload; two are usual
)

func (b *bucket) stateKey(id string, offset int64) string {
	return fmt.Sprintf("%s%s/%s%s%016d", b.prefix, uploadsFolder, id, stateSeparator, offset)
}

// stateKeys returns the keys of the states of an upload, the newest first.
func (b *bucket) stateKeys(ctx context.Context, id string) ([]string, error) {
	prefix := b.prefix + uploadsFolder + "/" + id + stateSeparator
	objects, err := b.objects(ctx, prefix, "", statesMax)
	keys := make([]string, len(objects))
	for i, o := range objects {
		keys[i] = o.Key
	}
	slices.Reverse(keys)
	return keys, err
}

// openState reads a state; the tail is what is left to read.
func (b *bucket) openState(ctx context.Context, key string) (s state, tail io.ReadCloser, err error) {
	body, _, _, err := b.core.GetObject(ctx, b.name, key, minio.GetObjectOptions{})
	if err != nil {
		return state{}, nil, s3Error(err)
	}
	line, err := readLine(body)
	if err == nil {
		err = json.Unmarshal(line, &s)
	}
	if err != nil {
		body.Close()
		return state{}, nil, fmt.Errorf("%s: %w", key, err)
	}
	return s, body, nil
}

// readLine reads up to the end of a line, and nothing beyond.
func readLine(r io.Reader) ([]byte, error) {
	var line []byte
	var one [1]byte
	for len(line) < stateBytesMax {
		if _, err := io.ReadFull(r, one[:]); err != nil {
			return nil, err
		}
		if one[0] == '\n' {
			return line, nil
		}
		line = append(line, one[0])
	}
	return nil, errors.New("the state of an upload is not a line")
}

// resume finds the state of size bytes and puts its tail into the spool. What was left by Writes that nobody counted, and by those
// before the one that is resumed, is dropped. An upload of 0 bytes begins again. ErrShort.
func (b *bucket) resume(ctx context.Context, id string, size int64, into *spool) (state, error) {
	keys, err := b.stateKeys(ctx, id)
	if err != nil {
		return state{}, err
	}
	found, at := state{}, ""
	for _, key := range keys {
		if size == 0 {
			break
		}
		s, tail, err := b.openState(ctx, key)
		if err != nil {
			return state{}, err
		}
		if s.Size == size {
			_, err = into.ReadFrom(tail)
			if err == nil && into.size != s.Tail {
				err = fmt.Errorf("%s: %w", key, io.ErrUnexpectedEOF)
			}
			found, at = s, key
		}
		tail.Close()
		if err != nil {
			return state{}, err
		}
		if at != "" {
			break
		}
	}
	if size > 0 && at == "" {
		return state{}, fmt.Errorf("%w: it does not have %d", files.ErrShort, size)
	}
	for _, key := range keys {
		if key != at {
			if err := b.remove(ctx, key); err != nil {
				return state{}, err
			}
		}
	}
	return found, nil
}

func (b *bucket) Write(ctx context.Context, id string, offset int64, r io.Reader) (int64, error) {
	if err := checkID(id); err != nil {
		return 0, err
	}
	buffer, err := newSpool()
	if err != nil {
		return 0, err
	}
	defer buffer.discard()
	n, err := b.write(ctx, id, offset, source{r}, buffer)
	if err != nil {
		err = fmt.Errorf("blob %s: %w", id, full(err))
	}
	return n, err
}

func (b *bucket) write(ctx context.Context, id string, offset int64, r io.Reader, buffer *spool) (int64, error) {
	s, err := b.resume(ctx, id, offset, buffer)
	if err != nil {
		return 0, err
	}
	var sourceErr error
	for sourceErr == nil {
		var n int64
		want := partBytes - buffer.size
		n, err = buffer.ReadFrom(io.LimitReader(r, want))
		s.Size += n
		if sourceErr = err; err == nil && n < want {
			sourceErr = io.EOF
		}
		if sourceErr != nil && !errors.Is(sourceErr, io.EOF) && !errors.Is(sourceErr, files.ErrSource) {
			return 0, sourceErr // the spool failed
		}
		if buffer.size >= partBytesMin {
			if err := b.addPart(ctx, id, &s, buffer); err != nil {
				return 0, err
			}
		}
	}
	if errors.Is(sourceErr, io.EOF) && !errors.Is(sourceErr, files.ErrSource) {
		sourceErr = nil
	}
	if s.Size == offset {
		return 0, sourceErr
	}
	if err := b.saveState(ctx, b.stateKey(id, offset), s, buffer); err != nil {
		return 0, errors.Join(err, sourceErr)
	}
	return s.Size - offset, sourceErr
}

// addPart makes a part of the spool.
func (b *bucket) addPart(ctx context.Context, id string, s *state, buffer *spool) (err error) {
	if s.Upload == "" {
		if s.Upload, err = b.core.NewMultipartUpload(ctx, b.name, b.blobKey(id), minio.PutObjectOptions{}); err != nil {
			return s3Error(err)
		}
	}
	done, err := b.core.PutObjectPart(ctx, b.name, b.blobKey(id), s.Upload, len(s.Parts)+1, buffer.content(), buffer.size,
		minio.PutObjectPartOptions{})
	if err != nil {
		return s3Error(err)
	}
	s.Parts = append(s.Parts, part{ETag: done.ETag, Size: buffer.size})
	return buffer.reset()
}

// saveState creates a state, also if the caller has gone: what came so far counts. ErrBusy if another Write began there too.
func (b *bucket) saveState(ctx context.Context, key string, s state, tail *spool) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTimeout)
	defer cancel()
	s.Tail = tail.size
	line, err := json.Marshal(s)
	if err != nil {
		return err
	}
	whole, err := newSpool()
	if err != nil {
		return err
	}
	defer whole.discard()
	if _, err := whole.ReadFrom(io.MultiReader(bytes.NewReader(append(line, '\n')), tail.content())); err != nil {
		return err
	}
	return b.create(ctx, key, whole.content())
}

func (b *bucket) Finish(ctx context.Context, id string, size int64) error {
	if err := checkID(id); err != nil {
		return err
	}
	if err := b.finish(ctx, id, size); err != nil {
		return fmt.Errorf("blob %s: %w", id, full(err))
	}
	return nil
}

func (b *bucket) finish(ctx context.Context, id string, size int64) error {
	switch has, _, err := b.size(ctx, id); {
	case err == nil && has != size:
		return fmt.Errorf("%w: %d, but it is complete with %d", files.ErrShort, size, has)
	case err == nil:
		return b.dropUpload(ctx, id)
	case !errors.Is(err, files.ErrNoBlob):
		return err
	}
	buffer, err := newSpool()
	if err != nil {
		return err
	}
	defer buffer.discard()
	keys, err := b.stateKeys(ctx, id)
	if err != nil {
		return err
	}
	if size == 0 && len(keys) > 0 {
		return fmt.Errorf("%w: it has begun", files.ErrShort)
	}
	s, err := b.resume(ctx, id, size, buffer)
	if err != nil {
		return err
	}
	if s.Upload == "" {
		err = b.put(ctx, b.blobKey(id), buffer.content(), minio.PutObjectOptions{})
	} else {
		err = b.complete(ctx, id, s, buffer)
	}
	if err != nil {
		return err
	}
	return b.dropUpload(ctx, id)
}

// complete joins the parts and the tail.
func (b *bucket) complete(ctx context.Context, id string, s state, tail *spool) error {
	if tail.size > 0 {
		if err := b.addPart(ctx, id, &s, tail); err != nil {
			return err
		}
	}
	parts := make([]minio.CompletePart, len(s.Parts))
	for i, p := range s.Parts {
		parts[i] = minio.CompletePart{PartNumber: i + 1, ETag: p.ETag}
	}
	_, err := b.core.CompleteMultipartUpload(ctx, b.name, b.blobKey(id), s.Upload, parts, minio.PutObjectOptions{})
	if err = s3Error(err); err != nil && !errors.Is(err, files.ErrNoBlob) {
		return err
	}
	// An answer that was lost is followed by NoSuchUpload: what counts is what is there.
	has, _, err := b.size(ctx, id)
	if err == nil && has != s.Size {
		err = fmt.Errorf("%w: %d, and S3 has %d", files.ErrShort, s.Size, has)
	}
	return err
}

// dropUpload removes the states of an upload and its multipart uploads.
func (b *bucket) dropUpload(ctx context.Context, id string) error {
	keys, err := b.stateKeys(ctx, id)
	if err != nil {
		return err
	}
	for _, key := range keys {
		if err := b.remove(ctx, key); err != nil {
			return err
		}
	}
	listed, err := b.core.ListMultipartUploads(ctx, b.name, b.blobKey(id), "", "", "", statesMax)
	if err != nil {
		return s3Error(err)
	}
	for _, upload := range listed.Uploads {
		if upload.Key != b.blobKey(id) {
			continue // an id that begins with this one
		}
		if err := s3Error(b.core.AbortMultipartUpload(ctx, b.name, upload.Key, upload.UploadID)); err != nil && !errors.Is(err, files.ErrNoBlob) {
			return err
		}
	}
	return nil
}

// objects lists up to limit objects with the prefix, behind a key.
func (b *bucket) objects(ctx context.Context, prefix, after string, limit int) ([]minio.ObjectInfo, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var found []minio.ObjectInfo
	for o := range b.core.ListObjectsIter(ctx, b.name, minio.ListObjectsOptions{Prefix: prefix, StartAfter: after, Recursive: true, MaxKeys: min(limit, 1000)}) {
		if o.Err != nil {
			return nil, s3Error(o.Err)
		}
		if found = append(found, o); len(found) == limit {
			break
		}
	}
	return found, nil
}

// List merges three listings, each of which has its lowest ids above after: whole blobs, states and multipart uploads. The last
// find an upload whose first Write was killed before it left a state.
func (b *bucket) List(ctx context.Context, after string, limit int) ([]files.Item, error) {
	blobs, uploads := b.prefix+blobsFolder+"/", b.prefix+uploadsFolder+"/"
	whole, err := b.objects(ctx, blobs, blobs+after, limit)
	if err != nil {
		return nil, err
	}
	var items []files.Item
	for _, o := range whole {
		items = append(items, files.Item{ID: strings.TrimPrefix(o.Key, blobs), Size: o.Size, Modified: o.LastModified, Whole: true})
	}
	// An upload has more than one state, and its id may be the beginning of others: ids are listed until there are enough.
	behind, ids := uploads+after+stateSeparator+"~", 0
	for last := ""; ids <= limit; {
		states, err := b.objects(ctx, uploads, behind, limit)
		if err != nil {
			return nil, err
		}
		if len(states) == 0 {
			break
		}
		for _, o := range states {
			id, _, _ := strings.Cut(strings.TrimPrefix(o.Key, uploads), stateSeparator)
			items = append(items, files.Item{ID: id, Size: o.Size, Modified: o.LastModified})
			if id != last {
				last, ids = id, ids+1
			}
			behind = o.Key
		}
	}
	listed, err := b.core.ListMultipartUploads(ctx, b.name, blobs, blobs+after, "", "", min(limit, 1000))
	if err != nil {
		return nil, s3Error(err)
	}
	for _, u := range listed.Uploads {
		items = append(items, files.Item{ID: strings.TrimPrefix(u.Key, blobs), Modified: u.Initiated})
	}
	items = slices.DeleteFunc(items, func(i files.Item) bool { return i.ID <= after || checkID(i.ID) != nil })
	slices.SortStableFunc(items, func(x, y files.Item) int { return cmp.Compare(x.ID, y.ID) })
	items = slices.CompactFunc(items, func(x, y files.Item) bool { return x.ID == y.ID })
	return items[:min(limit, len(items))], nil
}
