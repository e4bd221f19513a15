package client

import (
	"context"
	"encoding/json"
	"net/http"
)

// KeptDraft is what the caller has begun to write in a group. Rev grows with each change, as the client counts.
type KeptDraft struct {
	Body    string          `json:"body"`
	Data    json.RawMessage `json:"data,omitempty"`
	ReplyTo int64           `json:"reply_to,omitempty"`
	Thread  int64           `json:"thread,omitempty"`
	Rev     int64           `json:"rev"`
}

// PutDraft keeps what the caller has begun to write in a group, for their other devices. CodeConflict: what is kept has a higher
// revision, or this one with other content. CodeTooLarge: body and data have more than 16 KiB together.
func (c *Client) PutDraft(ctx context.Context, group string, d KeptDraft) (KeptDraft, error) {
	return answerTo[KeptDraft](ctx, c, call{method: http.MethodPut, path: []string{"groups", group, "draft"}, body: d, again: true})
}

// GetDraft returns what the caller has begun to write in a group. CodeNotFound: nothing.
func (c *Client) GetDraft(ctx context.Context, group string) (KeptDraft, error) {
	return answerTo[KeptDraft](ctx, c, call{method: http.MethodGet, path: []string{"groups", group, "draft"}, again: true})
}

// DeleteDraft forgets what the caller has begun to write in a group. Repeating it is harmless.
func (c *Client) DeleteDraft(ctx context.Context, group string) error {
	return c.do(ctx, call{method: http.MethodDelete, path: []string{"groups", group, "draft"}, again: true}, nil)
}

// DraftOf is what the caller has begun to write, and where.
type DraftOf struct {
	Group string `json:"group"`
	KeptDraft
}

// ListDrafts returns what the caller has begun to write, by group, a page at a time, and the cursor of the next page; empty: there is none.
func (c *Client) ListDrafts(ctx context.Context, page Page) (drafts []DraftOf, next string, err error) {
	var answer struct {
		Drafts []DraftOf `json:"drafts"`
		Next   string    `json:"next"`
	}
	err = c.do(ctx, call{method: http.MethodGet, path: []string{"drafts"}, query: page.query(), again: true}, &answer)
	return answer.Drafts, answer.Next, err
}
