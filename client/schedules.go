package client

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"time"
)

// States of schedules. The last three are final.
const (
	SchedulePending   = "pending"
	SchedulePaused    = "paused"
	ScheduleDone      = "done"
	ScheduleFailed    = "failed"
	ScheduleCancelled = "cancelled"
)

// Schedule is a message to be sent later, once or recurring.
type Schedule struct {
	ID    string `json:"id"`
	State string `json:"state"`
	Owner string `json:"owner"`
	Group string `json:"group,omitempty"`
	User  string `json:"user,omitempty"`
	Content
	At        *time.Time  `json:"at,omitempty"`
	Cron      string      `json:"cron,omitempty"`
	Timezone  string      `json:"timezone,omitempty"`
	Misfire   string      `json:"misfire,omitempty"`
	Until     *time.Time  `json:"until,omitempty"`
	Count     int64       `json:"count,omitempty"`
	NextAt    *time.Time  `json:"next_at"`
	NextTimes []time.Time `json:"next_times,omitempty"` // of one that recurs, NextAt first; three at most
	Sent      int64       `json:"sent"`                 // number of messages
	Missed    int64       `json:"missed"`               // occurrences that were not sent because no node ran
	LastID    *int64      `json:"last_id"`              // of the newest message; for a user, its seq
	LastAt    *time.Time  `json:"last_at"`              //
	LastError *string     `json:"last_error"`           // why the last firing sent nothing, as a code
	CreatedAt time.Time   `json:"created_at"`

	Duplicate bool `json:"duplicate,omitempty"` // of a send with a time: its key was already known
}

// ScheduleDraft is what to send, to a group or to a user, and when: At, or Cron in a Timezone.
type ScheduleDraft struct {
	Group    string          `json:"group,omitempty"`
	User     string          `json:"user,omitempty"`
	Body     string          `json:"body,omitempty"`
	Data     json.RawMessage `json:"data,omitempty"`
	At       *time.Time      `json:"at,omitempty"`
	Cron     string          `json:"cron,omitempty"`     // five fields, six with the seconds first, or @daily and the like
	Timezone string          `json:"timezone,omitempty"` // an IANA name; UTC if empty
	Misfire  string          `json:"misfire,omitempty"`  // send or skip; send if empty
	Until    *time.Time      `json:"until,omitempty"`    // nothing fires after this
	Count    int64           `json:"count,omitempty"`    // maximum of occurrences; 0: none

	// Key makes repeated requests create only one schedule (1 to 64 printable ASCII); generated if empty.
	Key string `json:"-"`
}

// ScheduleChange changes a schedule that has not ended; nil fields stay.
type ScheduleChange struct {
	Body     *string         `json:"body,omitempty"`
	Data     json.RawMessage `json:"data,omitempty"`
	At       *time.Time      `json:"at,omitempty"`
	Cron     *string         `json:"cron,omitempty"`
	Timezone *string         `json:"timezone,omitempty"`
	Misfire  *string         `json:"misfire,omitempty"`
	Until    *time.Time      `json:"until,omitempty"`
	Count    *int64          `json:"count,omitempty"`
	Paused   *bool           `json:"paused,omitempty"`
}

// SendLater schedules a send: the message is sent at the given time with the draft's client id. A repeat with the same
// client id returns the same schedule.
func (c *Client) SendLater(ctx context.Context, group string, draft Draft, at time.Time) (Schedule, error) {
	draft.ClientID = cmp.Or(draft.ClientID, NewKey())
	body := struct {
		Draft
		DeliverAt time.Time `json:"deliver_at"`
	}{draft, at}
	return answerTo[Schedule](ctx, c, call{method: http.MethodPost, path: []string{"groups", group, "messages"}, body: body, again: true})
}

// SendDirectLater schedules an item for a user's inbox, as SendLater does.
func (c *Client) SendDirectLater(ctx context.Context, user string, d Direct, at time.Time) (Schedule, error) {
	d.ClientID = cmp.Or(d.ClientID, NewKey())
	body := struct {
		Direct
		DeliverAt time.Time `json:"deliver_at"`
	}{d, at}
	return answerTo[Schedule](ctx, c, call{method: http.MethodPost, path: []string{"users", user, "messages"}, body: body, again: true})
}

// CreateSchedule schedules a message, once or recurring.
func (c *Client) CreateSchedule(ctx context.Context, draft ScheduleDraft) (Schedule, error) {
	draft.Key = cmp.Or(draft.Key, NewKey())
	return answerTo[Schedule](ctx, c, call{method: http.MethodPost, path: []string{"schedules"}, body: draft, key: draft.Key, again: true})
}

// Schedules lists the caller's schedules, oldest first; ended ones stay for a day. next is empty after the last page.
func (c *Client) Schedules(ctx context.Context, page Page) (schedules []Schedule, next string, err error) {
	return c.schedules(ctx, page.query())
}

func (c *Client) schedules(ctx context.Context, query url.Values) (schedules []Schedule, next string, err error) {
	var answer struct {
		Schedules []Schedule `json:"schedules"`
		Next      string     `json:"next"`
	}
	err = c.do(ctx, call{method: http.MethodGet, path: []string{"schedules"}, query: query, again: true}, &answer)
	return answer.Schedules, answer.Next, err
}

// AllSchedules asks for schedules of anybody: without a field, those that wait for their time; or one of the two.
type AllSchedules struct {
	User    string // all of this user, oldest first
	Failing bool   // those whose last occurrence sent nothing, the newest failure first
}

// AllSchedules lists schedules of anybody, without what they send. For operators, and for keys with the scope ops as far as they reach. A page may
// be short, or even empty, with more to come.
func (c *Client) AllSchedules(ctx context.Context, of AllSchedules, page Page) (schedules []Schedule, next string, err error) {
	query := page.query()
	query.Set("all", "1")
	if of.User != "" {
		query.Set("user", of.User)
	}
	if of.Failing {
		query.Set("failing", "1")
	}
	return c.schedules(ctx, query)
}

// Schedule returns one schedule.
func (c *Client) Schedule(ctx context.Context, id string) (Schedule, error) {
	return answerTo[Schedule](ctx, c, call{method: http.MethodGet, path: []string{"schedules", id}, again: true})
}

// UpdateSchedule changes a schedule; CodeConflict if it has ended. It is not repeated if its outcome is unknown:
// someone else may have changed the same field since.
func (c *Client) UpdateSchedule(ctx context.Context, id string, change ScheduleChange) (Schedule, error) {
	return answerTo[Schedule](ctx, c, call{method: http.MethodPatch, path: []string{"schedules", id}, body: change})
}

// CancelSchedule ends a schedule: after it returns, nothing fires. CodeConflict if it has ended in another way.
func (c *Client) CancelSchedule(ctx context.Context, id string) error {
	return c.do(ctx, call{method: http.MethodDelete, path: []string{"schedules", id}, again: true}, nil)
}

// RunSchedule sends the message now, and only once however often the call is retried. That ends a schedule that fires
// once; a recurring one keeps its plan.
func (c *Client) RunSchedule(ctx context.Context, id string) (Schedule, error) {
	return answerTo[Schedule](ctx, c, call{method: http.MethodPost, path: []string{"schedules", id, "run"}, key: NewKey(), again: true})
}
