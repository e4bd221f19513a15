package schedule

import (
	"cmp"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/queue/cron"
)

const nextTimesMax = 3 // occurrences to come that a schedule shows

// Misfire decides what happens to an occurrence that came due while no node ran.
type Misfire string

// Send it late, once for all that were missed, or skip it.
const (
	MisfireSend Misfire = "send"
	MisfireSkip Misfire = "skip"
)

// State is the state of a schedule.
type State string

// The states of a schedule. The last three are final.
const (
	Pending   State = "pending"
	Paused    State = "paused"
	Done      State = "done"
	Failed    State = "failed"
	Cancelled State = "cancelled"
)

// Ended reports whether the schedule will never fire again.
func (s State) Ended() bool { return s != Pending && s != Paused }

// Schedule is a message to be sent later, once or recurring, as its owner sees it.
type Schedule struct {
	ID    string `json:"id"`
	State State  `json:"state"`
	Owner string `json:"owner"`
	Group string `json:"group,omitempty"`
	User  string `json:"user,omitempty"`
	chat.Content
	At       *chat.Time `json:"at,omitempty"`
	Cron     string     `json:"cron,omitempty"`
	Timezone string     `json:"timezone,omitempty"`
	Misfire  Misfire    `json:"misfire,omitempty"`
	Until    *chat.Time `json:"until,omitempty"`
	Count    int64      `json:"count,omitempty"`
	NextAt   *chat.Time `json:"next_at"`
	// NextTimes are the next occurrences of one that recurs, NextAt first, three at most.
	NextTimes []chat.Time `json:"next_times,omitempty"`
	Sent      int64       `json:"sent"`
	Missed    int64       `json:"missed"`
	LastID    *int64      `json:"last_id"`
	LastAt    *chat.Time  `json:"last_at"`
	LastError *string     `json:"last_error"`
	CreatedAt chat.Time   `json:"created_at"`
}

// Draft is a schedule that a client asks for: to a group or to a user, at a time or by cron.
type Draft struct {
	// Key is the Idempotency-Key of the request, or empty: a repeat with the same key does not create a second
	// schedule.
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

// Change changes a schedule that has not ended; nil fields stay.
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

// Plan is what to send, from whom and to whom. Stores keep it as JSON.
type Plan struct {
	Owner    string `json:"owner"`
	Via      string `json:"via,omitempty"`      // id of the key by which a program made it for the owner
	Operator bool   `json:"operator,omitempty"` // the owner was an operator when the schedule was created
	Group    string `json:"group,omitempty"`
	Epoch    string `json:"epoch,omitempty"` // of the group: the same id with a later epoch is another group
	User     string `json:"user,omitempty"`
	chat.Content
	AtMs     int64   `json:"at_ms,omitempty"` // of a schedule that fires once
	Cron     string  `json:"cron,omitempty"`  // of a recurring one
	Timezone string  `json:"timezone,omitempty"`
	Misfire  Misfire `json:"misfire"`
	UntilMs  int64   `json:"until_ms,omitempty"`
	Count    int64   `json:"count,omitempty"`
}

func (p Plan) recurs() bool { return p.Cron != "" }

// Record is a schedule as a store keeps it. Every change raises Version, and the task of an occurrence carries the
// version that it is for: a task with an earlier one does nothing.
type Record struct {
	ID        string
	Plan      Plan
	State     State
	Version   int64
	CreatedMs int64
	NextMs    int64 // the next occurrence, while it is pending
	Fired     int64 // occurrences that are over, except for missed ones
	Sent      int64 // messages sent
	Missed    int64
	LastID    int64 // of the newest message; for a user, the seq
	LastMs    int64
	LastError string
}

// view returns the record as its owner sees it.
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
		v.NextAt, v.NextTimes = timeOf(r.NextMs), r.nextTimes()
	}
	if r.Sent > 0 {
		v.LastID, v.LastAt = &r.LastID, timeOf(r.LastMs)
	}
	if r.LastError != "" {
		v.LastError = &r.LastError
	}
	return v
}

// nextTimes are the occurrences to come of a record that is pending and recurs, three at most.
func (r Record) nextTimes() (times []chat.Time) {
	plan, err := cron.Parse(r.Plan.Cron, r.Plan.Timezone)
	if err != nil || !r.Plan.recurs() {
		return nil
	}
	left := int64(nextTimesMax)
	if r.Plan.Count > 0 {
		left = min(left, r.Plan.Count-r.Fired)
	}
	for at, ok := time.UnixMilli(r.NextMs), true; ok && left > 0 && (r.Plan.UntilMs == 0 || at.UnixMilli() <= r.Plan.UntilMs); left-- {
		times = append(times, chat.TimeMs(at.UnixMilli()))
		at, ok = plan.Next(at)
	}
	return times
}

func timeOf(ms int64) *chat.Time {
	t := chat.TimeMs(ms)
	return &t
}

// NewSchedule is the record of a schedule to create.
type NewSchedule struct {
	Plan    Plan
	NextMs  int64
	Key     string          // names the schedule for its owner and target; empty: it gets a name of its own
	Content string          // hash of the request, compared if Key is known already
	Release *chat.ReviewEnd `json:"-"` // of one that was reviewed: the review ends with it
}

// Firing is one occurrence to be fired, or a schedule to be sent now.
type Firing struct {
	ID       string
	Version  int64  // the version of the occurrence
	Run      string // instead of an occurrence: send now; names this request, so that its repeat sends nothing
	Recurs   bool
	Operator bool      // the owner was one when the schedule was made
	NextMs   int64     // the occurrence after this one; 0: there is none
	Missed   int64     // occurrences that passed without a message
	Refused  chat.Code // if not empty, nothing is sent, for this reason
	Epoch    string
	Append   *chat.Append  // to a group
	Item     *chat.NewItem // or to a user
	Failed   FailedTask
}

// CodeMissed is the reason why an occurrence was skipped that came due while no node ran. It appears only in
// last_error.
const CodeMissed chat.Code = "missed"

// Outcome is the result of a firing.
type Outcome string

// The outcomes. A firing is stale if the schedule has changed since, and early if it is not due yet.
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
	TaskFailed = "schedule_failed" // FailedTask: notify the owner
	TaskForget = "schedule_end"    // FireTask: remove a schedule that ended a day ago
)

// FireTask names one version of a schedule.
type FireTask struct {
	Schedule string `json:"schedule"`
	Version  int64  `json:"version"`
}

// FailedTask reports an occurrence that sent nothing. The store adds Code.
type FailedTask struct {
	Schedule string    `json:"schedule"`
	Version  int64     `json:"version"`
	Owner    string    `json:"owner"`
	Group    string    `json:"group,omitempty"`
	User     string    `json:"user,omitempty"`
	AtMs     int64     `json:"at_ms"` // when it was to be sent
	Code     chat.Code `json:"code,omitempty"`
}
