package chat

import (
	"cmp"
	"context"
	"encoding/json"
	"time"
)

// Misfire says what becomes of an occurrence that came due while nothing ran.
type Misfire string

// It is sent late, once for all that were missed, or it is skipped.
const (
	MisfireSend Misfire = "send"
	MisfireSkip Misfire = "skip"
)

// ScheduleState is where a schedule is in its life.
type ScheduleState string

// The states of a schedule. The last three are its end.
const (
	SchedulePending   ScheduleState = "pending"
	SchedulePaused    ScheduleState = "paused"
	ScheduleDone      ScheduleState = "done"
	ScheduleFailed    ScheduleState = "failed"
	ScheduleCancelled ScheduleState = "cancelled"
)

// Ended tells whether the schedule will never fire again.
func (s ScheduleState) Ended() bool { return s != SchedulePending && s != SchedulePaused }

// Schedule is a message to be sent later, once or again and again, as its owner sees it.
type Schedule struct {
	ID        string          `json:"id"`
	State     ScheduleState   `json:"state"`
	Owner     string          `json:"owner"`
	Group     string          `json:"group,omitempty"`
	User      string          `json:"user,omitempty"`
	Kind      Kind            `json:"kind,omitempty"`
	Body      *string         `json:"body,omitempty"`
	Data      json.RawMessage `json:"data,omitempty"`
	ClientID  string          `json:"client_id,omitempty"`
	ReplyTo   int64           `json:"reply_to,omitempty"`
	Mentions  []string        `json:"mentions,omitempty"`
	At        *Time           `json:"at,omitempty"`
	Cron      string          `json:"cron,omitempty"`
	Timezone  string          `json:"timezone,omitempty"`
	Misfire   Misfire         `json:"misfire,omitempty"`
	Until     *Time           `json:"until,omitempty"`
	Count     int64           `json:"count,omitempty"`
	NextAt    *Time           `json:"next_at"`
	Sent      int64           `json:"sent"`
	Missed    int64           `json:"missed"`
	LastID    *int64          `json:"last_id"`
	LastAt    *Time           `json:"last_at"`
	LastError *string         `json:"last_error"`
	CreatedAt Time            `json:"created_at"`
}

// ScheduleDraft is what a client asks for when it makes a schedule: to a group or to a user, at a time or by cron.
type ScheduleDraft struct {
	// Key is the Idempotency-Key of the request, or empty: a creation that is repeated with it makes no second schedule.
	Key      string
	Group    string
	User     string
	Body     *string
	Data     json.RawMessage
	At       *time.Time
	Cron     string
	Timezone string
	Misfire  Misfire
	Until    *time.Time
	Count    *int64
}

// ScheduleChange is a change of what is pending; nil fields stay.
type ScheduleChange struct {
	Body     *string
	Data     json.RawMessage
	At       *time.Time
	Cron     *string
	Timezone *string
	Misfire  *Misfire
	Until    *time.Time
	Count    *int64
	Paused   *bool
}

// SchedulePlan is what was planned, by whom and for whom. Stores keep it as JSON.
type SchedulePlan struct {
	Owner    string          `json:"owner"`
	Operator bool            `json:"operator,omitempty"` // the owner was one when the schedule was made
	Group    string          `json:"group,omitempty"`
	Epoch    string          `json:"epoch,omitempty"` // of the group: a later one of the same id is another
	User     string          `json:"user,omitempty"`
	Kind     Kind            `json:"kind"`
	Body     *string         `json:"body,omitempty"`
	Data     json.RawMessage `json:"data,omitempty"`
	ClientID string          `json:"client_id,omitempty"`
	ReplyTo  int64           `json:"reply_to,omitempty"`
	Mentions []string        `json:"mentions,omitempty"`
	AtMs     int64           `json:"at_ms,omitempty"` // of one that fires once
	Cron     string          `json:"cron,omitempty"`  // of one that recurs
	Timezone string          `json:"timezone,omitempty"`
	Misfire  Misfire         `json:"misfire"`
	UntilMs  int64           `json:"until_ms,omitempty"`
	Count    int64           `json:"count,omitempty"`
}

func (p SchedulePlan) recurs() bool { return p.Cron != "" }

// ScheduleRecord is a schedule as a store keeps it. Every change raises Version, and the task of an occurrence carries the
// version that it is for: a task of an earlier one does nothing.
type ScheduleRecord struct {
	ID        string
	Plan      SchedulePlan
	State     ScheduleState
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
func (r ScheduleRecord) view() Schedule {
	p := r.Plan
	v := Schedule{
		ID: r.ID, State: r.State, Owner: p.Owner, Group: p.Group, User: p.User, Kind: p.Kind, Body: p.Body, Data: p.Data,
		ClientID: p.ClientID, ReplyTo: p.ReplyTo, Mentions: p.Mentions, Cron: p.Cron, Misfire: p.Misfire, Count: p.Count,
		Sent: r.Sent, Missed: r.Missed, CreatedAt: TimeMs(r.CreatedMs),
	}
	if p.recurs() {
		v.Timezone = cmp.Or(p.Timezone, "UTC")
	} else {
		v.At = timeOf(p.AtMs)
	}
	if p.UntilMs != 0 {
		v.Until = timeOf(p.UntilMs)
	}
	if r.State == SchedulePending {
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

func timeOf(ms int64) *Time {
	t := TimeMs(ms)
	return &t
}

// NewSchedule is the record of a schedule to be made.
type NewSchedule struct {
	Plan    SchedulePlan
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
	NextMs  int64 // the occurrence after this one; 0: there is none
	Missed  int64 // occurrences that are over without a message
	Refused Code  // not empty: nothing is sent, for this reason
	Epoch   string
	Append  *Append  // to a group
	Item    *NewItem // or to a user
	Failed  ScheduleFailedTask
}

// CodeMissed is why an occurrence was not sent that came due while nothing ran. It stands in last_error only.
const CodeMissed Code = "missed"

// FiringOutcome is what became of a firing.
type FiringOutcome string

// The outcomes. A firing is stale when the schedule changed since, early before its time.
const (
	FiringSent    FiringOutcome = "sent"
	FiringRefused FiringOutcome = "refused"
	FiringStale   FiringOutcome = "stale"
	FiringEarly   FiringOutcome = "early"
)

// Fired is the answer to a Firing.
type Fired struct {
	Outcome FiringOutcome
	Wait    time.Duration // how much too early
}

// Kinds of the tasks of schedules, with the JSON of their payload. They live in the partition of the target.
const (
	TaskSchedule       = "schedule"        // ScheduleTask: fire an occurrence
	TaskScheduleFailed = "schedule_failed" // ScheduleFailedTask: tell the owner
	TaskScheduleEnd    = "schedule_end"    // ScheduleTask: forget a schedule that ended a day ago
)

// ScheduleTask names one version of a schedule.
type ScheduleTask struct {
	Schedule string `json:"schedule"`
	Version  int64  `json:"version"`
}

// ScheduleFailedTask tells of an occurrence that sent nothing. The store adds Code.
type ScheduleFailedTask struct {
	Schedule string `json:"schedule"`
	Version  int64  `json:"version"`
	Owner    string `json:"owner"`
	Group    string `json:"group,omitempty"`
	User     string `json:"user,omitempty"`
	AtMs     int64  `json:"at_ms"` // when it was to be sent
	Code     Code   `json:"code,omitempty"`
}

// ScheduleStore keeps schedules, each in the partition of its target, and the tasks that fire them: every step below that
// changes when a schedule fires changes its task in the same step.
type ScheduleStore interface {
	// Clock is the clock that decides what is due, in ms.
	Clock(ctx context.Context) (int64, error)
	// CreateSchedule makes a schedule and puts it into its owner's index (before: an index may name what is not there,
	// never the reverse). A key that is known gives the schedule as it is now. ErrKeyReused; ErrOutOfRange where the
	// owner has as many as may be, ended ones not counted.
	CreateSchedule(ctx context.Context, n NewSchedule) (r ScheduleRecord, duplicate bool, err error)
	// Schedule reads one, with the clock of the store. ErrNotFound.
	Schedule(ctx context.Context, id string) (r ScheduleRecord, nowMs int64, err error)
	// Schedules pages through those of an owner, the oldest first, at most limit and about bytesMax of them. after is ""
	// or what next was, which clients get as it is: anything else is CodeInvalid.
	Schedules(ctx context.Context, owner, after string, limit, bytesMax int) (page []ScheduleRecord, next string, err error)
	// ChangeSchedule replaces Plan, State (pending or paused) and NextMs of a record that was read. ErrConflict where it
	// changed since, or has ended.
	ChangeSchedule(ctx context.Context, r ScheduleRecord) (ScheduleRecord, error)
	// CancelSchedule ends a schedule: once it has returned, nothing fires. One that is cancelled already is no error,
	// one that ended otherwise is ErrConflict.
	CancelSchedule(ctx context.Context, id string) error
	// Fire sends, and writes what became of it, in one step. A refusal is an outcome, not an error, but where Run is
	// set: then it is returned and nothing changes; ErrConflict for one that has ended.
	Fire(ctx context.Context, f Firing) (Fired, error)
	// ForgetSchedule removes one that has ended, and its place in the index. Anything else stays.
	ForgetSchedule(ctx context.Context, id string) error
}
