package client

import (
	"context"
	"net/http"
)

// Me is the caller, as the server sees them.
type Me struct {
	User string `json:"user"`
	Role string `json:"role"` // admin, or empty
}

// Me returns who the caller is.
func (c *Client) Me(ctx context.Context) (Me, error) {
	return answerTo[Me](ctx, c, call{method: http.MethodGet, path: []string{"me"}, again: true})
}
