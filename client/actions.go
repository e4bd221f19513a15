package client

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
)

// Action is a button below a message of a program. Pressing it is an event of webhooks, [EventMessageAction].
type Action struct {
	ID      string `json:"id"` // each once in a message
	Label   string `json:"label"`
	Style   string `json:"style,omitempty"`   // primary, danger
	Confirm string `json:"confirm,omitempty"` // a question to ask before
	URL     string `json:"url,omitempty"`     // to open, in place of a press
}

// PressAction presses an action of a message; value is any JSON of at most 4 KiB, or nil. Repeating it within ten seconds is the same
// press. CodeNotFound: the message has no such action.
func (c *Client) PressAction(ctx context.Context, group string, id int64, action string, value json.RawMessage) error {
	body := struct {
		ID    string          `json:"id"`
		Value json.RawMessage `json:"value,omitempty"`
	}{action, value}
	return c.do(ctx, call{method: http.MethodPost, path: []string{"groups", group, "messages", strconv.FormatInt(id, 10), "actions"}, body: body, again: true}, nil)
}
