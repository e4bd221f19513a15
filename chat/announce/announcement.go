package announce

import (
	"time"

	"github.com/chatd/chatd/chat"
)

// State is the state of an announcement.
type State string

// The states of an announcement. One that recurs is pending between its runs.
const (
	Pending   State = "pending"
	Running   State = "running"
	Done      State = "done"
	Cancelled State = "cancelled"
)

// Target is the audience of an announcement: everyone, or groups and users.
type Target struct {
	All    bool     `json:"all,omitempty"`
	Groups []string `json:"groups,omitempty"`
	Users  []string `json:"users,omitempty"`
}

// Plan is the part of an announcement that never changes, as it is stored.
type Plan struct {
	From string `json:"from"`
	To   Target `json:"to"`
	chat.Content
	At       *chat.Time    `json:"at,omitempty"`
	Cron     string        `json:"cron,omitempty"`
	Timezone string        `json:"timezone,omitempty"`
	Priority chat.Priority `json:"priority"`
}

// Announcement is an announcement as operators see it. The counts are those of its newest run.
type Announcement struct {
	ID    string `json:"id"`
	State State  `json:"state"`
	Plan
	NextAt    *chat.Time `json:"next_at"`
	Total     int64      `json:"total"`
	Delivered int64      `json:"delivered"`
	Failed    int64      `json:"failed"`
	CreatedAt chat.Time  `json:"created_at"`
}

// Draft is an announcement that an operator asks for.
type Draft struct {
	// Key is the Idempotency-Key of the request, or empty: a repeat with the same key and content does not announce
	// twice.
	Key      string
	To       Target
	Content  chat.Content  // text or data
	At       *time.Time    // nil: now, or as Cron says
	Cron     string        // recurring
	Timezone string        // of Cron; empty: UTC
	Priority chat.Priority // empty: low
}

// Kinds of the tasks of announcements, with the JSON of their payload.
const (
	TaskRun  = "announce"      // RunTask: starts a run and its parts
	TaskPart = "announce_page" // Part: delivers its batches, one after the other
)

// RunTask names one run of an announcement; runs count from 1.
type RunTask struct {
	Announcement string `json:"announcement"`
	Run          int64  `json:"run"`
}

// Part is the share of a run in one partition.
type Part struct {
	Announcement string `json:"announcement"`
	Run          int64  `json:"run"`
	Partition    int    `json:"partition"`
}

// Batch is the next recipients of a part: some users, or one group. It counts once, however often it is repeated: if
// the part has advanced beyond Cursor, nothing happens.
type Batch struct {
	Part
	Draft        []byte
	Cursor, Next string
	Last         bool // the part is complete with it
	Users        []string
	Group        string
}

// NewAnnouncement is an announcement to create. It is for everyone, or for Groups and Users, each named once.
type NewAnnouncement struct {
	ID            string
	Draft         []byte // JSON of the Plan; only the service reads it
	StartMs       int64  // 0: now
	Priority      chat.Priority
	Page          int // users of a batch
	All           bool
	Groups, Users []string
}

// Record is an announcement as it is stored.
type Record struct {
	ID                       string
	Position                 int64 // in the list of announcements: higher for newer ones; set by Announcements
	Draft                    []byte
	State                    State
	Run                      int64 // the newest; 0: none has started
	NextMs                   int64 // when the next run starts; 0: there is none
	CreatedMs                int64
	Total, Delivered, Failed int64 // of the newest run; before the first, Total is the number of named targets
}
