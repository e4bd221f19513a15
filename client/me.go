package client

import (
	"context"
	"encoding/json"
	"net/http"
)

// Me is the caller, as the server sees them.
type Me struct {
	User    string          `json:"user"`
	Name    string          `json:"name"`
	Picture string          `json:"picture"` // an https address, or the path of an avatar of the server
	Data    json.RawMessage `json:"data"`
	Status  *UserStatus     `json:"status"`
	Version int64           `json:"version"` // 0: there is no profile
	Role    string          `json:"role"`    // admin, or empty
	// Settings are what the caller's own clients keep there.
	Settings json.RawMessage `json:"settings"`
}

// ProfileChange is what UpdateMe and PutUsers change of a profile: nil stays, the empty string and the JSON null clear. Data and
// Settings are merged (JSON Merge Patch, RFC 7396).
type ProfileChange struct {
	Name, Picture  *string
	Status         json.RawMessage // not of PutUsers
	Data, Settings json.RawMessage // Settings not of PutUsers
}

// fields are those of the request.
func (p ProfileChange) fields() map[string]any {
	fields := map[string]any{}
	for name, value := range map[string]*string{"name": p.Name, "picture": p.Picture} {
		if value != nil && *value == "" {
			fields[name] = nil
		} else if value != nil {
			fields[name] = *value
		}
	}
	for name, value := range map[string]json.RawMessage{"status": p.Status, "data": p.Data, "settings": p.Settings} {
		if value != nil {
			fields[name] = value
		}
	}
	return fields
}

// UpdateMe changes the caller's profile, and returns it.
func (c *Client) UpdateMe(ctx context.Context, p ProfileChange) (Me, error) {
	return answerTo[Me](ctx, c, call{method: http.MethodPatch, path: []string{"me"}, body: p.fields(), again: true})
}

// Me returns who the caller is.
func (c *Client) Me(ctx context.Context) (Me, error) {
	return answerTo[Me](ctx, c, call{method: http.MethodGet, path: []string{"me"}, again: true})
}
