package chat

import (
	"context"
	"encoding/json"
	"time"
)

// AnnouncementState is where an announcement is in its life.
type AnnouncementState string

// The states of an announcement. One that recurs is pending between its runs.
const (
	AnnouncementPending   AnnouncementState = "pending"
	AnnouncementRunning   AnnouncementState = "running"
	AnnouncementDone      AnnouncementState = "done"
	AnnouncementCancelled AnnouncementState = "cancelled"
)

// AnnouncementTarget is whom an announcement is for: everyone, or groups and users.
type AnnouncementTarget struct {
	All    bool     `json:"all,omitempty"`
	Groups []string `json:"groups,omitempty"`
	Users  []string `json:"users,omitempty"`
}

// AnnouncementText is what does not change of an announcement, as it is stored.
type AnnouncementText struct {
	From     string             `json:"from"`
	To       AnnouncementTarget `json:"to"`
	Body     *string            `json:"body,omitempty"`
	Data     json.RawMessage    `json:"data,omitempty"`
	At       *Time              `json:"at,omitempty"`
	Cron     string             `json:"cron,omitempty"`
	Timezone string             `json:"timezone,omitempty"`
	Priority Priority           `json:"priority"`
}

// Announcement is what operators see of an announcement. The counts are of its newest run.
type Announcement struct {
	ID    string            `json:"id"`
	State AnnouncementState `json:"state"`
	AnnouncementText
	NextAt    *Time `json:"next_at"`
	Total     int64 `json:"total"`
	Delivered int64 `json:"delivered"`
	Failed    int64 `json:"failed"`
	CreatedAt Time  `json:"created_at"`
}

// AnnouncementDraft is what an operator asks to be announced.
type AnnouncementDraft struct {
	// Key is the Idempotency-Key of the request, or empty: repeated with it, and with the same content, it is announced
	// once.
	Key      string
	To       AnnouncementTarget
	Body     *string
	Data     json.RawMessage
	At       *time.Time // nil: now, or what Cron says
	Cron     string     // recurring
	Timezone string     // of Cron; empty: UTC
	Priority Priority   // empty: low
}

// Kinds of the tasks of announcements, with the JSON of their payload.
const (
	TaskAnnounce     = "announce"      // AnnounceTask: begins a run and starts its parts
	TaskAnnouncePage = "announce_page" // AnnouncementPart: does its pages, one after the other
)

// AnnounceTask names one run of an announcement: 1, or which of them where it recurs.
type AnnounceTask struct {
	Announcement string `json:"announcement"`
	Run          int64  `json:"run"`
}

// AnnouncementPart is what of a run lies in one partition.
type AnnouncementPart struct {
	Announcement string `json:"announcement"`
	Run          int64  `json:"run"`
	Partition    int    `json:"partition"`
}

// AnnouncementPage is what comes next in a part: some users, or one group. It counts once, however often it is done: where
// the part has moved on from Cursor, nothing happens.
type AnnouncementPage struct {
	AnnouncementPart
	Draft        []byte
	Cursor, Next string
	Last         bool // the part is done with it
	Users        []string
	Group        string
}

// NewAnnouncement is an announcement to be made. It is for everyone, or for Groups and Users, each named once.
type NewAnnouncement struct {
	ID            string
	Draft         []byte // JSON of what does not change of it: the service's own affair
	StartMs       int64  // 0: now
	Priority      Priority
	Page          int // users of a page
	All           bool
	Groups, Users []string
}

// AnnouncementRecord is an announcement as it is stored.
type AnnouncementRecord struct {
	ID                       string
	Place                    int64 // in the list of all: higher for newer ones; set by Announcements
	Draft                    []byte
	State                    AnnouncementState
	Run                      int64 // the newest; 0: none has begun
	NextMs                   int64 // when the next run begins; 0: none will
	CreatedMs                int64
	Total, Delivered, Failed int64 // of the newest run; before the first the targets, where they are named
}

// AnnouncementStore keeps announcements.
type AnnouncementStore interface {
	// CreateAnnouncement makes an announcement and the task that starts it; again with the same id does nothing.
	// ErrOutOfRange where Limits.AnnouncementsMax are kept.
	CreateAnnouncement(ctx context.Context, a NewAnnouncement) error
	// Announcement reads one. ErrNotFound.
	Announcement(ctx context.Context, id string) (AnnouncementRecord, error)
	// Announcements reads up to limit of them, the newest first, those before a place where it is not 0.
	Announcements(ctx context.Context, before int64, limit int) ([]AnnouncementRecord, error)
	// CancelAnnouncement ends one: nobody further gets it. ErrNotFound; ErrConflict where all is done. Several steps.
	CancelAnnouncement(ctx context.Context, id string) error
	// ForgetAnnouncements removes a few of the oldest that have ended, and tells how many. Several steps.
	ForgetAnnouncements(ctx context.Context) (int, error)
}

// AnnouncementRuns does the runs of announcements.
type AnnouncementRuns interface {
	// BeginAnnouncement begins a run when its time has come and the one before is over, and enqueues the task of the next
	// at nextMs (0: none). goOn: start its parts. wait: ask again after that; 0: it is over or another's turn.
	BeginAnnouncement(ctx context.Context, id string, run, nextMs int64) (goOn bool, wait time.Duration, err error)
	// StartAnnouncement starts the part of a run in each partition, with the task that does it. One step a partition.
	StartAnnouncement(ctx context.Context, id string, run int64) error
	// AnnouncementPage reads what comes next in a part; nil: nothing does.
	AnnouncementPage(ctx context.Context, part AnnouncementPart) (*AnnouncementPage, error)
	// AnnounceToUsers puts the item into the inboxes of a page, as one of the server's own; To is not used.
	AnnounceToUsers(ctx context.Context, page *AnnouncementPage, item NewItem) error
	// AnnounceToGroup appends the message to the log of the group of a page, whether the sender is a member or not.
	AnnounceToGroup(ctx context.Context, page *AnnouncementPage, a Append) error
	// CloseAnnouncement writes what came of a run, where every part is done with it.
	CloseAnnouncement(ctx context.Context, id string, run int64) error
}
