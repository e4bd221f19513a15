package files

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"

	"github.com/chatd/chatd/chat"
)

// Source names a file of some group.
type Source struct {
	Group string `json:"group"`
	File  string `json:"id"`
}

// errNoSource hides whether the file is absent, not yet whole, or not for the caller to read.
var errNoSource = chat.Errorf(chat.CodeNotFound, "from: no such group or file")

// Forward makes a file of a group out of one that the caller may read, in this group or in another: a new record, which counts
// against quotas like any other, with the same bytes. It is whole at once.
func (s *Service) Forward(ctx context.Context, by chat.Caller, group string, from Source) (File, error) {
	if err := s.check(by, group, from.File); err != nil {
		return File{}, err
	}
	if err := cmp.Or(chat.CheckGroupID("from", from.Group), chat.CheckGroup(by, from.Group)); err != nil {
		return File{}, err
	}
	if _, err := s.core.MayPost(ctx, by, group); err != nil {
		return File{}, s.refused(ctx, by, group, err)
	}
	source, err := s.store.ReadFile(ctx, from.Group, by.User, from.File)
	switch code := chat.CodeOf(err); {
	case err == nil && source.Whole:
	case err == nil, code == chat.CodeNotFound, code == chat.CodeForbidden:
		return File{}, errNoSource
	default:
		return File{}, chat.AsError(err)
	}
	var f chat.File
	if err := json.Unmarshal(source.JSON, &f); err != nil {
		return File{}, chat.AsError(err)
	}
	r, err := s.begin(ctx, by, group, Draft{Name: f.Name, Size: f.Size, Type: f.Type, SHA256: f.SHA256})
	if err != nil {
		return File{}, err
	}
	w := s.writer(ctx, by, group, r.ID)
	defer w.stop()
	made, err := w.copy(r, from.File, f)
	if err != nil {
		// Nobody knows the upload: its id was not given out. If this fails too, it expires.
		_ = s.store.RemoveFile(context.WithoutCancel(ctx), group, by.User, r.ID)
		if errors.Is(err, ErrNoBlob) { // just removed, or lost
			err = errNoSource
		}
		return File{}, s.refused(ctx, by, group, blobError(err))
	}
	return made, nil
}

// copy makes the upload r a whole file with the bytes of another.
func (w *writer) copy(r Record, from string, f chat.File) (File, error) {
	if _, err := w.lock(); err != nil {
		return File{}, err
	}
	if err := w.service.blobs.Copy(w.ctx, from, r.ID); err != nil {
		return File{}, err
	}
	_, err := w.service.store.CommitFile(w.ctx, Commit{Group: w.group, User: w.user, ID: r.ID, Token: w.token, Offset: r.Size,
		Hash: stateOf(sha256.New()), Keep: lockLease})
	if err != nil {
		return File{}, err
	}
	f.ID = r.ID
	return w.settle(f)
}
