package client

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"time"
)

// AnnouncementTarget is the audience of an announcement: everyone the server has ever known, or groups and users.
type AnnouncementTarget struct {
	All    bool     `json:"all,omitempty"`
	Groups []string `json:"groups,omitempty"`
	Users  []string `json:"users,omitempty"`
}

// AnnouncementDraft is an announcement to make: text, data, or both; now, at a time, or recurring.
type AnnouncementDraft struct {
	To       AnnouncementTarget `json:"to"`
	Body     string             `json:"body,omitempty"`
	Data     json.RawMessage    `json:"data,omitempty"`
	At       *time.Time         `json:"at,omitempty"`
	Cron     string             `json:"cron,omitempty"`     // five fields, six with the seconds first, or @daily and the like
	Timezone string             `json:"timezone,omitempty"` // an IANA name; UTC if empty
	Priority string             `json:"priority,omitempty"` // high, normal or low; low if empty

	// Key makes repeated requests create only one announcement (1 to 64 printable ASCII); generated if empty.
	Key string `json:"-"`
}

// Announcement is an announcement and its progress. The counts are those of its newest run.
type Announcement struct {
	ID        string             `json:"id"`
	State     string             `json:"state"` // pending, running, done or cancelled
	From      string             `json:"from"`
	To        AnnouncementTarget `json:"to"` // empty in the answer to Announce: it may be long
	Body      string             `json:"body,omitempty"`
	Data      json.RawMessage    `json:"data,omitempty"`
	At        *time.Time         `json:"at,omitempty"`
	Cron      string             `json:"cron,omitempty"`
	Timezone  string             `json:"timezone,omitempty"`
	Priority  string             `json:"priority"`
	NextAt    *time.Time         `json:"next_at"`
	Total     int64              `json:"total"`
	Delivered int64              `json:"delivered"`
	Failed    int64              `json:"failed"`
	CreatedAt time.Time          `json:"created_at"`
}

// Announce sends a message to the logs of groups and an item to the inboxes of users. For operators.
func (c *Client) Announce(ctx context.Context, draft AnnouncementDraft) (Announcement, error) {
	draft.Key = cmp.Or(draft.Key, NewKey())
	return answerTo[Announcement](ctx, c, call{method: http.MethodPost, path: []string{"announcements"}, body: draft, key: draft.Key, again: true})
}

// Announcements lists all that are kept, newest first. For operators. next is empty after the last page.
func (c *Client) Announcements(ctx context.Context, page Page) (announcements []Announcement, next string, err error) {
	var answer struct {
		Announcements []Announcement `json:"announcements"`
		Next          string         `json:"next"`
	}
	err = c.do(ctx, call{method: http.MethodGet, path: []string{"announcements"}, query: page.query(), again: true}, &answer)
	return answer.Announcements, answer.Next, err
}

// Announcement shows an operator the progress of an announcement.
func (c *Client) Announcement(ctx context.Context, id string) (Announcement, error) {
	return answerTo[Announcement](ctx, c, call{method: http.MethodGet, path: []string{"announcements", id}, again: true})
}

// CancelAnnouncement ends an announcement: nobody else gets it. What was delivered stays.
func (c *Client) CancelAnnouncement(ctx context.Context, id string) error {
	return c.do(ctx, call{method: http.MethodDelete, path: []string{"announcements", id}, again: true}, nil)
}
