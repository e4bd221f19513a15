package client

import (
	"context"
	"net/http"
	"time"
)

// ServerInfo is what a client may ask of a server.
type ServerInfo struct {
	Version      string           `json:"version"`
	Features     []string         `json:"features"` // what is switched on: archive, files, keys, ...
	Limits       map[string]int64 `json:"limits"`   // bytes or counts by name: body, request, page, mentions, ...
	Accounts     bool             `json:"accounts"`
	Registration string           `json:"registration"` // invite, open or closed; empty without accounts
	Time         time.Time        `json:"time"`
}

// Server says what the server has, to anybody.
func (c *Client) Server(ctx context.Context) (ServerInfo, error) {
	return answerTo[ServerInfo](ctx, c, call{method: http.MethodGet, path: []string{"server"}, again: true})
}
