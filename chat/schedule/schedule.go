package schedule

import (
	"cmp"
	"time"

	"github.com/chatd/chatd/chat"
)

// Misfire says what becomes of an occurrence that came due while nothing ran.
type Misfire string

// It is sent late, once for all that were missed, or it is skipped.
const (
	MisfireSend Misfire = "send"
	MisfireSkip Misfire = "skip"
)

// State is where a schedule is in its life.
type State string

// The states of a schedule. The last three are its end.
const (
	Pending   State = "pending"
	Paused    State = "paused"
	Done      State = "done"
	Failed    State = "failed"
	Cancelled State = "cancelled"
)

// Ended tells whether the schedule will never fire again.
func (s State) Ended() bool { return s != Pending && s != Paused }

// Schedule is a message to be sent later, once or again and again, as its owner sees it.
type Schedule struct {
	ID    string `json:"id"`
	State State  `json:"state"`
	Owner string `json:"owner"`
	Group string `json:"group,omitempty"`
	User  string `json:"user,omitempty"`
	chat.Content
	At        *chat.Time `json:"at,omitempty"`
	Cron      string     `json:"cron,omitempty"`
	Timezone  string     `json:"timezone,omitempty"`
	Misfire   Misfire    `json:"misfire,omitempty"`
	Until     *chat.Time `json:"until,omitempty"`
	Count     int64      `json:"count,omitempty"`
	NextAt    *chat.Time `json:"next_at"`
	Sent      int64      `json:"sent"`
	Missed    int64      `json:"missed"`
	LastID    *int64     `json:"last_id"`
	LastAt    *chat.Time `json:"last_at"`
	LastError *string    `json:"last_error"`
	CreatedAt chat.Time  `json:"created_at"`
}

// Draft is what a client asks for when it makes a schedule: to a group or to a user, at a time or by cron.
type Draft struct {
	// Key is the Idempotency-Key of the request, or empty: a creation that is repeated with it makes no second schedule.
	Key      string
	Group    string
	User     string
	Content  chat.Content // text or data
	At       *time.Time
	Cron     string
	Timezone string
	Misfire  Misfire
	Until    *time.Time
	Count    *int64
}

// Change is a change of what is pending; nil fields stay.
type Change struct {
	Content  chat.Content // a new body, new data or both
	At       *time.Time
	Cron     *string
	Timezone *string
	Misfire  *Misfire
	Until    *time.Time
	Count    *int64
	Paused   *bool
}

// Plan is what was planned, by whom and for whom. Stores keep it as JSON.
type Plan struct {
	Owner    string `json:"owner"`
	Operator bool   `json:"operator,omitempty"` // the owner was one when the schedule was made
	Group    string `json:"group,omitempty"`
	Epoch    string `json:"epoch,omitempty"` // of the group: a later one of the same id is another
	User     string `json:"user,omitempty"`
	chat.Content
	AtMs     int64   `json:"at_ms,omitempty"` // of one that fires once
	Cron     string  `json:"cron,omitempty"`  // of one that recurs
	Timezone string  `json:"timezone,omitempty"`
	Misfire  Misfire `json:"misfire"`
	UntilMs  int64   `json:"until_ms,omitempty"`
	Count    int64   `json:"count,omitempty"`
}

func (p Plan) recurs() bool { return p.Cron != "" }

// Record is a schedule as a store keeps it. Every change raises Version, and the task of an occurrence carries the
// version that it is for: a task of an earlier one does nothing.
type Record struct {
	ID        string
	Plan      Plan
	State     State
	Version   int64
	CreatedMs int64
	NextMs    int64 // the occurrence that comes next, while it is pending
	Fired     int64 // occurrences that are over, but for the missed ones
	Sent      int64 // messages
	Missed    int64
	LastID    int64 // of the newest message; the seq, to a user
	LastMs    int64
	LastError string
}

// view is the record as its owner sees it.
func (r Record) view() Schedule {
	p := r.Plan
	v := Schedule{
		ID: r.ID, State: r.State, Owner: p.Owner, Group: p.Group, User: p.User, Content: p.Content,
		Cron: p.Cron, Misfire: p.Misfire, Count: p.Count,
		Sent: r.Sent, Missed: r.Missed, CreatedAt: chat.TimeMs(r.CreatedMs),
	}
	if p.recurs() {
		v.Timezone = cmp.Or(p.Timezone, "UTC")
	} else {
		v.At = timeOf(p.AtMs)
	}
	if p.UntilMs != 0 {
		v.Until = timeOf(p.UntilMs)
	}
	if r.State == Pending {
		v.NextAt = timeOf(r.NextMs)
	}
	if r.Sent > 0 {
		v.LastID, v.LastAt = &r.LastID, timeOf(r.LastMs)
	}
	if r.LastError != "" {
		v.LastError = &r.LastError
	}
	return v
}

func timeOf(ms int64) *chat.Time {
	t := chat.TimeMs(ms)
	return &t
}

// NewSchedule is the record of a schedule to be made.
type NewSchedule struct {
	Plan    Plan
	NextMs  int64
	Key     string // names the schedule for its owner and target, or empty: then it gets a name of its own
	Content string // hash of what was asked for, compared where Key is known already
}

// Firing is one occurrence to be fired, or a schedule to be sent now.
type Firing struct {
	ID      string
	Version int64  // the occurrence is that of this version
	Run     string // instead of an occurrence: send now; a name of this request, so that its repeat sends nothing
	Recurs  bool
	NextMs  int64     // the occurrence after this one; 0: there is none
	Missed  int64     // occurrences that are over without a message
	Refused chat.Code // not empty: nothing is sent, for this reason
	Epoch   string
	Append  *chat.Append  // to a group
	Item    *chat.NewItem // or to a user
	Failed  FailedTask
}

// CodeMissed is why an occurrence was not sent that came due while nothing ran. It stands in last_error only.
const CodeMissed chat.Code = "missed"

// Outcome is what became of a firing.
type Outcome string

// The outcomes. A firing is stale when the schedule changed since, early before its time.
const (
	OutcomeSent    Outcome = "sent"
	OutcomeRefused Outcome = "refused"
	OutcomeStale   Outcome = "stale"
	OutcomeEarly   Outcome = "early"
)

// Fired is the answer to a Firing.
type Fired struct {
	Outcome Outcome
	Wait    time.Duration // how much too early
}

// Kinds of the tasks of schedules, with the JSON of their payload. They live in the partition of the target.
const (
	TaskFire   = "schedule"        // FireTask: fire an occurrence
	TaskFailed = "schedule_failed" // FailedTask: tell the owner
	TaskForget = "schedule_end"    // FireTask: forget a schedule that ended a day ago
)

// FireTask names one version of a schedule.
type FireTask struct {
	Schedule string `json:"schedule"`
	Version  int64  `json:"version"`
}

// FailedTask tells of an occurrence that sent nothing. The store adds Code.
type FailedTask struct {
	Schedule string    `json:"schedule"`
	Version  int64     `json:"version"`
	Owner    string    `json:"owner"`
	Group    string    `json:"group,omitempty"`
	User     string    `json:"user,omitempty"`
	AtMs     int64     `json:"at_ms"` // when it was to be sent
	Code     chat.Code `json:"code,omitempty"`
}
