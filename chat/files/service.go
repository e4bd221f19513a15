package files

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/chatd/chatd/chat"
)

// Options are those of a Service.
type Options struct {
	SizeMax int64 // bytes of one file
	// Sole says that no other node works on the store: locks that another process left behind are void.
	Sole bool
	Log  *slog.Logger
	Now  func() time.Time // for the lease of a lock; nil: time.Now
}

// Service keeps the files of groups. Make one with New.
type Service struct {
	core  *chat.Service
	store Store
	blobs Blobs // nil: off
	opt   Options
	node  string // what the tokens of this process begin with

	previews previews
	avatars  atomic.Int32 // under way
}

// New makes a Service. blobs is nil if no files are kept.
func New(core *chat.Service, store Store, blobs Blobs, opt Options) *Service {
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	if opt.Now == nil {
		opt.Now = time.Now
	}
	return &Service{core: core, store: store, blobs: blobs, opt: opt, node: rand.Text()[:13] + "."}
}

// Close ends the previews that are being made for callers who have left.
func (s *Service) Close() { s.previews.close() }

// SizeMax is how many bytes a file may have; 0: no files are kept.
func (s *Service) SizeMax() int64 {
	if s.blobs == nil {
		return 0
	}
	return s.opt.SizeMax
}

// Ready tells whether the blob store can be reached.
func (s *Service) Ready(ctx context.Context) error {
	if s.blobs == nil {
		return nil
	}
	return blobError(s.blobs.Check(ctx))
}

// File is a file or an upload, as its owner sees it.
type File struct {
	chat.File
	Offset  int64
	Whole   bool
	Lost    bool
	Expires chat.Time // unless a message names it
	Named   bool      // a message names it
}

// check precedes every call.
func (s *Service) check(by chat.Caller, group, id string) error {
	if err := cmp.Or(chat.CheckGroup(by, group), chat.CheckID("file", id)); err != nil {
		return err
	}
	if s.blobs == nil {
		return ErrOff
	}
	return nil
}

// refused refines the refusal of a step on a group.
func (s *Service) refused(ctx context.Context, by chat.Caller, group string, err error) error {
	err = s.core.Refused(ctx, by, group, err)
	if errors.Is(err, chat.ErrNotFound) {
		return ErrNoFile
	}
	return err
}

// Create begins an upload. A file of no bytes is whole at once.
func (s *Service) Create(ctx context.Context, by chat.Caller, group string, d Draft) (File, error) {
	if err := s.check(by, group, "new"); err != nil {
		return File{}, err
	}
	// Callers who may not post learn that first.
	if _, err := s.core.MayPost(ctx, by, group); err != nil {
		return File{}, s.refused(ctx, by, group, err)
	}
	made, err := s.begin(ctx, by, group, d)
	if err != nil {
		return File{}, err
	}
	if d.Size == 0 {
		return s.complete(ctx, by, group, made)
	}
	return fileOf(made)
}

// begin reserves quota and writes the record of an upload.
func (s *Service) begin(ctx context.Context, by chat.Caller, group string, d Draft) (Record, error) {
	if err := d.check(s.opt.SizeMax); err != nil {
		return Record{}, err
	}
	text, err := json.Marshal(d)
	if err != nil {
		return Record{}, chat.AsError(err)
	}
	creation := ""
	if d.Key != "" {
		creation = chat.NewID(chat.Hash([]byte("file"), []byte(by.User), []byte(group), []byte(d.Key), text))[1:]
	}
	r := Record{ID: s.store.NewFileID(group, creation), Owner: by.User, Size: d.Size, Hash: stateOf(sha256.New()), JSON: text}
	err = s.store.ReserveFile(ctx, by.User, group, r.ID, counted(d.Size))
	if chat.CodeOf(err) == chat.CodeQuotaFull && s.settleUploads(ctx, by.User) {
		err = s.store.ReserveFile(ctx, by.User, group, r.ID, counted(d.Size))
	}
	if err != nil {
		return Record{}, chat.AsError(err)
	}
	made, err := s.store.CreateFile(ctx, group, r)
	if err != nil {
		if chat.CodeOf(err) != chat.CodeUnavailable { // then it may have been written
			s.unreserve(context.WithoutCancel(ctx), by.User, group, r.ID)
		}
		return Record{}, s.refused(ctx, by, group, err)
	}
	return made, nil
}

// unreserve frees the quota of an upload that was refused, unless it was begun before, with the same key.
func (s *Service) unreserve(ctx context.Context, user, group, id string) {
	if found, err := s.store.FileRecords(ctx, group, []string{id}); err == nil && len(found) == 0 {
		s.release(ctx, user, id)
	}
}

// settleUploads settles or frees the uploads of a user that are no longer under way: a node may have died before it did.
func (s *Service) settleUploads(ctx context.Context, user string) (changed bool) {
	uploads, err := s.store.Uploads(ctx, user)
	if err != nil {
		return false
	}
	for id, one := range uploads {
		found, err := s.store.FileRecords(ctx, one.Group, []string{id})
		switch {
		case err != nil:
			return changed
		case len(found) == 0 && s.opt.Now().Sub(one.Made) > reservedMax:
			s.release(ctx, user, id)
		case len(found) == 1 && found[0].Whole:
			if err := s.store.SettleFile(ctx, user, id); err != nil {
				return changed
			}
		default:
			continue
		}
		changed = true
	}
	return changed
}

// release frees quota. If it fails, settleUploads or the comparison does it later.
func (s *Service) release(ctx context.Context, user, id string) {
	if err := s.store.ReleaseFile(ctx, user, id); err != nil {
		s.opt.Log.WarnContext(ctx, "quota of a file not freed; it is found later", "error", err)
	}
}

// Get reads what is known of a file. An upload with all its bytes is made whole: a node may have died before it did so.
func (s *Service) Get(ctx context.Context, by chat.Caller, group, id string) (File, error) {
	if err := s.check(by, group, id); err != nil {
		return File{}, err
	}
	r, err := s.store.ReadFile(ctx, group, by.User, id)
	if err != nil && by.Admin {
		// Operators get what a legal hold keeps: the entries that name it are in their exports.
		if held, failed := s.store.HeldFile(ctx, group, id); failed == nil {
			r, err = held, nil
		}
	}
	if err != nil {
		return File{}, s.refused(ctx, by, group, err)
	}
	if !r.Whole && r.Offset == r.Size {
		return s.complete(ctx, by, group, r)
	}
	return fileOf(r)
}

// Open opens a whole file, which the caller closes. An upload that is not whole cannot be read yet.
func (s *Service) Open(ctx context.Context, by chat.Caller, group, id string) (File, Blob, error) {
	f, err := s.Get(ctx, by, group, id)
	if err != nil {
		return File{}, nil, err
	}
	if !f.Whole {
		return File{}, nil, ErrNoFile
	}
	b, err := s.blobs.Open(ctx, id)
	return f, b, s.withoutBytes(ctx, f, err)
}

// withoutBytes refines the error of opening a file: it was just removed, or has lost its bytes.
func (s *Service) withoutBytes(ctx context.Context, f File, err error) error {
	switch {
	case !errors.Is(err, ErrNoBlob):
		return blobError(err)
	case f.Lost:
		return ErrGone
	}
	s.opt.Log.WarnContext(ctx, "a file has a record and no bytes", "file", f.ID)
	return ErrNoFile
}

// Link makes a short-lived address from which a client reads the bytes of a whole file without this server; empty: there is none,
// and Open reads it. name makes the Content-Disposition. The caller's rights are checked only now: anyone with the address can read.
func (s *Service) Link(ctx context.Context, by chat.Caller, group, id string, name func(File) string) (string, error) {
	links, ok := s.blobs.(Links)
	if !ok {
		return "", nil
	}
	f, err := s.Get(ctx, by, group, id)
	if err != nil {
		return "", err
	}
	if !f.Whole {
		return "", ErrNoFile
	}
	if f.Lost { // Open says so
		return "", nil
	}
	link, err := links.Link(ctx, id, f.Type, name(f))
	return link, blobError(err)
}

// Remove removes an upload, or an own file that no message names.
func (s *Service) Remove(ctx context.Context, by chat.Caller, group, id string) error {
	if err := s.check(by, group, id); err != nil {
		return err
	}
	if err := s.store.RemoveFile(ctx, group, by.User, id); err != nil {
		return s.refused(ctx, by, group, err)
	}
	return nil
}

// fileOf decodes a record.
func fileOf(r Record) (File, error) {
	f := File{Offset: r.Offset, Whole: r.Whole, Lost: r.Lost, Expires: chat.TimeMs(r.Expires.UnixMilli()), Named: r.Named}
	err := json.Unmarshal(r.JSON, &f.File) // a draft has some of its fields
	f.ID = r.ID
	return f, chat.AsError(err)
}

// counted is what a file counts against quotas, as the store counts it: a record costs something too.
func counted(size int64) int64 { return max(size, 4096) }
