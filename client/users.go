package client

import (
	"context"
	"net/http"
	"time"
)

// Session is a live websocket of a user.
type Session struct {
	ID      string    `json:"id"`
	Node    string    `json:"node"` // a random name that the node has until it stops
	Since   time.Time `json:"since"`
	Address string    `json:"address"` // of the client
	Agent   string    `json:"agent"`   // what the client calls itself
	Groups  int       `json:"groups"`  // that the session follows
}

// UserChange is what PutUsers sets of a user.
type UserChange struct {
	User     string `json:"user"`
	Disabled *bool  `json:"disabled,omitempty"` // nil: it stays
}

// UsersChanged says which users were changed, and which could not be.
type UsersChanged struct {
	Users []struct {
		User    string `json:"user"`
		Version int64  `json:"version"`
	} `json:"users"`
	Errors []struct {
		User string `json:"user"`
		Code string `json:"code"`
	} `json:"errors"`
}

// PutUsers changes up to 1,000 users, for operators.
func (c *Client) PutUsers(ctx context.Context, changes []UserChange) (UsersChanged, error) {
	body := struct {
		Users []UserChange `json:"users"`
	}{changes}
	return answerTo[UsersChanged](ctx, c, call{method: http.MethodPut, path: []string{"users"}, body: body, again: true})
}

// Revoke makes void the tokens of a user that were issued at a time or before; the zero time: now. The user may be "me".
func (c *Client) Revoke(ctx context.Context, user string, before time.Time) error {
	body := map[string]time.Time{}
	if !before.IsZero() {
		body["before"] = before.UTC()
	}
	return c.do(ctx, call{method: http.MethodPost, path: []string{"users", user, "revoke"}, body: body}, nil)
}

// Disconnect closes the websockets of a user, who may be "me". Their clients may connect again.
func (c *Client) Disconnect(ctx context.Context, user string) error {
	return c.do(ctx, call{method: http.MethodPost, path: []string{"users", user, "disconnect"}}, nil)
}

// Sessions lists the websockets of a user at all nodes, the newest first. The user may be "me".
func (c *Client) Sessions(ctx context.Context, user string) ([]Session, error) {
	answer, err := answerTo[struct{ Sessions []Session }](ctx, c, call{method: http.MethodGet, path: []string{"users", user, "sessions"}, again: true})
	return answer.Sessions, err
}
