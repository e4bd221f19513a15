package client

import (
	"bytes"
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
	Presence string          `json:"presence"` // shown or hidden
	// Receipts says whether others see what the caller has seen and read: shown or hidden.
	Receipts string `json:"receipts"`
}

// ProfileChange is what UpdateMe and PutUsers change of a profile: nil stays, the empty string and the JSON null clear. Data and
// Settings are merged (JSON Merge Patch, RFC 7396).
type ProfileChange struct {
	Name, Picture  *string
	Status         json.RawMessage // not of PutUsers
	Data, Settings json.RawMessage // Settings not of PutUsers
	// Presence is shown or hidden, and not of PutUsers: who hides is seen by nobody, and sees nobody.
	Presence *string
	Receipts string // shown or hidden; empty: it stays; not of PutUsers
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
	if p.Presence != nil {
		fields["presence"] = *p.Presence
	}
	if p.Receipts != "" {
		fields["receipts"] = p.Receipts
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

// PutAvatar uploads a picture of the caller, a PNG, JPEG, GIF or WebP of at most 2 MiB, and returns the profile: its Picture is the address
// of what the server made of it. It repeats nothing.
func (c *Client) PutAvatar(ctx context.Context, picture []byte) (Me, error) {
	header := http.Header{"Content-Type": {http.DetectContentType(picture)}}
	answer, err := c.exchangeBytes(ctx, call{method: http.MethodPut, path: []string{"me", "avatar"}}, header, bytes.NewReader(picture), int64(len(picture)))
	if err != nil {
		return Me{}, err
	}
	defer func() { _ = answer.Body.Close() }()
	var me Me
	err = json.NewDecoder(answer.Body).Decode(&me)
	return me, err
}

// DeleteAvatar removes the picture that the caller has uploaded, if there is one.
func (c *Client) DeleteAvatar(ctx context.Context) error {
	return c.do(ctx, call{method: http.MethodDelete, path: []string{"me", "avatar"}, again: true}, nil)
}

// Me returns who the caller is.
func (c *Client) Me(ctx context.Context) (Me, error) {
	return answerTo[Me](ctx, c, call{method: http.MethodGet, path: []string{"me"}, again: true})
}
