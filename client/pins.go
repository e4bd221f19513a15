package client

import (
	"context"
	"net/http"
	"strconv"
	"time"
)

// Pin is a message that is pinned in a group, as it reads now. Of one that was deleted, that is left which is left in the log.
type Pin struct {
	Message Message   `json:"message"`
	By      string    `json:"by"` // who pinned it; empty: somebody who is erased
	At      time.Time `json:"at"`
}

// Pins lists the pins of a group, the newest first: all of them, unless they are large.
func (c *Client) Pins(ctx context.Context, group string, page Page) (pins []Pin, next string, err error) {
	var answer struct {
		Pins []Pin  `json:"pins"`
		Next string `json:"next"`
	}
	err = c.do(ctx, call{method: http.MethodGet, path: []string{"groups", group, "pins"}, query: page.query(), again: true}, &answer)
	return answer.Pins, answer.Next, err
}

// PinMessage pins a text or data of a group. For the owner, admins and operators, and where Pins of the group says so, members.
// Repeating it is harmless. CodeConflict: the group has the maximum number of pins.
func (c *Client) PinMessage(ctx context.Context, group string, id int64) error {
	return c.do(ctx, call{method: http.MethodPut, path: []string{"groups", group, "pins", strconv.FormatInt(id, 10)}, again: true}, nil)
}

// UnpinMessage unpins a message, if it is pinned.
func (c *Client) UnpinMessage(ctx context.Context, group string, id int64) error {
	return c.do(ctx, call{method: http.MethodDelete, path: []string{"groups", group, "pins", strconv.FormatInt(id, 10)}, again: true}, nil)
}
