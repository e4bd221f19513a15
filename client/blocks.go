package client

import (
	"context"
	"net/http"
	"time"
)

// Block is a user whom the caller blocks.
type Block struct {
	User      string    `json:"user"`
	CreatedAt time.Time `json:"created_at"`
}

// Block blocks a user: their direct messages to the caller are refused with CodeBlocked, they cannot add the caller to a group, and
// their mentions make no inbox item and no notification. CodeQuotaFull: 10,000 are blocked.
func (c *Client) Block(ctx context.Context, user string) (Block, error) {
	return answerTo[Block](ctx, c, call{method: http.MethodPut, path: []string{"blocks", user}, again: true})
}

// Unblock ends a block. Repeating it is harmless.
func (c *Client) Unblock(ctx context.Context, user string) error {
	return c.do(ctx, call{method: http.MethodDelete, path: []string{"blocks", user}, again: true}, nil)
}

// GetBlock returns the block of a user by the caller. CodeNotFound: there is none.
func (c *Client) GetBlock(ctx context.Context, user string) (Block, error) {
	return answerTo[Block](ctx, c, call{method: http.MethodGet, path: []string{"blocks", user}, again: true})
}

// ListBlocks returns whom the caller blocks, newest first, a page at a time, and the cursor of the next page; empty: there is none.
func (c *Client) ListBlocks(ctx context.Context, page Page) (blocks []Block, next string, err error) {
	var answer struct {
		Blocks []Block `json:"blocks"`
		Next   string  `json:"next"`
	}
	err = c.do(ctx, call{method: http.MethodGet, path: []string{"blocks"}, query: page.query(), again: true}, &answer)
	return answer.Blocks, answer.Next, err
}
