package client

import (
	"context"
	"net/http"
)

// Erasure is the removal of a person, and how far it is. The call that begins one returns its id and state alone.
type Erasure struct {
	ID       string   `json:"id"`
	State    string   `json:"state"`    // pending, running or done
	Messages int64    `json:"messages"` // whose content was erased, direct messages too
	Groups   int64    `json:"groups"`   // that had something of the person
	Held     []string `json:"held"`     // groups under a legal hold, in which the person is erased when that ends
}

// EraseMe begins the erasure of the caller, or joins the one under way.
func (c *Client) EraseMe(ctx context.Context) (Erasure, error) {
	return answerTo[Erasure](ctx, c, call{method: http.MethodDelete, path: []string{"me"}, again: true})
}

// EraseUser begins the erasure of a user, for operators.
func (c *Client) EraseUser(ctx context.Context, user string) (Erasure, error) {
	return answerTo[Erasure](ctx, c, call{method: http.MethodDelete, path: []string{"users", user}, again: true})
}

// Erasure shows an operator how far an erasure is.
func (c *Client) Erasure(ctx context.Context, id string) (Erasure, error) {
	return answerTo[Erasure](ctx, c, call{method: http.MethodGet, path: []string{"erasures", id}, again: true})
}
