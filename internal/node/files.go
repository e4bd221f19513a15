package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/files"
	"github.com/chatd/chatd/store/blob"
)

const (
	filesFolder    = "files" // beside the embedded store where nothing else is configured
	filesOff       = "off"   // switches files off
	fileMaxDefault = 100 << 20
	fileBytesMax   = 1 << 40 // what any setting in bytes allows
)

// checkFiles reads CHATD_FILES and its limits. The address may hold a password, so it is not shown.
func (s *settings) checkFiles(p *problems) {
	scheme, rest, _ := strings.Cut(s.Files, ":")
	switch {
	case s.Files == "" && s.Redis == "":
		s.Files = "dir:" + filepath.Join(s.Data, filesFolder)
	case s.Files == "", s.Files == filesOff, scheme == "dir" && rest != "", scheme == "s3" && strings.HasPrefix(rest, "//"):
	default:
		p.add("CHATD_FILES", "want dir:PATH, s3://BUCKET?endpoint=HOST, or off")
	}
	s.fileMax = fileMaxDefault
	for _, l := range []struct {
		key, value string
		into       *int64
	}{
		{"CHATD_FILE_MAX", s.FileMax, &s.fileMax},
		{"CHATD_FILES_USER", s.FilesUser, &s.limits.UserFilesBytesMax},
		{"CHATD_FILES_GROUP", s.FilesGroup, &s.limits.GroupFilesBytesMax},
	} {
		if l.value == "" {
			continue
		}
		n, err := strconv.ParseInt(l.value, 10, 64)
		if err != nil || n < 1 || n > fileBytesMax {
			p.add(l.key, "want a whole number of bytes from 1 to %d; not %q", int64(fileBytesMax), l.value)
			continue
		}
		*l.into = n
	}
}

var errOtherBlobs = errors.New("the files of the store are in another folder or bucket: set the one that the other nodes have")

// openFiles opens the blob store that is configured, and compares it with the one that the files of the store are in: nodes with
// different folders would not find each other's files.
func (n *Node) openFiles(ctx context.Context) error {
	recorded, err := n.store.RecordBlobs(ctx, "")
	if err != nil {
		return err
	}
	switch {
	case n.set.Files == filesOff:
		return nil
	case n.set.Files == "" && recorded != "":
		return errors.New("CHATD_FILES: the store has files: set the folder or bucket that the other nodes have, or off to serve none")
	case n.set.Files == "":
		return nil
	}
	if n.blobs, err = blob.Open(ctx, n.set.Files); err != nil {
		return fmt.Errorf("CHATD_FILES: %w", err)
	}
	if recorded == "" {
		if err := n.checkNewFolder(ctx); err != nil {
			return err
		}
		recorded, err = n.store.RecordBlobs(ctx, n.blobs.Identity())
	}
	if err == nil && recorded != n.blobs.Identity() {
		err = fmt.Errorf("CHATD_FILES: %w", errOtherBlobs)
	}
	return err
}

// checkNewFolder refuses a folder with the files of another store: they would be removed as files that nobody knows.
func (n *Node) checkNewFolder(ctx context.Context) error {
	items, err := n.blobs.List(ctx, "", 1)
	if err != nil {
		return fmt.Errorf("CHATD_FILES: %w", err)
	}
	has, err := n.store.HasFiles(ctx)
	if err == nil && len(items) > 0 && !has {
		err = errors.New("CHATD_FILES: the folder or bucket has files and the store knows none: name an empty one, or remove them")
	}
	return err
}

// fileBlobs is the blob store as the domain asks it; nil: there is none.
func (n *Node) fileBlobs() files.Blobs {
	if n.blobs == nil {
		return nil
	}
	if links, ok := n.blobs.(blob.Linker); ok {
		return linkedBlobs{fileBlobs{n.blobs}, links}
	}
	return fileBlobs{n.blobs}
}

// linkedBlobs are blobs that clients may read by themselves.
type linkedBlobs struct {
	fileBlobs
	links blob.Linker
}

// Link implements files.Links.
func (b linkedBlobs) Link(ctx context.Context, id, contentType, disposition string) (string, error) {
	link, err := b.links.Link(ctx, id, contentType, disposition)
	return link, blobError(err)
}

// fileBlobs translates the errors of a blob store.
type fileBlobs struct{ blob.Store }

// Write implements files.Blobs.
func (b fileBlobs) Write(ctx context.Context, id string, offset int64, r io.Reader) (int64, error) {
	n, err := b.Store.Write(ctx, id, offset, r)
	return n, blobError(err)
}

// Finish implements files.Blobs.
func (b fileBlobs) Finish(ctx context.Context, id string, size int64) error {
	return blobError(b.Store.Finish(ctx, id, size))
}

// Open implements files.Blobs.
func (b fileBlobs) Open(ctx context.Context, id string) (files.Blob, error) {
	content, err := b.Store.Open(ctx, id)
	if err != nil {
		return nil, blobError(err)
	}
	return openBlob{content}, nil
}

// openBlob translates the errors of reading: a bucket may fail in the middle of a blob.
type openBlob struct{ files.Blob }

// Read implements io.Reader.
func (b openBlob) Read(p []byte) (int, error) {
	n, err := b.Blob.Read(p)
	if err == nil || errors.Is(err, io.EOF) {
		return n, err
	}
	return n, blobError(err)
}

// Put implements files.Blobs.
func (b fileBlobs) Put(ctx context.Context, id string, r io.Reader) error {
	return blobError(b.Store.Put(ctx, id, r))
}

// Copy implements files.Blobs.
func (b fileBlobs) Copy(ctx context.Context, from, to string) error {
	return blobError(b.Store.Copy(ctx, from, to))
}

// Remove implements files.Blobs.
func (b fileBlobs) Remove(ctx context.Context, id string) error {
	return blobError(b.Store.Remove(ctx, id))
}

// List implements files.Blobs.
func (b fileBlobs) List(ctx context.Context, after string, limit int) ([]files.Item, error) {
	found, err := b.Store.List(ctx, after, limit)
	items := make([]files.Item, len(found))
	for i, one := range found {
		items[i] = files.Item{ID: one.ID, Modified: one.Modified}
	}
	return items, blobError(err)
}

// Check implements files.Blobs.
func (b fileBlobs) Check(ctx context.Context) error { return blobError(b.Store.Check(ctx)) }

// blobError says in the words of the domain what a blob store answered. An error of the sender stays what it is; a disk or a
// bucket that fails may work again soon.
func blobError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, blob.ErrSource):
		return err
	case errors.Is(err, blob.ErrNotFound):
		return files.ErrNoBlob
	case errors.Is(err, blob.ErrOffset):
		return files.ErrShort
	case errors.Is(err, blob.ErrBusy):
		return files.ErrBusy
	case errors.Is(err, blob.ErrFull):
		full := *files.ErrFull
		full.Cause = err
		return &full
	}
	return &chat.Error{Code: chat.CodeUnavailable, Message: "the files cannot be reached", RetryAfter: chat.ErrUnavailable.RetryAfter, Cause: err}
}
