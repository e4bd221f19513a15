package chat

import "encoding/json"

// AnnouncementState is where an announcement is in its life.
type AnnouncementState string

// The states of an announcement.
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

// Announcement is what operators see of an announcement.
type Announcement struct {
	ID        string             `json:"id"`
	State     AnnouncementState  `json:"state"`
	From      string             `json:"from"`
	To        AnnouncementTarget `json:"to"`
	Body      *string            `json:"body,omitempty"`
	Data      json.RawMessage    `json:"data,omitempty"`
	At        *Time              `json:"at,omitempty"`
	Cron      string             `json:"cron,omitempty"`
	Timezone  string             `json:"timezone,omitempty"`
	Priority  Priority           `json:"priority"`
	NextAt    *Time              `json:"next_at"`
	Total     int64              `json:"total"`
	Delivered int64              `json:"delivered"`
	Failed    int64              `json:"failed"`
	CreatedAt Time               `json:"created_at"`
}
