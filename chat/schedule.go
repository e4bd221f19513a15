package chat

import "encoding/json"

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
