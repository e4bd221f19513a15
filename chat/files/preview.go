package files

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/files/picture"
)

// previewOf is the id of the blob that holds the preview of a file. One without bytes says that there is none.
func previewOf(id string) string { return id + "-preview" }

// OpenPreview opens a small picture of a picture, which the caller closes, and returns its type. It is made when it is first asked
// for, one at a time in a process.
func (s *Service) OpenPreview(ctx context.Context, by chat.Caller, group, id string) (File, Blob, error) {
	f, err := s.Get(ctx, by, group, id)
	if err != nil {
		return File{}, nil, err
	}
	if !f.Whole || !IsPicture(f.Type) {
		return File{}, nil, errNoPreview
	}
	b, err := s.blobs.Open(ctx, previewOf(id))
	if is(err, ErrNoBlob) {
		if err = s.makePreview(ctx, id); err == nil {
			b, err = s.blobs.Open(ctx, previewOf(id))
		}
	}
	if err != nil {
		return File{}, nil, s.withoutBytes(ctx, f, err)
	}
	info, err := picture.Read(b)
	if err == nil {
		_, err = b.Seek(0, io.SeekStart)
	}
	if err != nil {
		_ = b.Close()
		if errors.Is(err, picture.ErrNotPicture) {
			err = errNoPreview
		}
		return File{}, nil, chat.AsError(err)
	}
	f.Type, f.SHA256 = info.Type, f.SHA256+"-preview"
	if i := strings.LastIndexByte(f.Name, '.'); i > 0 {
		f.Name = f.Name[:i]
	}
	f.Name += "." + strings.TrimPrefix(info.Type, "image/")
	return f, b, nil
}

var errNoPreview = chat.Errorf(chat.CodeNotFound, "this file has no preview")

// makePreview makes the preview of a picture. One that cannot be decoded, or is too large to be, gets an empty one, so that nobody
// tries again.
func (s *Service) makePreview(ctx context.Context, id string) error {
	b, err := s.blobs.Open(ctx, id)
	if err != nil {
		return err
	}
	defer b.Close()
	preview, err := picture.NewPreview(ctx, b)
	if err != nil && !errors.Is(err, picture.ErrNotPicture) && !errors.Is(err, picture.ErrTooLarge) {
		return err
	}
	return s.blobs.Put(ctx, previewOf(id), bytes.NewReader(preview.Content))
}
