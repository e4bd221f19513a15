package importer

import (
	"context"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/archive"
)

// Begun is an import that is under way: zero if there is none.
type Begun struct {
	File  string // what is imported
	Epoch string // of the group that it becomes; empty where it is a group already
	At    int64  // id up to which the entries are there
}

// Entry is an entry of an import.
type Entry struct {
	ID   int64
	Mark string
	Rest []byte // of its JSON, behind the id

	Kind      chat.Kind
	Reactions []Reactions // to a message: their entries follow
	// Of a reaction.
	Target int64
	From   string
	Emoji  string
}

// Message reports whether e is a text or data.
func (e Entry) Message() bool { return e.Kind == chat.Text || e.Kind == chat.Data }

// Finished is an import that has all its entries.
type Finished struct {
	chat.Group // ID, Name, CreatedBy, CreatedAt, Epoch, Keep, BacklogMax, Overflow, BacklogBytes
	File       string
	Users      []string // the members, the creator first: 1, 2, ... are the ids of their notices of joining
	Last       int64    // id of the last entry
	Mark       string   // its mark
	Newest     int64    // id of the newest text or data
	ActiveMs   int64    // when the last entry was sent
	Archived   bool     // the archive has all entries
	Trimmed    chat.Trimmed
}

// Store is what an import asks of a store. Errors are those of chat.Store.
type Store interface {
	// BeginImport begins an import into a group that does not exist, or returns the one that is under way: of this file or of
	// another. An epoch of "" begins none. ErrExists: there is such a group, made from something else. ErrGone: a deleted group
	// of this id is not cleaned up yet.
	BeginImport(ctx context.Context, group, file, epoch string) (Begun, error)
	// StageImport adds the entries from..to, of which the store itself gets those in entries: the last ones, or none. What is
	// there already stays. It takes several steps. ErrConflict: the import is no longer under way, or lacks what comes before.
	StageImport(ctx context.Context, group, epoch string, from, to int64, entries []Entry) error
	// FinishImport makes the group, all in one step. ErrExists, ErrGone; ErrConflict: the import is not complete, or the archive
	// was switched on or off meanwhile.
	FinishImport(ctx context.Context, f Finished) error
	// DiscardImport removes what an import has brought so far. ErrConflict: it is not under way.
	DiscardImport(ctx context.Context, group, epoch string) error
}

// Archive is what an import asks of the archive.
type Archive interface {
	ID(ctx context.Context) (string, error)
	Add(ctx context.Context, batches []archive.Batch) error
	Drop(ctx context.Context, log archive.Log, to int64) (more bool, err error)
}
