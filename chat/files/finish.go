package files

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"unicode/utf8"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/files/picture"
)

// complete makes a file whole if all its bytes are there.
func (s *Service) complete(ctx context.Context, by chat.Caller, group string, r Record) (File, error) {
	w := s.writer(ctx, by, group, r.ID)
	defer w.stop()
	r, err := w.lock()
	if err != nil {
		return File{}, s.refused(ctx, by, group, err)
	}
	if r.Whole {
		return fileOf(r)
	}
	if r.Offset < r.Size { // someone else began again meanwhile
		w.unlock(r)
		return fileOf(r)
	}
	return w.finish(by, r)
}

// finish compares the digest, decides what the file is, and makes it whole. The writer holds the lock, and all bytes are there.
func (w *writer) finish(by chat.Caller, r Record) (File, error) {
	s := w.service
	var d Draft
	if err := json.Unmarshal(r.JSON, &d); err != nil {
		return File{}, chat.AsError(err)
	}
	digest, err := digestOf(r.Hash)
	if err != nil {
		return File{}, err
	}
	f := chat.File{ID: r.ID, Name: d.Name, Size: r.Size, SHA256: hex.EncodeToString(digest.Sum(nil))}
	if d.SHA256 != "" && d.SHA256 != f.SHA256 {
		if err := s.store.RemoveFile(w.ctx, w.group, w.user, r.ID); err != nil {
			return File{}, s.refused(w.ctx, by, w.group, err)
		}
		return File{}, chat.Errorf(chat.CodeInvalid, "sha256: the bytes have the digest %s; the upload was removed", f.SHA256)
	}
	if err = s.blobs.Finish(w.ctx, r.ID, r.Size); err == nil {
		err = s.describe(w.ctx, &f, d.Type)
	}
	if err != nil {
		w.unlock(r)
		return File{}, blobError(err)
	}
	whole, err := w.settle(f)
	if err != nil {
		return File{}, s.refused(w.ctx, by, w.group, err)
	}
	return whole, nil
}

// settle makes the record whole, and settles the quota of the owner.
func (w *writer) settle(f chat.File) (File, error) {
	text, err := json.Marshal(f)
	if err != nil {
		return File{}, chat.AsError(err)
	}
	r, err := w.service.store.FinishFile(w.ctx, w.group, w.user, w.id, w.token, text)
	if err != nil {
		return File{}, err
	}
	if err := w.service.store.SettleFile(w.ctx, w.user, w.id); err != nil {
		w.service.opt.Log.WarnContext(w.ctx, "an upload is whole and still counted as under way; the next creation corrects it", "error", err)
	}
	return fileOf(r)
}

// describe finds out the type of a whole file, and the size of a picture, of which only the header is read.
func (s *Service) describe(ctx context.Context, f *chat.File, declared string) error {
	b, err := s.blobs.Open(ctx, f.ID)
	if err != nil {
		return err
	}
	defer b.Close()
	head := make([]byte, sniffBytes)
	n, err := io.ReadFull(b, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	head = head[:n]
	f.Type = servedType(declared, sniff(head))
	if !IsPicture(f.Type) {
		return nil
	}
	info, err := picture.Read(b)
	if errors.Is(err, picture.ErrNotPicture) {
		return nil // it only begins like one
	}
	f.Width, f.Height = info.Width, info.Height
	return err
}

// sniff tells the type from the first bytes: that of a picture or an archive, text, or unknownType.
func sniff(head []byte) string {
	for _, m := range []struct{ begins, kind string }{
		{"\x89PNG\r\n\x1a\n", "image/png"}, {"\xff\xd8\xff", "image/jpeg"}, {"GIF87a", "image/gif"}, {"GIF89a", "image/gif"},
		{"%PDF-", "application/pdf"}, {"PK\x03\x04", "application/zip"}, {"\x1f\x8b", "application/gzip"}, {"\x28\xb5\x2f\xfd", "application/zstd"},
	} {
		if bytes.HasPrefix(head, []byte(m.begins)) {
			return m.kind
		}
	}
	if len(head) >= 12 && string(head[:4]) == "RIFF" && string(head[8:12]) == "WEBP" {
		return "image/webp"
	}
	if isText(head) {
		return "text/plain"
	}
	return unknownType
}

// isText tells whether bytes are UTF-8 without control characters; the last character may be cut.
func isText(head []byte) bool {
	for len(head) > 0 {
		r, size := utf8.DecodeRune(head)
		if r == utf8.RuneError && size == 1 && utf8.FullRune(head) || r < ' ' && r != '\n' && r != '\r' && r != '\t' && r != '\f' && r != '\x1b' {
			return false
		}
		head = head[size:]
	}
	return true
}
