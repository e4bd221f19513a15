package client

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// Send appends a message to the group's log and returns it with its id. Text, or any JSON in Data, is a message on its
// own; with Kind edit, delete or reaction, Target is the id of the message it refers to. If the outcome is unknown,
// Send repeats it with the same client id, so that the log gets it once.
func (c *Client) Send(ctx context.Context, group string, draft Draft) (Sent, error) {
	return c.SendDurable(ctx, group, draft, "")
}

// SendDurable is Send, but waits for the given durability: memory, disk or replica. Sent.Durability is what was
// reached.
func (c *Client) SendDurable(ctx context.Context, group string, draft Draft, durability string) (Sent, error) {
	draft.ClientID = cmp.Or(draft.ClientID, NewKey())
	q := url.Values{}
	if durability != "" {
		q.Set("durability", durability)
	}
	return answerTo[Sent](ctx, c, call{method: http.MethodPost, path: []string{"groups", group, "messages"}, query: q, body: draft, key: draft.ClientID, again: true})
}

// Range selects a page of a log: after a position (the zero value: the caller's `seen`) or, if Before is set, the page
// that ends before that id. Limit 0 is the server's default.
type Range struct {
	After  Position
	Before int64
	Limit  int
}

// Messages reads a page of a group's log, ascending. It moves no cursor.
func (c *Client) Messages(ctx context.Context, group string, r Range) (Batch, error) {
	q := url.Values{}
	if r.Before > 0 {
		q.Set("before", strconv.FormatInt(r.Before, 10))
	} else if r.After != "" {
		q.Set("after", string(r.After))
	}
	if r.Limit > 0 {
		q.Set("limit", strconv.Itoa(r.Limit))
	}
	return answerTo[Batch](ctx, c, call{method: http.MethodGet, path: []string{"groups", group, "messages"}, query: q, again: true})
}

// Ack confirms everything up to id: the server may trim it once all members have. An id below the current one changes
// nothing.
func (c *Client) Ack(ctx context.Context, group string, id int64) (Progress, error) {
	return c.move(ctx, group, "ack", id)
}

// AckAt is Ack with the cursor of a batch. If the server's log has lost its end, it changes nothing and fails with
// [CodeConflict], so that no message is trimmed that the caller never received.
func (c *Client) AckAt(ctx context.Context, group string, at Position) (Progress, error) {
	var progress Progress
	path := []string{"groups", group, "ack"}
	err := c.do(ctx, call{method: http.MethodPost, path: path, body: markBody("id", at), again: true}, &progress)
	return progress, err
}

// markBody puts a position into the field that fits it.
func markBody(number string, at Position) map[string]Position {
	if at.isID() {
		return map[string]Position{number: at}
	}
	return map[string]Position{"cursor": at}
}

// Read marks everything up to id as read by the person, which also acks it.
func (c *Client) Read(ctx context.Context, group string, id int64) (Progress, error) {
	return c.move(ctx, group, "read", id)
}

// MarkUnread moves `read` back, so that message id is unread again.
func (c *Client) MarkUnread(ctx context.Context, group string, id int64) (Progress, error) {
	return c.move(ctx, group, "unread", id)
}

func (c *Client) move(ctx context.Context, group, what string, id int64) (Progress, error) {
	return answerTo[Progress](ctx, c, call{method: http.MethodPost, path: []string{"groups", group, what}, body: idBody{id}, again: true})
}

type idBody struct {
	ID int64 `json:"id"`
}

// Receipts returns who has seen and read a message.
func (c *Client) Receipts(ctx context.Context, group string, id int64, page Page) (Receipts, error) {
	return c.WaitReceipts(ctx, group, id, 0, page)
}

// WaitReceipts returns the Receipts once nobody is pending, or the current ones after the given number of seconds, at
// most 50.
func (c *Client) WaitReceipts(ctx context.Context, group string, id int64, seconds int, page Page) (Receipts, error) {
	q := page.query()
	if seconds > 0 {
		q.Set("wait_s", strconv.Itoa(seconds))
	}
	var r Receipts
	path := []string{"groups", group, "messages", strconv.FormatInt(id, 10), "receipts"}
	err := c.do(ctx, call{method: http.MethodGet, path: path, query: q, again: true, wait: time.Duration(seconds) * time.Second}, &r)
	return r, err
}

// Unread counts the unread messages in all groups of the caller.
func (c *Client) Unread(ctx context.Context) (Unread, error) {
	return answerTo[Unread](ctx, c, call{method: http.MethodGet, path: []string{"unread"}, again: true})
}

// SyncRequest first acks, then asks for everything new in all groups and the inbox.
type SyncRequest struct {
	Ack        map[string]Position `json:"ack,omitempty"`
	InboxAck   Position            `json:"inbox_ack,omitempty"`
	After      map[string]Position `json:"after,omitempty"`       // where to start; groups left out start at `seen`
	InboxAfter Position            `json:"inbox_after,omitempty"` // empty: after the last acked item
	Start      string              `json:"start,omitempty"`       // StartNewest or empty
	Only       []string            `json:"only,omitzero"`         // nil: all groups; an empty list: the inbox alone
	Limit      int                 `json:"limit,omitempty"`       // messages in total; 0: the server's default
	WaitS      int                 `json:"wait_s,omitempty"`
	Typing     bool                `json:"typing,omitempty"` // answer a sync that waits, too, when somebody types
}

// StartNewest has a sync begin groups that After does not name at their newest page instead of the oldest unseen one.
const StartNewest = "newest"

// SyncAnswer is the result of a sync. Groups with nothing new are left out.
type SyncAnswer struct {
	Groups    []Batch     `json:"groups"`
	Inbox     Inbox       `json:"inbox"`
	Left      []string    `json:"left"` // groups of Ack and After that the caller is no longer in
	Errors    []SyncError `json:"errors"`
	Typing    []Typing    `json:"typing"`      // who has typed while the sync waited, if it asked
	NextPollS float64     `json:"next_poll_s"` // how long the server asks to wait before the next sync
}

// SyncError is what a sync could not do, although it did the rest: an ack that failed, a position that cannot be read
// (CodeInvalid), a group of Only that the caller is not in (CodeNotFound).
type SyncError struct {
	Group string `json:"group"`
	Inbox bool   `json:"inbox"` // it is about the inbox; Group is empty then
	Code  string `json:"code"`
}

// Sync makes one sync. With WaitS the server holds back the answer until there is something new, or that time is over.
func (c *Client) Sync(ctx context.Context, req SyncRequest) (SyncAnswer, error) {
	var a SyncAnswer
	wait := time.Duration(req.WaitS) * time.Second
	err := c.do(ctx, call{method: http.MethodPost, path: []string{"sync"}, body: req, again: true, wait: wait}, &a)
	return a, err
}

// SendDirect puts an item into the inbox of one user.
func (c *Client) SendDirect(ctx context.Context, user string, d Direct) (DirectSent, error) {
	d.ClientID = cmp.Or(d.ClientID, NewKey())
	return answerTo[DirectSent](ctx, c, call{method: http.MethodPost, path: []string{"users", user, "messages"}, body: d, key: d.ClientID, again: true})
}

// Inbox reads the caller's inbox after a seq; nil: after the last acked item.
func (c *Client) Inbox(ctx context.Context, after *int64, limit int) (Inbox, error) {
	q := url.Values{}
	if after != nil {
		q.Set("after", strconv.FormatInt(*after, 10))
	}
	if limit > 0 {
		q.Set("limit", strconv.Itoa(limit))
	}
	return answerTo[Inbox](ctx, c, call{method: http.MethodGet, path: []string{"inbox"}, query: q, again: true})
}

// InboxAck confirms all items up to and including seq.
func (c *Client) InboxAck(ctx context.Context, seq int64) error { return c.InboxAckAt(ctx, At(seq)) }

// InboxAckAt is InboxAck with the cursor of a page, as AckAt is Ack.
func (c *Client) InboxAckAt(ctx context.Context, at Position) error {
	path := []string{"inbox", "ack"}
	return c.do(ctx, call{method: http.MethodPost, path: path, body: markBody("seq", at), again: true}, nil)
}
