package client

import (
	"context"
	"encoding/json"
	"net/http"
	"time"
)

// AuditEntry is what somebody did to somebody or something.
type AuditEntry struct {
	ID     string          `json:"id"`
	At     time.Time       `json:"at"`
	Actor  string          `json:"actor"`         // a user, or a key as key:<id>; empty: an erased person
	Via    string          `json:"via,omitempty"` // the key by which it was done
	Action string          `json:"action"`
	Group  string          `json:"group,omitempty"`
	User   string          `json:"user,omitempty"` // whom it was done to
	Detail json.RawMessage `json:"detail"`         // an object, by action
}

// AuditQuery says which entries are wanted. What is empty does not count.
type AuditQuery struct {
	User   string // who did it, or whom it was done to
	Group  string
	Action string // such as member.ban
}

// Audit lists who did what, the newest first, a page at a time, which may be short, or empty, while next says that there is more. For
// operators, and with a group for who manages it.
func (c *Client) Audit(ctx context.Context, q AuditQuery, page Page) (entries []AuditEntry, next string, err error) {
	query := page.query()
	for name, value := range map[string]string{"user": q.User, "group": q.Group, "action": q.Action} {
		if value != "" {
			query.Set(name, value)
		}
	}
	var answer struct {
		Entries []AuditEntry `json:"entries"`
		Next    string       `json:"next"`
	}
	err = c.do(ctx, call{method: http.MethodGet, path: []string{"audit"}, query: query, again: true}, &answer)
	return answer.Entries, answer.Next, err
}
