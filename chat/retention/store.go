// Package retention removes messages because of their age: what a group or the server says of it, whichever is shorter.
//
// A task waits for each group whose messages go, due when the oldest of them is. It is enqueued by the step that makes the
// group or changes its setting, and puts the next one in its place, so a send costs nothing. A step of it takes entries off the
// front of a log, even if members have not seen them: a trim with another bound. In a log that goes on in the archive, the record of
// where the log begins moves first and the entries go from the database after it: a reader is never promised what is gone, and
// a run that is cut off in between is repeated.
package retention

import (
	"context"
	"time"

	"github.com/chatd/chatd/chat"
)

// Kinds of the tasks of retention. A kind is stored with its tasks, so it keeps its name when the code is renamed.
const (
	TaskRetain = "retain"      // Task: the oldest messages of a group are due
	TaskWalk   = "retain_walk" // WalkTask: the number of days of the server has changed
)

// Task removes what is too old in one life of a group. Where another number of days holds by now, another task does that.
type Task struct {
	Group string `json:"group"`
	Epoch string `json:"epoch"`
	Days  int64  `json:"days"`
}

// WalkTask enqueues the task of each group.
type WalkTask struct {
	Days *int64 `json:"days"` // of the server, when the task was made
}

// Aging is what decides how old the messages of a group get, read in one instant.
type Aging struct {
	Epoch    string
	Days     int64 // 0: for ever
	OnHold   bool  // nothing goes
	First    int64 // lowest id that can be read anywhere; Last+1 where there is none
	Held     int64 // lowest id that the store holds
	Last     int64
	Archived bool      // the log goes on in the archive
	Now      time.Time // by the clock of the store
	Pins     bool      // some messages are pinned
}

// Store is the store of the groups, as retention needs it. Errors are those of chat.Store.
type Store interface {
	chat.TaskStore
	// Range reads entries of a group from an id on, in the store and in the archive: see chat.LogStore.
	Range(ctx context.Context, group string, from int64, limit, bytesMax int) ([]chat.Message, chat.LogEnd, error)
	// Aging reads a group. ErrNotFound: there is none.
	Aging(ctx context.Context, group string) (Aging, error)
	// Expire takes the entries of a group up to and including one with this mark away: those that are stored, at most 500 in a
	// step, and all that are only in the archive, where they cannot be reached any longer. What the archive does not have yet
	// stays. It returns the lowest id that can be read. ErrNotFound: this life of the group has ended. ErrConflict: other days hold, or
	// the log has changed. Held: the group is under legal hold.
	Expire(ctx context.Context, group, epoch string, days, to int64, mark string) (first int64, err error)
	// ExpirePins unpins what was sent so many days ago. oldest is when the oldest message was sent that is still pinned; zero: none is.
	// ErrNotFound, ErrConflict and Held as of Expire.
	ExpirePins(ctx context.Context, group, epoch string, days int64) (oldest time.Time, err error)
	// PlanRetention enqueues the task of each group whose messages go, due now, unless it waits already.
	PlanRetention(ctx context.Context, groups []string) error
	// GroupIDs names all groups, page by page: from cursor 0 until next is 0, some more than once.
	GroupIDs(ctx context.Context, cursor uint64) (groups []string, next uint64, err error)
	// RecordRetention records after how many days the messages of all groups go; 0: never. followed: it was so before, and every
	// group has the task for it. One step a partition.
	RecordRetention(ctx context.Context, days int64) (followed bool, err error)
	// RetentionDays reads what is recorded.
	RetentionDays(ctx context.Context) (int64, error)
	// RetentionWalked records that every group has the task for days, where that is still what is recorded.
	RetentionWalked(ctx context.Context, days int64) error
}

// Archive deletes what cannot be reached any longer.
type Archive interface {
	// Forget deletes the entries of a log below an id from the archive, in steps. ErrUnavailable: the database cannot be reached.
	Forget(ctx context.Context, group, epoch string, below int64) error
}
