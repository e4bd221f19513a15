package client

import (
	"context"
	"net/http"
)

// Words are words and phrases that decide about messages: whole words, in any spelling of their letters; a * at an end stands for more.
type Words struct {
	Refuse []string `json:"refuse,omitempty"` // a message with one is refused
	Mask   []string `json:"mask,omitempty"`   // these are replaced by stars
	Review []string `json:"review,omitempty"` // a message with one waits for a moderator
}

// Words reads the lists. For operators.
func (c *Client) Words(ctx context.Context) (Words, error) {
	return answerTo[Words](ctx, c, call{method: http.MethodGet, path: []string{"words"}, again: true})
}

// PutWords replaces the lists. For operators.
func (c *Client) PutWords(ctx context.Context, words Words) (Words, error) {
	return answerTo[Words](ctx, c, call{method: http.MethodPut, path: []string{"words"}, body: words, again: true})
}

// GroupWords reads the lists of a group. For its owner, admins and operators.
func (c *Client) GroupWords(ctx context.Context, group string) (Words, error) {
	return answerTo[Words](ctx, c, call{method: http.MethodGet, path: []string{"groups", group, "words"}, again: true})
}

// PutGroupWords replaces the lists of a group, which hold beside those of the server. For its owner, admins and operators.
func (c *Client) PutGroupWords(ctx context.Context, group string, words Words) (Words, error) {
	return answerTo[Words](ctx, c, call{method: http.MethodPut, path: []string{"groups", group, "words"}, body: words, again: true})
}
