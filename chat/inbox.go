package chat

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"
)

// inboxes puts items into inboxes and reads them.
type inboxes struct {
	*base
	store     InboxStore
	strangers *strangers
}

// Kinds of inbox items.
const (
	ItemDirect         = "direct"
	ItemAdded          = "added"
	ItemRemoved        = "removed"
	ItemRequest        = "request" // what came of asking to join Group
	ItemMention        = "mention"
	ItemAnnouncement   = "announcement"
	ItemScheduleFailed = "schedule_failed"
	ItemReview         = "review"
	ItemQuorum         = "quorum" // a reminder of message ID in Group, or that too few have read it
)

// systemSender is the sender of the server's own inbox items. It is not a valid user id.
const systemSender = "$chat"

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
	Accepted *bool           `json:"accepted,omitempty"` // of a request
	SentAt   Time            `json:"sent_at"`
	Via      string          `json:"via,omitempty"` // id of the key by which a program wrote it
	// DeletedAt is when the content was erased with its sender. The store writes it, as the last field.
	DeletedAt *Time `json:"deleted_at,omitempty"`
	ExpiresAt *Time `json:"expires_at,omitempty"` // when it goes; the last field, see EndMs
}

// Direct is a direct message as a client sends it.
type Direct struct {
	Body     *string         `json:"body,omitempty"`
	Data     json.RawMessage `json:"data,omitempty"`
	ClientID string          `json:"client_id,omitempty"`
	ExpireS  int64           `json:"expire_s,omitempty"` // seconds after which it goes; 0: never
}

// Content is what d says, as a text.
func (d Direct) Content() Content {
	return Content{Kind: Text, Body: d.Body, Data: d.Data, ClientID: d.ClientID, ExpireS: d.ExpireS}
}

// ItemOf is an inbox item, still without seq, with the fields of c that an inbox takes.
func ItemOf(kind, from string, c Content, sentAtMs int64) Item {
	it := Item{Kind: kind, From: from, Body: c.Body, Data: c.Data, ClientID: c.ClientID, SentAt: TimeMs(sentAtMs)}
	if c.ExpireS > 0 {
		end := TimeMs(sentAtMs + 1000*c.ExpireS)
		it.ExpiresAt = &end
	}
	return it
}

// StoredItem is an item as a store keeps it. The mark is random and never changes, so that a position and the mark of the item
// there tell whether a list is still the one it was; empty where an earlier version stored the item.
type StoredItem struct {
	Mark string
	JSON []byte
}

// InboxEnd is where an inbox ends. Mark is that of the newest item.
type InboxEnd struct {
	Last        int64
	Mark, Epoch string
}

// InboxBatch is what a pull of an inbox gives.
type InboxBatch struct {
	Epoch    string
	From, To int64
	First    int64 // the lowest seq that can be read
	Last     int64
	Acked    int64
	Cursor   string
	Complete bool // false: items between the position and From are gone
	HasMore  bool
	Items    []StoredItem // Invariant: their seqs are From..To
}

// Hold is b with the items that follow a position, up to the first gap. What comes after the gap is left to the next batch,
// which is then incomplete. Without items, the reader stays at the position.
func (b InboxBatch) Hold(at Position, items []StoredItem) InboxBatch {
	b.From = at.ID + 1
	if len(items) > 0 {
		from := items[0].Seq()
		b.Complete, b.From = b.Complete && from == b.From, from
	}
	n := 0
	for n < len(items) && items[n].Seq() == b.From+int64(n) {
		n++
	}
	b.Items, b.To = items[:n], b.From+int64(n)-1
	return b.end(at.Mark)
}

// end notes where b ends. mark is that of the position before its items.
func (b InboxBatch) end(mark string) InboxBatch {
	if n := len(b.Items); n > 0 {
		mark = b.Items[n-1].Mark
	}
	b.HasMore, b.Cursor = b.To < b.Last, FormatPosition(b.Epoch, b.To, mark)
	return b
}

// Position is where a reader is after taking b.
func (b InboxBatch) Position() Position {
	pos, _ := ParsePosition(b.Cursor) // made by FormatPosition
	return pos
}

// Seq is what stands first in the JSON of every item.
func (i StoredItem) Seq() int64 {
	text, _, _ := strings.Cut(strings.TrimPrefix(string(i.JSON[:min(len(i.JSON), 32)]), `{"seq":`), ",")
	seq, _ := ParseID(text)
	return seq
}

// CheckInbox refuses callers who may have nothing to do with inboxes, which have items of all groups.
func CheckInbox(by Caller) error {
	if by.Reach != nil {
		return ErrReach
	}
	return CheckCaller(by)
}

// SendDirect puts an item into someone's inbox. A known key gets the first answer again. ErrInboxFull.
func (s *inboxes) SendDirect(ctx context.Context, by Caller, to string, d Direct) (it Item, duplicate bool, err error) {
	if err := cmp.Or(CheckInbox(by), CheckUserID("user", to)); err != nil {
		return Item{}, false, err
	}
	c, err := d.Content().Checked(s.opt.Limits)
	if err != nil {
		return Item{}, false, err
	}
	if err := s.strangers.MayWrite(ctx, by, to); err != nil {
		return Item{}, false, err
	}
	asked := c
	if s.Asks("") {
		if it, known, err := s.firstDirect(ctx, by, to, c); known || err != nil {
			return it, known, AsError(err)
		}
		c, err = s.Ask(ctx, Question{By: by, To: to, Key: c.ClientID, Content: c})
		if r, ok := IsInReview(err); ok {
			err = s.Review(ctx, Review{To: to, From: by.User, Via: by.Via, Operator: by.Admin, Reason: r.Reason, At: TimeMs(s.opt.Now()), Message: c}, asked.ClientID, directHash(asked))
			if err == nil {
				it, duplicate, err = s.firstDirect(ctx, by, to, asked)
			}
			return it, duplicate, AsError(err)
		}
		if err != nil {
			return Item{}, false, err
		}
	}
	it = directItem(by, c, s.opt.Now())
	item := NewDirect(to, it)
	item.ToStrangers, item.Content = by.Admin, directHash(asked)
	seq, at, duplicate, err := s.store.InboxAppend(ctx, item)
	if err != nil {
		return Item{}, false, AsError(err)
	}
	it.at(seq, at)
	it.To = to
	return it, duplicate, nil
}

// firstDirect is the direct message that was sent when the key of c was first used, as it is stored if its reader still has it.
func (s *inboxes) firstDirect(ctx context.Context, by Caller, to string, c Content) (it Item, known bool, err error) {
	it = directItem(by, c, s.opt.Now())
	item := NewDirect(to, it)
	item.Look = true
	seq, at, _, err := s.store.InboxAppend(ctx, item)
	if err != nil || seq == 0 {
		return Item{}, false, err
	}
	it.at(seq, at)
	b, err := s.store.InboxPull(ctx, to, Position{Set: true, ID: seq - 1}, 1)
	if err == nil && len(b.Items) > 0 && b.Items[0].Seq() == seq {
		err = json.Unmarshal(b.Items[0].JSON, &it)
	}
	it.To = to
	return it, true, err
}

// at gives an item its place and the time of its first sending.
func (it *Item) at(seq, sentAtMs int64) {
	if s := it.expireS(); s > 0 {
		end := TimeMs(sentAtMs + 1000*s)
		it.ExpiresAt = &end
	}
	it.Seq, it.SentAt = seq, TimeMs(sentAtMs)
}

// directItem is a direct message without its place in an inbox.
func directItem(by Caller, c Content, nowMs int64) Item {
	it := ItemOf(ItemDirect, by.User, c, nowMs)
	it.Via = by.Via
	return it
}

// directHash names what a direct message says, so that a key stands for one content only.
func directHash(c Content) string {
	return contentHash(Entry{Content: Content{Body: c.Body, Data: c.Data, ExpireS: c.ExpireS}})
}

// NewDirect is what a store needs to put a direct message into the inbox of to.
func NewDirect(to string, it Item) NewItem {
	return NewItem{To: to, From: it.From, Rest: it.Rest(), SentAtMs: it.SentAt.UnixMilli(), Notify: PriorityHigh, Key: it.ClientID, Cause: it.From, Author: it.From,
		Content: directHash(Content{Body: it.Body, Data: it.Data, ExpireS: it.expireS()})}
}

// expireS is after how many seconds an item goes; 0: never.
func (it Item) expireS() int64 {
	if it.ExpiresAt == nil {
		return 0
	}
	return (it.ExpiresAt.UnixMilli() - it.SentAt.UnixMilli()) / 1000
}

// PutItem puts an item of the server into the inbox of to, once per key; clients cannot choose such keys. If the inbox is
// full, it displaces the oldest item of the server. If its sender has caused too many unacked items, or has mentioned or added
// someone who blocks them, it is dropped.
func (s *inboxes) PutItem(ctx context.Context, to string, it Item, key string) error {
	return s.putItem(ctx, to, it, key, "")
}

// PutUrgentItem is PutItem with a notification for a user who is offline.
func (s *inboxes) PutUrgentItem(ctx context.Context, to string, it Item, key string) error {
	return s.putItem(ctx, to, it, key, PriorityHigh)
}

func (s *inboxes) putItem(ctx context.Context, to string, it Item, key string, notify Priority) error {
	var author string
	if it.Kind == ItemMention || it.Kind == ItemAdded {
		author = it.From
	}
	_, _, _, err := s.store.InboxAppend(ctx, NewItem{To: to, From: systemSender, Rest: it.Rest(), SentAtMs: it.SentAt.UnixMilli(),
		Key: key, Content: it.Kind, System: true, Notify: notify, Cause: it.From, Author: author, Mention: it.Kind == ItemMention})
	return err
}

// Inbox reads the caller's inbox after a position; not set: after what was acked. It moves nothing.
func (s *inboxes) Inbox(ctx context.Context, by Caller, after Position, limit int) (InboxBatch, error) {
	if err := CheckInbox(by); err != nil {
		return InboxBatch{}, err
	}
	limit, err := s.opt.Limits.Page(limit)
	if err != nil {
		return InboxBatch{}, err
	}
	if after.ID < 0 {
		return InboxBatch{}, Invalid("after: negative")
	}
	after.ID = min(after.ID, IDMax)
	b, err := s.store.InboxPull(ctx, by.User, after, limit)
	if err != nil {
		return InboxBatch{}, AsError(err)
	}
	return b.Fit(s.opt.Limits.PageBytesMax), nil
}

// Fit cuts b after bytesMax bytes of items; one item always fits.
func (b InboxBatch) Fit(bytesMax int) InboxBatch {
	bytes := 0
	for i, item := range b.Items {
		bytes += len(item.JSON) + 1
		if i > 0 && bytes > bytesMax {
			b.To -= int64(len(b.Items) - i)
			b.Items = b.Items[:i]
			return b.end("")
		}
	}
	return b
}

// AckInbox moves acked of the caller's inbox forward to a position; repeating it is harmless. ErrOutOfRange above the last,
// ErrConflict for a cursor of another life of the inbox, or of a list that a failover rolled back.
func (s *inboxes) AckInbox(ctx context.Context, by Caller, at Position) (acked int64, err error) {
	if err := CheckInbox(by); err != nil {
		return 0, err
	}
	if at.ID < 0 {
		return 0, Invalid("seq: negative")
	}
	at.ID = min(at.ID, IDMax)
	acked, err = s.store.InboxAck(ctx, by.User, at)
	return acked, AsError(err)
}
