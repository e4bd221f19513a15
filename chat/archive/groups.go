package archive

import (
	"context"
	"time"

	"github.com/chatd/chatd/chat"
)

// Lag is what the archive lacks of a log, read at one instant.
type Lag struct {
	Log
	On       bool  // there is an archive
	Archived int64 // highest id that is archived; -1: the archiver has not joined the group
	Held     int64 // lowest id that is stored; Last+1 if none is
	Last     int64
	OnHold   bool // a legal hold is on the group
	// Messages follow Archived, or begin at Held if the archiver has not joined: as many as were asked for, and at most about
	// 1 MiB.
	Messages []chat.Message
}

// Entries is how many entries the archive lacks.
func (l Lag) Entries() int64 { return max(0, l.Last-max(l.Archived, l.Held-1)) }

// State is what a store has recorded of its archive.
type State struct {
	ID     string // of the database; empty: there never was one
	On     bool
	Walked bool // every group has been brought in line with On
}

// Groups is the store of the groups, as the archiver needs it. Errors are those of chat.Store.
type Groups interface {
	chat.TaskStore
	// Unarchived reads what the archive lacks of a group, at most limit entries of it. ErrNotFound: there is no such group.
	Unarchived(ctx context.Context, group string, limit int) (Lag, error)
	// AckArchive records that the database holds the entries from..to, and everything stored below them; mark is that of the
	// last, and to is from-1 if there was none to archive. It joins the group if the archiver has not, trims what that
	// frees, and returns how far the group is archived. ErrNotFound: the log is gone. ErrConflict: the log has changed, or there
	// is no archive any longer.
	AckArchive(ctx context.Context, log Log, from, to int64, mark string) (archived int64, err error)
	// KeepHeld keeps how entries of a log read before changes that the archive is about to apply, if the group is under a legal hold.
	KeepHeld(ctx context.Context, log Log, kept []chat.Kept) error
	// AlignArchive enqueues the task of each group that is not archived to its end; without an archive, it makes the
	// archiver leave the group. One step a group.
	AlignArchive(ctx context.Context, groups []string) error
	// GroupIDs names all groups, page by page: from cursor 0 until next is 0, some more than once.
	GroupIDs(ctx context.Context, cursor uint64) (groups []string, next uint64, err error)
	// ArchiveState reads what is recorded of the archive.
	ArchiveState(ctx context.Context) (State, error)
	// SwitchArchive records that there is an archive in the database id, or none. ErrConflict: there is another one.
	SwitchArchive(ctx context.Context, id string, on bool) error
	// WantArchive makes each partition enqueue a task of a group that grows, after a delay, and trim nothing that is not
	// archived in the database id; or ends both. One step a partition.
	WantArchive(ctx context.Context, id string, delay time.Duration, on bool) error
	// ArchiveWalked records that every group was brought in line, if on is what is recorded.
	ArchiveWalked(ctx context.Context, on bool) error
	// EndedLogs returns those of the logs whose group is gone for good, in partitions that have known the database id since before
	// it was switched off and on again; until a pass over all of them has ended. One step a log.
	EndedLogs(ctx context.Context, id string, logs []Log) ([]Log, error)
	// CompareArchive begins or ends a pass that asks EndedLogs about every log in the database id. One that began before the archive
	// was last switched on, or before another pass, ends nothing. One step a partition.
	CompareArchive(ctx context.Context, id, pass string, ended bool) error
	// ArchiveWaiting counts the tasks that archive a group and wait or run.
	ArchiveWaiting(ctx context.Context) (int64, error)
}
