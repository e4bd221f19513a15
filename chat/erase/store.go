package erase

import (
	"context"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/archive"
	"github.com/chatd/chatd/chat/audit"
)

// Record is an erasure as it is stored.
type Record struct {
	Erasure
	User   string
	Phase  string // what is gone through; empty: the first
	Cursor string // where the phase goes on
}

// Progress is how far an erasure has come.
type Progress struct {
	Phase  string
	Cursor string
	Groups []string // that had something of the person, and are not noted yet
	Held   []string // that are under a legal hold
	Free   []string // that were, and are no longer
}

// At is a group or an inbox, and the position from which on it is gone through.
type At struct {
	Name string
	Pos  int64
}

// Found is what a group has of a user.
type Found struct {
	Group        string
	Epoch        string
	Last         int64
	Held         int64 // the lowest id that is stored
	ArchivedFrom int64 // the lowest id that the archive has; 0: there is none
	Late         int64 // chat.Info.Late
	OnHold       bool  // a legal hold is on the group
	Members      int64
	Member       bool
	Traces       bool           // retry keys, counts and the like
	Next         int64          // id to go on from; 0: that was all
	Messages     []chat.Message // that may be of the user
}

// EntryErasure erases one message with its edits, a reaction that stands, or what is left of entries.
type EntryErasure struct {
	Erasure      string // counts the message; empty: it is not counted
	Group, Epoch string
	User         string
	Kind         chat.Kind // chat.Delete or chat.Reaction; empty: Changes alone
	Mark         string
	Rest         []byte // JSON of the entry after `{"id":N,`
	SentAtMs     int64
	Target       int64
	Emoji        string
	Below        bool  // the target is in the archive, as Late was there
	Late         int64 //
	// Changes are the target and its edits; where the target is not stored, edits alone; of a reaction, the one that stands. What the
	// store does not hold, or holds another entry in the place of, is left alone.
	Changes []chat.Change
}

// Waiting is an erasure that waits for the end of a legal hold.
type Waiting struct {
	Erasure string
	User    string
	Epoch   string // of the group
	Last    int64  // what comes behind it is of another person
}

// Logs are the logs of groups, with what is in the archive.
type Logs interface {
	// Infos, Entries and Reactions are those of chat.Store.
	Infos(ctx context.Context, user string, groups []string) ([]chat.Info, error)
	Entries(ctx context.Context, group string, ids []int64) ([]chat.Message, error)
	Reactions(ctx context.Context, group, user string, from, to int64) (map[int64]map[string]chat.ReactionCount, error)
}

// Events are the deliveries that wait until someone takes them.
type Events interface {
	// WithdrawAuthored takes the content of all entries of a person out of them. It may be repeated.
	WithdrawAuthored(ctx context.Context, user string) error
}

// Archive finds what the archive has of a user, of any log. It may lag behind the logs.
type Archive interface {
	// Authored finds messages that have content, oldest first, behind a Doc.
	Authored(ctx context.Context, user string, after int64, limit int) ([]archive.Authored, error)
	// OthersOf finds what else is named as of the user. after is empty at the beginning, next at the end.
	OthersOf(ctx context.Context, user, after string, limit int) (list []archive.Other, next string, err error)
	// CatchUp is that of archive.Archiver.
	CatchUp(ctx context.Context, group string, to int64) error
}

// Store keeps erasures and carries out their steps. Every method is one step a group, an inbox or a user, and may be repeated.
type Store interface {
	// BeginErasure makes a record with its task, or names the one that is under way for the user.
	BeginErasure(ctx context.Context, by chat.Caller, user string) (id string, err error)
	// Erasure reads a record. ErrNotFound.
	Erasure(ctx context.Context, id string) (Record, error)
	// MoveErasure writes how far an erasure is, with what it has erased. ErrNotFound.
	MoveErasure(ctx context.Context, r Record, p Progress) error
	// FinishErasure ends an erasure, takes the name off the list of users, and has the record forgotten after a time.
	FinishErasure(ctx context.Context, r Record, keep time.Duration) error
	// ErasureGroups names the groups that had something of the person, as far as the erasure is.
	ErasureGroups(ctx context.Context, r Record) ([]string, error)
	// ForgetErasure removes a record that is done and holds nothing back.
	ForgetErasure(ctx context.Context, r Record) error

	// ErasePerson removes what is kept of a user outside groups and schedules. more: call again.
	ErasePerson(ctx context.Context, user string) (more bool, err error)
	// EraseAudit is that of audit.Store.
	EraseAudit(ctx context.Context, user string, only func(audit.Record) bool) error
	// EraseFiles removes the files of a user that no message names.
	EraseFiles(ctx context.Context, user string) error
	// UsersFrom pages through everyone whom the server knows. after is empty at the beginning, next at the end.
	UsersFrom(ctx context.Context, after string, limit int) (users []string, next string, err error)
	// EraseInboxes erases what a user wrote in inboxes, counts it, and returns those in which there is more to look at.
	EraseInboxes(ctx context.Context, erasure, from string, inboxes []At, deletedAt chat.Time) (rest []At, err error)

	// GroupIDs names all groups, page by page: from cursor 0 until next is 0, some more than once.
	GroupIDs(ctx context.Context, cursor uint64) (groups []string, next uint64, err error)
	// FindAuthored looks up what groups have of a user; groups that do not exist are left out.
	FindAuthored(ctx context.Context, user string, groups []At) ([]Found, error)
	// EraseEntry erases an entry, counts it in the same step if it is a message, and returns the id of the entry that says so; 0: there was nothing to erase. held: nothing was
	// erased, for the group is under a legal hold. ErrConflict: the entry has changed. ErrNotFound: the group is gone.
	EraseEntry(ctx context.Context, e EntryErasure) (id int64, held bool, err error)
	// DropTraces removes what a group keeps of a user beside its log.
	DropTraces(ctx context.Context, group, user string) error
	// EraseReports removes the reports of a group that the user made, and those about what they wrote, up to an id of its log.
	EraseReports(ctx context.Context, group, epoch, user string, last int64) error
	// PinsOf reads the pinned messages of a group that a user wrote.
	PinsOf(ctx context.Context, group, user string) ([]chat.Message, error)
	// HoldErasure notes in a group under a legal hold that an erasure waits; waits is false where there is none, or no longer.
	HoldErasure(ctx context.Context, erasure, group, epoch, user string) (waits bool, err error)
	// WaitingErasures reads the erasures that wait in a group.
	WaitingErasures(ctx context.Context, group string) ([]Waiting, error)
}
