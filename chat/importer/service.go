// Package importer brings the past messages of another system into a new group. A file is checked as a whole before anything is
// written; its messages are then written where nobody sees them, and become a group in one step at the end.
package importer

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/archive"
)

// Draft is the group that an import makes.
type Draft struct {
	Group   string
	Name    string
	Owner   string
	Members []string // besides the owner; none: everyone who wrote or reacted
	Keep    *int64   // nil: as for any new group
	Lenient bool     // cut what is too long, and drop what is surplus
}

// Result says what an import did.
type Result struct {
	Messages  int64 `json:"messages"`
	Reactions int64 `json:"reactions"`
	Members   int64 `json:"members"`
	Cut       int64 `json:"cut"`     // bodies that were too long
	Dropped   int64 `json:"dropped"` // mentions and reactions that were too many, or none that chatd has
	Before    bool  `json:"before"`  // an earlier run had done all of it
}

// Service imports messages.
type Service struct {
	core    *chat.Service
	store   Store
	archive Archive // nil: there is none
	limits  chat.Limits
	now     func() time.Time
}

// New makes a Service. db is nil where there is no archive.
func New(core *chat.Service, store Store, db Archive, limits chat.Limits) *Service {
	return &Service{core: core, store: store, archive: db, limits: limits, now: time.Now}
}

// Import makes a group of the messages in a file. An import that was interrupted goes on where it was when it is repeated with the
// same file and draft; one of another file into the same group replaces it. One that was complete before does nothing.
func (s *Service) Import(ctx context.Context, open Source, d Draft) (Result, error) {
	p, err := s.plan(ctx, open, d)
	if err != nil {
		return Result{}, err
	}
	result := Result{Messages: p.messages, Reactions: p.summary.entries - p.messages, Members: int64(len(p.users)),
		Cut: p.cut, Dropped: p.dropped}
	begun, err := s.begin(ctx, p)
	if err != nil {
		return result, err
	}
	if begun.Epoch == "" {
		result.Before = true
		return result, nil
	}
	p.group.Epoch = begun.Epoch
	w := writer{Service: s, plan: p, at: begun.At}
	if err := w.write(ctx, open); err != nil {
		return result, err
	}
	err = s.store.FinishImport(ctx, w.finished())
	if errors.Is(err, chat.ErrConflict) {
		err = errors.New("another import into this group runs, or the archive was switched on or off meanwhile: repeat the import")
	}
	return result, err
}

// Discard removes what an import that was interrupted left behind, and tells whether there was one.
func (s *Service) Discard(ctx context.Context, group string) (bool, error) {
	if err := chat.CheckGroupID("group", group); err != nil {
		return false, err
	}
	begun, err := s.store.BeginImport(ctx, group, "", "")
	if err != nil || begun.Epoch == "" {
		return false, err
	}
	return true, s.discard(ctx, group, begun.Epoch)
}

// discard forgets the entries in the archive first: the store knows which they are.
func (s *Service) discard(ctx context.Context, group, epoch string) error {
	for more := s.archive != nil; more; {
		var err error
		if more, err = s.archive.Drop(ctx, archive.Log{Group: group, Epoch: epoch}, chat.IDMax); err != nil {
			return err
		}
	}
	return s.store.DiscardImport(ctx, group, epoch)
}

// plan is a checked file, and what becomes of it.
type plan struct {
	summary
	group chat.Group
	users []string // the members, the owner first
	file  string   // names the file with all that decides what it becomes
	held  int64    // lowest id that the store gets

	lenient bool
}

// before is how many notices come before the first message.
func (p plan) before() int64 { return int64(len(p.users)) }

// end is the id of the last entry.
func (p plan) end() int64 { return p.before() + p.summary.entries }

func (s *Service) scanner(lenient bool) scanner {
	return scanner{limits: s.limits, now: s.now(), usersMax: s.limits.GroupCreateMembers, lenient: lenient}
}

// plan checks the draft and the whole file.
func (s *Service) plan(ctx context.Context, open Source, d Draft) (plan, error) {
	if d.Owner == "" {
		return plan{}, errors.New("owner: missing: name the user who will own the group")
	}
	draft := chat.GroupDraft{ID: d.Group, Name: d.Name, Members: d.Members, Keep: d.Keep}
	if err := errors.Join(chat.CheckGroupID("group", d.Group), chat.CheckUserID("owner", d.Owner)); err != nil {
		return plan{}, worded(err)
	}
	if _, err := s.core.NewGroup(chat.Caller{User: d.Owner}, draft); err != nil {
		return plan{}, worded(err)
	}
	scan := s.scanner(d.Lenient)
	found, err := scan.scan(ctx, open)
	if err != nil {
		return plan{}, err
	}
	if found.messages == 0 {
		return plan{}, errors.New("there is no message in it")
	}
	if len(d.Members) == 0 {
		if draft.Members = found.users; len(found.users) > s.limits.GroupCreateMembers {
			return plan{}, fmt.Errorf("more than %d users wrote or reacted: name the members, and add others later", s.limits.GroupCreateMembers)
		}
	}
	g, err := s.core.NewGroup(chat.Caller{User: d.Owner}, draft)
	if err != nil {
		return plan{}, worded(err)
	}
	p := plan{summary: found, group: g.Group, users: append([]string{d.Owner}, g.Members...), held: 1, lenient: d.Lenient}
	p.group.CreatedAt = found.first
	if s.archive != nil {
		p.held = max(1, p.end()-g.Keep+1)
	} else if p.end() > g.Keep {
		return plan{}, fmt.Errorf("it makes %d entries, and without an archive the group keeps only its newest %d: switch the archive on "+
			"(CHATD_ARCHIVE), or let the group keep more (-keep)", p.end(), g.Keep)
	}
	p.file, err = s.identity(ctx, p)
	return p, err
}

// identity names an import: a repeated one goes on only if nothing of this is different.
func (s *Service) identity(ctx context.Context, p plan) (string, error) {
	db := ""
	if s.archive != nil {
		var err error
		if db, err = s.archive.ID(ctx); err != nil {
			return "", err
		}
	}
	h := sha256.New()
	_, _ = fmt.Fprintf(h, "%x %q %q %d %q", p.sum, p.group.Name, p.users, p.group.Keep, db)
	if p.lenient {
		_, _ = io.WriteString(h, " lenient")
	}
	return hex.EncodeToString(h.Sum(nil)[:16]), nil
}

// begin begins an import, or finds where it was interrupted. One of another file is discarded.
func (s *Service) begin(ctx context.Context, p plan) (Begun, error) {
	for {
		begun, err := s.store.BeginImport(ctx, p.group.ID, p.file, p.group.Epoch)
		switch {
		case errors.Is(err, chat.ErrExists):
			return begun, fmt.Errorf("the group %s exists already: messages are imported into new groups only", p.group.ID)
		case errors.Is(err, chat.ErrGone):
			return begun, fmt.Errorf("the group %s was deleted, and is not cleaned up yet: a running server does that; try again later", p.group.ID)
		case err != nil || begun.File == p.file:
			return begun, err
		}
		if err := s.discard(ctx, p.group.ID, begun.Epoch); err != nil && !errors.Is(err, chat.ErrConflict) {
			return begun, err
		}
	}
}

// finished is the group that the import makes.
func (w *writer) finished() Finished {
	p := w.plan
	f := Finished{Group: p.group, File: p.file, Users: slices.Clone(p.users), Last: p.end(), Mark: w.mark(p.end()), Newest: p.before() + p.newest + 1,
		ActiveMs: p.last.UnixMilli(), Archived: w.archive != nil}
	if p.held > 1 {
		f.Trimmed = chat.Trimmed{ID: p.held - 1, Mark: w.mark(p.held - 1)}
	}
	return f
}
