package client

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
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
	User     string
	Profile  ProfileChange // what it sets, the user cannot change
	Disabled *bool         // nil: it stays
	Operator *bool         // role admin; nil: it stays
}

// MarshalJSON implements json.Marshaler.
func (u UserChange) MarshalJSON() ([]byte, error) {
	fields := u.Profile.fields()
	fields["user"] = u.User
	if u.Disabled != nil {
		fields["disabled"] = *u.Disabled
	}
	if u.Operator != nil {
		fields["role"] = nil
		if *u.Operator {
			fields["role"] = "admin"
		}
	}
	return json.Marshal(fields)
}

// User is a user as others see them.
type User struct {
	User    string          `json:"user"`
	Name    string          `json:"name"`
	Picture string          `json:"picture"` // an https address, or the path of an avatar of the server
	Data    json.RawMessage `json:"data"`
	Status  *UserStatus     `json:"status"`
	Version int64           `json:"version"` // 0: there is no profile

	// For operators.
	Role     string `json:"role"` // admin, or empty
	Disabled bool   `json:"disabled"`
	// LastSeenAt is when they were last there, for others to 5 minutes, and only from Client.User. The zero time: nobody knows, or they hide.
	LastSeenAt time.Time `json:"last_seen_at"`
}

// UserStatus is what a user says about the moment.
type UserStatus struct {
	Text  string     `json:"text"`
	Emoji string     `json:"emoji,omitempty"`
	Until *time.Time `json:"until,omitempty"` // nil: until it is changed
}

// User returns a user whom the caller may see.
func (c *Client) User(ctx context.Context, user string) (User, error) {
	return answerTo[User](ctx, c, call{method: http.MethodGet, path: []string{"users", user}, again: true})
}

// FindUsers returns a page of the users whose id, or a word of whose name, begins with q. cursor is that of the page before, empty for the first one.
func (c *Client) FindUsers(ctx context.Context, q, cursor string) (found []User, next string, err error) {
	query := url.Values{"q": {q}}
	if cursor != "" {
		query.Set("cursor", cursor)
	}
	answer, err := answerTo[struct {
		Users []User
		Next  string
	}](ctx, c, call{method: http.MethodGet, path: []string{"users"}, query: query, again: true})
	return answer.Users, answer.Next, err
}

// Users returns those of up to 100 users whom the caller may see.
func (c *Client) Users(ctx context.Context, ids ...string) ([]User, error) {
	answer, err := answerTo[struct{ Users []User }](ctx, c, call{method: http.MethodGet, path: []string{"users"},
		query: url.Values{"ids": {strings.Join(ids, ",")}}, again: true})
	return answer.Users, err
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
