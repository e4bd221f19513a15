// Package files keeps the files of groups. Bytes lie in a blob store, a record in the partition of the group, and what a user
// holds in the partition of the user.
//
// The order of the steps is what keeps them together: quota, then the record, then bytes; and at the end the record, then the
// bytes, then the quota. A crash in between leaves what a task removes later: an upload without bytes expires, and the
// hourly comparison of blobs and records (compare.go) removes bytes without a record.
package files

import (
	"context"
	"time"

	"github.com/chatd/chatd/chat"
)

// Kinds of the tasks. A kind is stored with its tasks, so it keeps its name when the code is renamed.
const (
	TaskRemoved = "file_removed" // RemovedTask: the record of a file is gone
	TaskExpire  = "file_expire"  // GroupTask: files of a group have expired
	TaskGone    = "file_gone"    // GroupTask: the group was deleted
	TaskCompare = "file_compare" // CompareTask: periodic
)

// CompareTask compares the bytes of files with their records.
type CompareTask struct{}

// RemovedTask removes the bytes of a file, and frees the quota of its owner.
type RemovedTask struct {
	Group string `json:"group"`
	File  string `json:"file"`
	Owner string `json:"owner"`
}

// GroupTask is about the files of one group.
type GroupTask struct {
	Group string `json:"group"`
}

// Record is what the store knows of a file. Its times are by the clock of the store.
type Record struct {
	ID      string
	Owner   string
	Whole   bool
	Lost    bool  // a whole file whose bytes are gone, as an operator found
	Size    int64 // bytes, as declared
	Offset  int64 // bytes that are there
	Created time.Time
	Expires time.Time // unless a message names it
	Hash    []byte    // state of the digest of the first Offset bytes; of an upload
	Refs    []int64   // messages that named it when they were sent, ascending
	Named   bool      // by a message that is still there; only of ReadFile
	JSON    []byte    // Draft of an upload, chat.File of a whole file
}

// Commit records how far an upload is.
type Commit struct {
	Group, User, ID string
	Token           string // of the lock
	Offset          int64
	Hash            []byte
	Keep            time.Duration // for how long the lock is kept; 0: it is given back
}

// Store is the store of the records, as this package needs it. Steps on a group answer chat.ErrNotFound and chat.ErrForbidden
// as those of chat.Store do. All of them may be repeated.
type Store interface {
	// NewFileID makes an id for a file of the group. It is random from its first character on, unless creation, a text as random, is
	// given: it begins with that.
	NewFileID(group, creation string) string
	// ReserveFile takes bytes of the quota of a user. ErrQuota, ErrUploads.
	ReserveFile(ctx context.Context, user, group, id string, bytes int64) error
	// SettleFile notes that an upload of the user is whole, ReleaseFile frees what a file takes.
	SettleFile(ctx context.Context, user, id string) error
	ReleaseFile(ctx context.Context, user, id string) error
	// Uploads are the reservations of a user that are not settled: the group of each file, and when it was made.
	Uploads(ctx context.Context, user string) (map[string]Reservation, error)

	// CreateFile writes the record of an upload. ErrQuota.
	CreateFile(ctx context.Context, group string, r Record) (Record, error)
	// LockFile takes the lock of an upload for a time. ErrLocked: another writer has it. Locks of other nodes do not count if sole
	// is not empty: it is what the tokens of this node begin with.
	LockFile(ctx context.Context, group, user, id, token, sole string, lease time.Duration) (Record, error)
	// RenewFile keeps the lock for a time from now on. ErrLost.
	RenewFile(ctx context.Context, group, id, token string, lease time.Duration) error
	// CommitFile answers ErrLost if another writer has taken the lock.
	CommitFile(ctx context.Context, c Commit) (Record, error)
	// FinishFile makes an upload whole. ErrLost.
	FinishFile(ctx context.Context, group, user, id, token string, json []byte) (Record, error)
	// ReadFile reads a file that the user may see.
	ReadFile(ctx context.Context, group, user, id string) (Record, error)
	// HeldFile reads a file of a group under a legal hold that a message names, or has named.
	HeldFile(ctx context.Context, group, id string) (Record, error)
	// RemoveFile removes an own file that no message names. ErrUsed.
	RemoveFile(ctx context.Context, group, user, id string) error

	// ExpireFiles removes some expired files of a group, GoneFiles some of a deleted one.
	ExpireFiles(ctx context.Context, group string) (more bool, err error)
	GoneFiles(ctx context.Context, group string) (more bool, err error)
	// GroupsOfFiles looks up the groups of files; "": there is no record.
	GroupsOfFiles(ctx context.Context, ids []string) ([]string, error)
	// RecordBlobs tells which blob store the files are in, after recording identity if none is; an empty one only asks.
	RecordBlobs(ctx context.Context, identity string) (string, error)
	// NoteOrphans records all blobs that have no record, and tells for how long each has been listed.
	NoteOrphans(ctx context.Context, ids []string) ([]time.Duration, error)
	// FileIDs are the files whose ids begin with a text, and the group of each.
	FileIDs(ctx context.Context, begin string) (map[string]string, error)
	// DropFile removes a file of owner's that no message names, for the node itself.
	DropFile(ctx context.Context, group, owner, id string) error
	// FileRecords reads records of a group, for the node itself; those that do not exist are left out.
	FileRecords(ctx context.Context, group string, ids []string) ([]Record, error)
}

// Reservation is what an upload takes of its owner's quota.
type Reservation struct {
	Group string
	Made  time.Time
}

// Refusals.
var (
	ErrOff     = chat.Errorf(chat.CodeNotFound, "this server keeps no files: CHATD_FILES is off")
	ErrNoFile  = chat.Errorf(chat.CodeNotFound, "no such group or file")
	ErrGone    = chat.Errorf(chat.CodeNotFound, "the bytes of this file are lost")
	ErrUploads = &chat.Error{Code: chat.CodeQuotaFull, Message: "you have the maximum number of uploads under way", RetryAfter: time.Minute}
	ErrQuota   = &chat.Error{Code: chat.CodeQuotaFull, Message: "the files would exceed the quota", RetryAfter: time.Minute}
	ErrLocked  = &chat.Error{Code: chat.CodeConflict, Message: "another request is writing to this upload; try again"}
	ErrLost    = &chat.Error{Code: chat.CodeConflict, Message: "another request has taken over this upload"}
	ErrUsed    = chat.Errorf(chat.CodeConflict, "a message names this file: delete the message")
	ErrNames   = chat.Errorf(chat.CodeConflict, "files: the maximum number of messages name this file")
	// ErrNotSendable is the refusal of a message that names something other than a file of its sender.
	ErrNotSendable = chat.Errorf(chat.CodeInvalid, "files: want the ids of complete files that you uploaded to this group")
	ErrOffset      = chat.Errorf(chat.CodeConflict, "Upload-Offset: the upload is at another offset")
	// ErrChecksum is the refusal of a piece that does not fit its checksum. HTTP has no status for it; tus has 460.
	ErrChecksum = chat.Errorf(chat.CodeInvalid, "Upload-Checksum: the bytes do not fit it; the offset is unchanged")
)
