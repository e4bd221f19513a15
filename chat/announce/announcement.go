package announce

import (
	"time"

	"github.com/chatd/chatd/chat"
)

// State is where an announcement is in its life.
type State string

// The states of an announcement. One that recurs is pending between its runs.
const (
	Pending   State = "pending"
	Running   State = "running"
	Done      State = "done"
	Cancelled State = "cancelled"
)

// Target is whom an announcement is for: everyone, or groups and users.
type Target struct {
	All    bool     `json:"all,omitempty"`
	Groups []string `json:"groups,omitempty"`
	Users  []string `json:"users,omitempty"`
}

// Plan is what does not change of an announcement, as it is stored.
type Plan struct {
	From string `json:"from"`
	To   Target `json:"to"`
	chat.Content
	At       *chat.Time    `json:"at,omitempty"`
	Cron     string        `json:"cron,omitempty"`
	Timezone string        `json:"timezone,omitempty"`
	Priority chat.Priority `json:"priority"`
}

// Announcement is what operators see of an announcement. The counts are of its newest run.
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

// Draft is what an operator asks to be announced.
type Draft struct {
	// Key is the Idempotency-Key of the request, or empty: repeated with it, and with the same content, it is announced
	// once.
	Key      string
	To       Target
	Content  chat.Content  // text or data
	At       *time.Time    // nil: now, or what Cron says
	Cron     string        // recurring
	Timezone string        // of Cron; empty: UTC
	Priority chat.Priority // empty: low
}

// Kinds of the tasks of announcements, with the JSON of their payload.
const (
	TaskRun  = "announce"      // RunTask: begins a run and starts its parts
	TaskPart = "announce_page" // Part: does its pages, one after the other
)

// RunTask names one run of an announcement: 1, or which of them where it recurs.
type RunTask struct {
	Announcement string `json:"announcement"`
	Run          int64  `json:"run"`
}

// Part is what of a run lies in one partition.
type Part struct {
	Announcement string `json:"announcement"`
	Run          int64  `json:"run"`
	Partition    int    `json:"partition"`
}

// Batch is what comes next in a part: some users, or one group. It counts once, however often it is done: where
// the part has moved on from Cursor, nothing happens.
type Batch struct {
	Part
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
	Priority      chat.Priority
	Page          int // users of a page
	All           bool
	Groups, Users []string
}

// Record is an announcement as it is stored.
type Record struct {
	ID                       string
	Position                 int64 // in the list of all: higher for newer ones; set by Announcements
	Draft                    []byte
	State                    State
	Run                      int64 // the newest; 0: none has begun
	NextMs                   int64 // when the next run begins; 0: none will
	CreatedMs                int64
	Total, Delivered, Failed int64 // of the newest run; before the first the targets, where they are named
}
