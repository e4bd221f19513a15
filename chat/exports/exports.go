// Package exports reads whole logs, page by page.
package exports

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/chatd/chatd/chat"
)

// Store is what exports ask of a store.
type Store interface {
	chat.LogStore
	chat.HoldStore
}

// Service exports groups.
type Service struct {
	core  *chat.Service
	store Store
}

// New makes a Service.
func New(core *chat.Service, store Store) *Service { return &Service{core, store} }

// What of a log is in memory at once for an export. The entry that reaches PageBytes is the last of a page.
const (
	page      = 500 // entries
	PageBytes = 128 << 10

	tries = 4 // how often a page is read because the log was trimmed in between
)

// Export reads a log from a position to where it ended when the export began, page by page.
type Export struct {
	exports  *Service
	by       chat.Caller
	group    string
	epoch    string
	from, to int64 // what is left
	end      string
	may      func(ctx context.Context, by chat.Caller, group string) (chat.Info, error) // whether by may read this log so
	held     bool                                                                       // with what a legal hold keeps
}

// Group begins an export of a group: owner, admins and operators. after is an id or a cursor, empty for the beginning.
// ErrConflict: the cursor is of another log. Operators also get what members edited and deleted under a legal hold.
func (s *Service) Group(ctx context.Context, by chat.Caller, group, after string) (*Export, error) {
	if err := chat.CheckGroup(by, group); err != nil {
		return nil, err
	}
	pos := chat.Position{Set: true}
	if after != "" {
		var err error
		if pos, err = chat.ParsePosition(after); err != nil {
			return nil, err
		}
	}
	e, err := s.export(ctx, by, group, pos, s.core.Managed)
	if err != nil || !by.Admin {
		return e, err
	}
	hold, err := s.store.HoldOf(ctx, group)
	e.held = hold != nil
	return e, chat.AsError(err)
}

// Own begins an export of what a member may read of a group. ErrNotFound, ErrForbidden.
func (s *Service) Own(ctx context.Context, by chat.Caller, group string) (*Export, error) {
	by.Admin = false // operators read as members here
	return s.export(ctx, by, group, chat.Position{Set: true}, s.core.MayRead)
}

func (s *Service) export(ctx context.Context, by chat.Caller, group string, pos chat.Position, may func(context.Context, chat.Caller, string) (chat.Info, error)) (*Export, error) {
	info, err := may(ctx, by, group)
	if err != nil {
		return nil, err
	}
	if pos.Epoch != "" && pos.Epoch != info.Epoch || pos.ID > info.Last {
		return nil, chat.Errorf(chat.CodeConflict, "after: the log is another one by now; export it from its beginning")
	}
	return &Export{exports: s, by: by, group: group, may: may, epoch: info.Epoch, from: pos.ID + 1, to: info.Last,
		end: chat.FormatPosition(info.Epoch, pos.ID, pos.Mark)}, nil
}

// End is the cursor behind the last entry that was read.
func (e *Export) End() string { return e.end }

// Epoch is that of the log.
func (e *Export) Epoch() string { return e.epoch }

// Done tells whether everything was read.
func (e *Export) Done() bool { return e.from > e.to }

// Next reads the next entries; none: the export is at its end. Rights are checked each time.
func (e *Export) Next(ctx context.Context) ([]chat.Message, error) {
	for range tries {
		if e.from > e.to {
			return nil, nil
		}
		messages, end, err := e.exports.store.Range(ctx, e.group, e.from, page, PageBytes)
		if err != nil {
			return nil, chat.AsError(err)
		}
		// Read after the entries: what is missing before them has to be gone by now.
		info, err := e.may(ctx, e.by, e.group)
		if err != nil {
			return nil, err
		}
		if info.Epoch != e.epoch || end.Epoch != e.epoch {
			return nil, chat.Errorf(chat.CodeConflict, "the group was deleted meanwhile")
		}
		first := info.First
		if !e.by.Admin {
			first = info.Visible()
		}
		if e.from < first {
			var trimmed []chat.Message
			if e.held {
				if trimmed, err = e.trimmed(ctx, first-1); err != nil {
					return nil, chat.AsError(err)
				}
			}
			if len(trimmed) > 0 {
				return e.page(trimmed), nil
			}
			e.from = first
			continue
		}
		messages = chat.Following(messages, e.from, int(min(e.to-e.from+1, page)))
		if len(messages) == 0 {
			continue
		}
		if !e.by.Admin {
			info.Redact(messages)
		}
		if e.held {
			if messages, err = e.withEarlier(ctx, messages); err != nil {
				return nil, chat.AsError(err)
			}
		}
		return e.page(messages), nil
	}
	return nil, &chat.Error{Code: chat.CodeInternal, Message: "internal error", Cause: fmt.Errorf("the log of %s has a hole at %d", e.group, e.from)}
}

// page is what Next returns.
func (e *Export) page(messages []chat.Message) []chat.Message {
	last := messages[len(messages)-1]
	e.from, e.end = last.ID+1, chat.FormatPosition(e.epoch, last.ID, last.Mark)
	return messages
}

// trimmed are entries that are no longer available, and that a legal hold keeps earlier readings of: what a deletion leaves of
// them, with these.
func (e *Export) trimmed(ctx context.Context, to int64) (list []chat.Message, err error) {
	kept, err := e.exports.store.Kept(ctx, e.group, e.from, to, 0)
	if err != nil {
		return nil, err
	}
	for _, k := range kept {
		if len(list) > 0 && list[len(list)-1].ID == k.ID {
			continue
		}
		var was chat.Entry
		if err := json.Unmarshal(k.JSON, &was); err != nil {
			return nil, err
		}
		left := chat.Entry{ID: was.ID, Group: was.Group, From: was.From, Content: was.Blanked(), SentAt: was.SentAt}
		list = append(list, chat.Message{ID: k.ID, JSON: chat.Encode(left)})
	}
	if len(list) == 0 {
		return nil, nil
	}
	return e.withEarlier(ctx, list)
}

// withEarlier adds to entries how they read before what was done to them under a legal hold: `earlier`, oldest first. Where that is
// much, only the first entries are returned.
func (e *Export) withEarlier(ctx context.Context, messages []chat.Message) ([]chat.Message, error) {
	kept, bytes := map[int64][]chat.Kept{}, 0
	for skip := 0; ; {
		list, err := e.exports.store.Kept(ctx, e.group, messages[0].ID, messages[len(messages)-1].ID, skip)
		if err != nil {
			return nil, err
		}
		skip += len(list)
		for _, k := range list {
			if bytes > e.exports.core.Options().Limits.PageBytesMax && k.ID > messages[0].ID && kept[k.ID] == nil {
				messages, list = messages[:slices.IndexFunc(messages, func(m chat.Message) bool { return m.ID >= k.ID })], nil
				break
			}
			kept[k.ID], bytes = append(kept[k.ID], k), bytes+len(k.JSON)
		}
		if len(list) == 0 {
			break
		}
	}
	for i, m := range messages {
		earlier := kept[m.ID]
		if len(earlier) == 0 {
			continue
		}
		slices.SortFunc(earlier, func(a, b chat.Kept) int { return cmp.Compare(a.Change, b.Change) })
		line := append(slices.Clone(m.JSON[:len(m.JSON)-1]), `,"earlier":`...)
		for n, k := range earlier {
			line = append(append(line, "[,"[min(n, 1)]), k.JSON...)
		}
		messages[i].JSON = append(line, "]}"...)
	}
	return messages, nil
}
