package client

import (
	"cmp"
	"context"
	"net/http"
	"time"
)

// What holds for a message whose hook gives no answer.
const (
	OnErrorAllow  = "allow"
	OnErrorRefuse = "refuse"
	OnErrorReview = "review" // it waits for a moderator
)

// HookDraft is a program that is asked before a message is stored. What is left out has its default.
type HookDraft struct {
	URL       string   `json:"url,omitempty"`
	Groups    []string `json:"groups,omitempty"`     // ids, and beginnings with a star; empty: all groups, and direct messages
	TimeoutMS int64    `json:"timeout_ms,omitempty"` // how long an answer may take: 50 to 5,000, by default 1,500
	OnError   string   `json:"on_error,omitempty"`   // OnErrorAllow, OnErrorRefuse or OnErrorReview
	InFlight  int64    `json:"in_flight,omitempty"`  // questions at once, of each node; by default 64

	// Key makes repeated requests create only one hook (1 to 64 printable ASCII); generated if empty.
	Key string `json:"-"`
}

// Hook is a program that is asked before a message is stored.
type Hook struct {
	ID        string    `json:"id"`
	URL       string    `json:"url"`
	Events    []string  `json:"events"`
	Groups    []string  `json:"groups"` // nil: all groups, and direct messages
	TimeoutMS int64     `json:"timeout_ms"`
	OnError   string    `json:"on_error"`
	InFlight  int64     `json:"in_flight"`
	Secret    string    `json:"secret,omitempty"` // signs the questions; only in the answer that created it
	CreatedAt time.Time `json:"created_at"`
}

// CreateHook registers a hook. For operators. Only this answer contains its secret.
func (c *Client) CreateHook(ctx context.Context, draft HookDraft) (Hook, error) {
	draft.Key = cmp.Or(draft.Key, NewKey())
	return answerTo[Hook](ctx, c, call{method: http.MethodPost, path: []string{"hooks"}, body: draft, key: draft.Key, again: true})
}

// Hooks lists the hooks, in the order in which they are asked. For operators.
func (c *Client) Hooks(ctx context.Context) ([]Hook, error) {
	var answer struct {
		Hooks []Hook `json:"hooks"`
	}
	err := c.do(ctx, call{method: http.MethodGet, path: []string{"hooks"}, again: true}, &answer)
	return answer.Hooks, err
}

// Hook shows an operator a hook.
func (c *Client) Hook(ctx context.Context, id string) (Hook, error) {
	return answerTo[Hook](ctx, c, call{method: http.MethodGet, path: []string{"hooks", id}, again: true})
}

// UpdateHook changes what draft names of a hook. For operators.
func (c *Client) UpdateHook(ctx context.Context, id string, draft HookDraft) (Hook, error) {
	return answerTo[Hook](ctx, c, call{method: http.MethodPatch, path: []string{"hooks", id}, body: draft, again: true})
}

// DropHook removes a hook: it is asked no more.
func (c *Client) DropHook(ctx context.Context, id string) error {
	return c.do(ctx, call{method: http.MethodDelete, path: []string{"hooks", id}}, nil)
}
