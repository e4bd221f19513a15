package chat

import (
	"context"
	"encoding/json"
)

// Kinds of inbox items.
const (
	ItemDirect         = "direct"
	ItemAdded          = "added"
	ItemRemoved        = "removed"
	ItemMention        = "mention"
	ItemAnnouncement   = "announcement"
	ItemScheduleFailed = "schedule_failed"
)

// Item is an entry of one user's inbox. Stored as it is served; seq stands first.
type Item struct {
	Seq      int64           `json:"seq"`
	Kind     string          `json:"kind"`
	From     string          `json:"from,omitempty"`
	To       string          `json:"to,omitempty"`
	Group    string          `json:"group,omitempty"`
	ID       int64           `json:"id,omitempty"` // the message that mentions, in Group
	Body     *string         `json:"body,omitempty"`
	Data     json.RawMessage `json:"data,omitempty"`
	ClientID string          `json:"client_id,omitempty"`
	SentAt   Time            `json:"sent_at"`
}

// Direct is what a client asks to be put into someone's inbox.
type Direct struct {
	Body     *string
	Data     json.RawMessage
	ClientID string
}

// InboxBatch is what a pull of an inbox gives. Items are the stored JSON objects.
type InboxBatch struct {
	Epoch    string
	From, To int64
	Last     int64
	Complete bool // false: items above the position were dropped because the inbox was full
	HasMore  bool
	Items    [][]byte
}

// SendDirect puts an item into someone's inbox.
func (s *Service) SendDirect(ctx context.Context, by Caller, to string, d Direct) (it Item, duplicate bool, err error) {
	return Item{}, false, ErrUnavailable
}

// Inbox reads the caller's inbox.
func (s *Service) Inbox(ctx context.Context, by Caller, after *int64, limit int) (InboxBatch, error) {
	return InboxBatch{}, ErrUnavailable
}

// AckInbox removes all items up to and including seq.
func (s *Service) AckInbox(ctx context.Context, by Caller, seq int64) error { return ErrUnavailable }
