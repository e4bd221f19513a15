package client

import (
	"context"
	"net/http"
	"strconv"
	"time"
)

// QuorumNeed is who has to read a message; exactly one of these.
type QuorumNeed struct {
	Percent int64    `json:"percent,omitempty"`
	Count   int64    `json:"count,omitempty"`
	Users   []string `json:"users,omitempty"`
}

// QuorumReminder goes to those who have not read AfterS seconds after it was asked; Via is inbox or push, and empty is inbox.
type QuorumReminder struct {
	AfterS int64  `json:"after_s"`
	Via    string `json:"via,omitempty"`
}

// QuorumDraft asks that a message be read.
type QuorumDraft struct {
	Need     QuorumNeed       `json:"need"`
	Until    time.Time        `json:"until"`
	Remind   []QuorumReminder `json:"remind,omitempty"`
	Escalate []string         `json:"escalate,omitempty"` // members who hear of it if too few have read
}

// Quorum is how a quorum stands.
type Quorum struct {
	State     string     `json:"state"` // open, met, missed or cancelled
	Group     string     `json:"group"`
	ID        int64      `json:"id"`
	By        string     `json:"by"`
	Need      QuorumNeed `json:"need"`
	Until     time.Time  `json:"until"`
	DecidedAt time.Time  `json:"decided_at"`
	Of        int64      `json:"of"`
	Read      int64      `json:"read"`
	Pending   []string   `json:"pending"` // of this page
	Next      string     `json:"next"`
	Escalate  []string   `json:"escalate"`
	Reminders []struct {
		QuorumReminder
		At   time.Time `json:"at"`
		Sent bool      `json:"sent"`
	} `json:"reminders"` // in the order of their times
}

func quorumPath(group string, id int64) []string {
	return []string{"groups", group, "messages", strconv.FormatInt(id, 10), "quorum"}
}

// PutQuorum asks that a message be read, for its author and who manages the group. Repeating it is harmless.
func (c *Client) PutQuorum(ctx context.Context, group string, id int64, d QuorumDraft) (Quorum, error) {
	return answerTo[Quorum](ctx, c, call{method: http.MethodPut, path: quorumPath(group, id), body: d, again: true})
}

// Quorum tells how the quorum of a message stands.
func (c *Client) Quorum(ctx context.Context, group string, id int64, page Page) (q Quorum, err error) {
	err = c.do(ctx, call{method: http.MethodGet, path: quorumPath(group, id), query: page.query(), again: true}, &q)
	return q, err
}

// DeleteQuorum cancels one that is open.
func (c *Client) DeleteQuorum(ctx context.Context, group string, id int64) error {
	return c.do(ctx, call{method: http.MethodDelete, path: quorumPath(group, id), again: true}, nil)
}
