package chat

import (
	"bytes"
	"context"
	"encoding/json"
	"time"
)

// Bounds of the life of a message that goes by itself.
const (
	expireMin = 60
	expireMax = 365 * 24 * 3600
)

// CheckExpire checks a number of seconds after which a message goes; 0: never.
func CheckExpire(field string, seconds *int64) error {
	if seconds == nil || *seconds == 0 {
		return nil
	}
	if *seconds < expireMin || *seconds > expireMax {
		return OutOfRange(field, expireMin, expireMax)
	}
	return nil
}

// endField stands in front of the time at which a message goes. In the JSON of an entry, and of an item of an inbox, that is the last
// field, where nothing that a client wrote can be: a glance tells.
var endField = []byte(`,"expires_at":"`)

// EndMs is when what has this JSON goes; 0: never.
func EndMs(of []byte) int64 {
	at := len(of) - len(endField) - len(TimeLayout) - len(`"}`)
	if at < 0 || !bytes.Equal(of[at:at+len(endField)], endField) {
		return 0
	}
	t, err := time.Parse(TimeLayout, string(of[at+len(endField):len(of)-len(`"}`)]))
	if err != nil {
		return 0
	}
	return t.UnixMilli()
}

// Gone tells whether what has this JSON had to go by then.
func Gone(of []byte, nowMs int64) bool {
	end := EndMs(of)
	return end > 0 && end <= nowMs
}

// ends is when m goes; nil: never.
func (m Message) ends() *Time {
	end := EndMs(m.JSON)
	if end == 0 {
		return nil
	}
	t := TimeMs(end)
	return &t
}

// Live is m as it is served at a time: without its content once it had to go, as its deletion will leave it.
func (m Message) Live(nowMs int64) Message {
	if !Gone(m.JSON, nowMs) {
		return m
	}
	var e Entry
	if err := json.Unmarshal(m.JSON, &e); err != nil || e.DeletedAt != nil {
		return m
	}
	m.Edits = nil
	return rewritten(m, e.Deleted(Entry{From: e.From, SentAt: *e.ExpiresAt}))
}

// Emptied is the JSON of an entry that had to go by then, without what its author wrote. What its deletion asks for stays: whom it
// mentions, in which thread it is, and when it goes.
func Emptied(of []byte, nowMs int64) []byte {
	var e Entry
	if !Gone(of, nowMs) || json.Unmarshal(of, &e) != nil || e.DeletedAt != nil {
		return of
	}
	e.ClientID, e.Actions = "", nil
	if e.Body != nil {
		e.Body = new(string)
	}
	if e.Data != nil {
		e.Data = json.RawMessage("{}")
	}
	for i := range e.Files {
		e.Files[i] = File{ID: e.Files[i].ID, Size: e.Files[i].Size}
	}
	return Encode(e)
}

// LiveAll is each of messages as it is served at a time. Those that change are copied.
func LiveAll(messages []Message, nowMs int64) []Message {
	copied := false
	for i, m := range messages {
		if !Gone(m.JSON, nowMs) {
			continue
		}
		if !copied {
			messages, copied = append([]Message(nil), messages...), true
		}
		messages[i] = m.Live(nowMs)
	}
	return messages
}

// Live is i as it is served at a time.
func (i StoredItem) Live(nowMs int64) StoredItem {
	if !Gone(i.JSON, nowMs) {
		return i
	}
	var it Item
	if err := json.Unmarshal(i.JSON, &it); err != nil {
		return i
	}
	left := Item{Seq: it.Seq, Kind: it.Kind, From: it.From, SentAt: it.SentAt, DeletedAt: it.ExpiresAt}
	i.JSON = Encode(left)
	return i
}

// LiveItems is each of items as it is served at a time. Those that change are copied.
func LiveItems(items []StoredItem, nowMs int64) []StoredItem {
	copied := false
	for n, i := range items {
		if !Gone(i.JSON, nowMs) {
			continue
		}
		if !copied {
			items, copied = append([]StoredItem(nil), items...), true
		}
		items[n] = i.Live(nowMs)
	}
	return items
}

// living is a Store that serves nothing that had to go by now, deleted or not.
type living struct {
	Store
	nowMs func() int64
}

// Living is a store that serves nothing of what had to go by now, even where its deletion is late. nowMs is the clock that decides.
func Living(of Store, nowMs func() int64) Store { return living{of, nowMs} }

func (s living) Pull(ctx context.Context, user string, pulls []Pull) ([]Page, error) {
	pages, err := s.Store.Pull(ctx, user, pulls)
	for i := range pages {
		pages[i].Messages = LiveAll(pages[i].Messages, s.nowMs())
	}
	return pages, err
}

func (s living) Range(ctx context.Context, group string, from int64, limit, bytesMax int) ([]Message, LogEnd, error) {
	messages, end, err := s.Store.Range(ctx, group, from, limit, bytesMax)
	return LiveAll(messages, s.nowMs()), end, err
}

func (s living) Entries(ctx context.Context, group string, ids []int64) ([]Message, error) {
	messages, err := s.Store.Entries(ctx, group, ids)
	return LiveAll(messages, s.nowMs()), err
}

func (s living) Pinned(ctx context.Context, group string, id int64) (Message, error) {
	m, err := s.Store.Pinned(ctx, group, id)
	return m.Live(s.nowMs()), err
}

func (s living) InboxPull(ctx context.Context, user string, after Position, limit int) (InboxBatch, error) {
	b, err := s.Store.InboxPull(ctx, user, after, limit)
	b.Items = LiveItems(b.Items, s.nowMs())
	return b, err
}
