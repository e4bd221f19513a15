// Package archive keeps every message of every group, also those that the store of the groups has trimmed.
//
// The archive is a reader of each log, named `$archive`: it reads what is new, writes it to a database, and acks. The
// store never trims what it has not acked. What others see is decided by the store of the groups alone: it says who may
// read, where a log begins and ends, and from which id on it holds the entries itself. The archive answers for what lies
// below.
package archive

import (
	"context"

	"github.com/chatd/chatd/chat"
)

// Log is one life of a group: another group with the same id has another epoch, and shares nothing with it.
type Log struct {
	Group string
	Epoch string
}

// Batch is what a log has beyond what is archived.
type Batch struct {
	Log
	// Messages are ascending and dense. What they change (the target of an edit, a deletion or a reaction) may lie below them.
	Messages []chat.Message
	// Last is the end of the log if the log has lost its former end: the archive then forgets what it holds above. Otherwise it
	// is chat.IDMax, because someone else may have archived what came since the messages were read.
	Last int64
	// Version is what Store.Version said before the messages were read; 0: it was not asked. A batch without the current one may
	// add entries behind those that are there, and nothing else.
	Version int64
}

// Span asks for entries of a log: the ids From to To, both included. If that is more than the bounds allow, the lowest are given,
// or with Backward the highest.
type Span struct {
	From, To int64
	Limit    int // entries
	BytesMax int // bytes of JSON; at least one entry is given
	Backward bool
}

// Reacted is the state of the reactions to one message, for a user who is about to react with one emoji.
type Reacted struct {
	Alive  bool  // the target is a text or data that was not deleted
	Entry  int64 // id of the newest entry of this user with this emoji; 0: none
	On     bool  // that entry added the reaction
	Emojis int   // how many different emoji are on the message
	Has    bool  // this emoji is among them
}

// Authored is a message that someone wrote. Docs order messages of all logs.
type Authored struct {
	Log
	ID, Doc int64
}

// Other is an entry of someone that is not a message with content.
type Other struct {
	Log
	ID int64
}

// Store is the database. Every method may be repeated. Errors wrap chat.ErrUnavailable if the database cannot be reached or does
// not answer in time.
type Store interface {
	// ID names this database, for as long as it exists.
	ID(ctx context.Context) (string, error)
	// Add writes batches of several logs in one transaction and applies the changes that they hold: see Apply. An entry
	// that is there already with the same mark stays as it is; one with another mark is of a log that was rolled back, and
	// is replaced. Calls at the same time may share a transaction. ErrConflict: a batch would replace or remove entries, or bring
	// back removed ones, and its Version is not the current one: someone may have written since its messages were read.
	Add(ctx context.Context, batches []Batch) error
	// Version changes with everything that is written to a log; 0: nothing is.
	Version(ctx context.Context, log Log) (int64, error)
	// Read gives entries of a log, ascending, as they read now.
	Read(ctx context.Context, log Log, span Span) ([]chat.Message, error)
	// Entries gives single entries by id, ascending; absent ones are left out.
	Entries(ctx context.Context, log Log, ids []int64) ([]chat.Message, error)
	// Reactions counts the reactions to the messages from..to, and says whether user is among those who reacted.
	Reactions(ctx context.Context, log Log, user string, from, to int64) (map[int64]map[string]chat.ReactionCount, error)
	// ReactionsTo gives the entries of reactions to a message behind an id, ascending, at most limit.
	ReactionsTo(ctx context.Context, log Log, target, after int64, limit int) ([]chat.Message, error)
	// Reacted returns the state of a message for a reaction by user with emoji.
	Reacted(ctx context.Context, log Log, target int64, user, emoji string) (Reacted, error)
	// Drop removes entries of a log up to and including an id (chat.IDMax: the whole log), in a step of bounded work.
	// more: call again. What is removed cannot be found on the disk afterwards, as far as the database can promise that.
	Drop(ctx context.Context, log Log, to int64) (more bool, err error)
	// LogsAfter lists logs in the order in which they were added: from after 0, then from next until that is 0. Logs that are
	// there all the while are listed once.
	LogsAfter(ctx context.Context, after int64, limit int) (logs []Log, next int64, err error)
	// Search finds messages by their text as it reads now: see Query. A query that takes too long is refused with an error
	// that wraps chat.ErrUnavailable and says what narrows it; one that names nothing to look for is invalid.
	Search(ctx context.Context, q Query) (Found, error)
}
