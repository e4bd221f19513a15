package client

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"time"
)

// Scopes of keys. Each route of the API names the one that it needs.
const (
	ScopeGroups   = "groups"
	ScopeUsers    = "users"
	ScopeSend     = "send" // to write as a user
	ScopeRead     = "read" // to read as a user
	ScopeModerate = "moderate"
	ScopeAnnounce = "announce"
	ScopeEvents   = "events"
	ScopeTasks    = "tasks"
	ScopeOps      = "ops"
	ScopeKeys     = "keys"
)

// ActsFor says for which users a key may act. The zero value is none.
type ActsFor struct {
	Any   bool
	Users []string // ids, and beginnings of ids with a star behind them
}

// MarshalJSON writes "any" or the list.
func (a ActsFor) MarshalJSON() ([]byte, error) {
	if a.Any {
		return []byte(`"any"`), nil
	}
	return json.Marshal(a.Users)
}

// UnmarshalJSON reads "any", a list or null.
func (a *ActsFor) UnmarshalJSON(b []byte) error {
	*a = ActsFor{Any: bytes.Equal(b, []byte(`"any"`))}
	if a.Any {
		return nil
	}
	return json.Unmarshal(b, &a.Users)
}

// KeyDraft is a key to create. Name and Scopes are required; zero fields set no bound.
type KeyDraft struct {
	Name      string     `json:"name"`
	Scopes    []string   `json:"scopes"`
	Rate      string     `json:"rate,omitempty"` // such as 100/s:500
	As        ActsFor    `json:"as,omitzero"`
	Groups    []string   `json:"groups,omitempty"` // ids, and beginnings of ids with a star behind them
	From      []string   `json:"from,omitempty"`   // networks in CIDR notation
	ExpiresAt *time.Time `json:"expires_at,omitempty"`

	// RetryKey makes repeated requests create only one key (1 to 64 printable ASCII); generated if empty.
	RetryKey string `json:"-"`
}

// Key is a credential of a program. It takes the place of a token: StaticToken(key.Key).
type Key struct {
	ID         string     `json:"id"`
	Name       string     `json:"name"`
	Scopes     []string   `json:"scopes"`
	Rate       *string    `json:"rate"` // nil: no limit of its own
	As         ActsFor    `json:"as"`
	Groups     []string   `json:"groups"` // nil: all
	From       []string   `json:"from"`   // nil: everywhere
	ExpiresAt  *time.Time `json:"expires_at"`
	CreatedAt  time.Time  `json:"created_at"`
	CreatedBy  string     `json:"created_by"`    // a user, or key:<id>
	LastUsedAt *time.Time `json:"last_used_at"`  // may lag by a minute
	Key        string     `json:"key,omitempty"` // the secret; only in the answers that create or rotate it
}

// KeyChange is a change of a key; nil fields stay. A pointer to a zero value removes the bound.
type KeyChange struct {
	Name      *string
	Scopes    []string
	Rate      *string
	As        *ActsFor
	Groups    *[]string
	From      *[]string
	ExpiresAt *time.Time
}

// MarshalJSON writes null for bounds that go.
func (k KeyChange) MarshalJSON() ([]byte, error) {
	change := map[string]any{}
	set := func(name string, given, gone bool, value any) {
		if gone {
			value = nil
		}
		if given {
			change[name] = value
		}
	}
	set("name", k.Name != nil, false, k.Name)
	set("scopes", k.Scopes != nil, false, k.Scopes)
	set("rate", k.Rate != nil, k.Rate != nil && *k.Rate == "", k.Rate)
	set("as", k.As != nil, k.As != nil && !k.As.Any && len(k.As.Users) == 0, k.As)
	set("groups", k.Groups != nil, k.Groups != nil && len(*k.Groups) == 0, k.Groups)
	set("from", k.From != nil, k.From != nil && len(*k.From) == 0, k.From)
	set("expires_at", k.ExpiresAt != nil, k.ExpiresAt != nil && k.ExpiresAt.IsZero(), k.ExpiresAt)
	return json.Marshal(change)
}

// CreateKey makes a key, whose secret is in this answer alone. For operators, and for keys with ScopeKeys. If an earlier attempt
// had made the key and its answer was lost, Key is empty: rotate it then.
func (c *Client) CreateKey(ctx context.Context, draft KeyDraft) (Key, error) {
	draft.RetryKey = cmp.Or(draft.RetryKey, NewKey())
	return answerTo[Key](ctx, c, call{method: http.MethodPost, path: []string{"keys"}, body: draft, key: draft.RetryKey, again: true})
}

// Keys lists the keys. next is empty after the last page.
func (c *Client) Keys(ctx context.Context, page Page) (keys []Key, next string, err error) {
	var answer struct {
		Keys []Key  `json:"keys"`
		Next string `json:"next"`
	}
	err = c.do(ctx, call{method: http.MethodGet, path: []string{"keys"}, query: page.query(), again: true}, &answer)
	return answer.Keys, answer.Next, err
}

// Key shows one key.
func (c *Client) Key(ctx context.Context, id string) (Key, error) {
	return answerTo[Key](ctx, c, call{method: http.MethodGet, path: []string{"keys", id}, again: true})
}

// UpdateKey changes a key: on every node within a second. It is not repeated if its outcome is unknown: someone else may have
// changed the same field since.
func (c *Client) UpdateKey(ctx context.Context, id string, change KeyChange) (Key, error) {
	return answerTo[Key](ctx, c, call{method: http.MethodPatch, path: []string{"keys", id}, body: change})
}

// RotateKey gives a key a new secret, which is in this answer alone. The previous one holds for overlap more, in whole seconds, at
// most 30 days; 0 ends it. It is not repeated if its outcome is unknown: rotate again then, and use the newest secret.
func (c *Client) RotateKey(ctx context.Context, id string, overlap time.Duration) (Key, error) {
	body := struct {
		OverlapS int64 `json:"overlap_s"`
	}{int64(overlap / time.Second)}
	return answerTo[Key](ctx, c, call{method: http.MethodPost, path: []string{"keys", id, "rotate"}, body: body})
}

// DeleteKey removes a key: it is void on every node within a second.
func (c *Client) DeleteKey(ctx context.Context, id string) error {
	return c.do(ctx, call{method: http.MethodDelete, path: []string{"keys", id}}, nil)
}
