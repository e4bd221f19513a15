package chat

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
)

// exports reads whole logs.
type exports struct {
	*base
	logs  LogStore
	holds HoldStore
}

// What of a log is in memory at once for an export. The entry that reaches ExportPageBytes is the last of a page.
const (
	exportPage      = 500 // entries
	ExportPageBytes = 128 << 10
)

// Export reads a log from a position to where it ended when the export began, page by page.
type Export struct {
	exports  *exports
	by       Caller
	group    string
	epoch    string
	from, to int64 // what is left
	end      string
	may      func(ctx context.Context, by Caller, group string) (Info, error) // whether by may read this log so
	held     bool                                                             // with what a legal hold keeps
}

// Export begins an export of a group: owner, admins and operators. after is an id or a cursor, empty for the beginning.
// ErrConflict: the cursor is of another log. Operators also get what members edited and deleted under a legal hold.
func (s *exports) Export(ctx context.Context, by Caller, group, after string) (*Export, error) {
	if err := CheckGroup(by, group); err != nil {
		return nil, err
	}
	pos := Position{Set: true}
	if after != "" {
		var err error
		if pos, err = ParsePosition(after); err != nil {
			return nil, err
		}
	}
	e, err := s.export(ctx, by, group, pos, s.managed)
	if err != nil || !by.Admin {
		return e, err
	}
	hold, err := s.holds.HoldOf(ctx, group)
	e.held = hold != nil
	return e, AsError(err)
}

// ExportOwn begins an export of what a member may read of a group. ErrNotFound, ErrForbidden.
func (s *exports) ExportOwn(ctx context.Context, by Caller, group string) (*Export, error) {
	by.Admin = false // operators read as members here
	return s.export(ctx, by, group, Position{Set: true}, s.MayRead)
}

func (s *exports) export(ctx context.Context, by Caller, group string, pos Position, may func(context.Context, Caller, string) (Info, error)) (*Export, error) {
	info, err := may(ctx, by, group)
	if err != nil {
		return nil, err
	}
	if pos.Epoch != "" && pos.Epoch != info.Epoch || pos.ID > info.Last {
		return nil, Errorf(CodeConflict, "after: the log is another one by now; export it from its beginning")
	}
	return &Export{exports: s, by: by, group: group, may: may, epoch: info.Epoch, from: pos.ID + 1, to: info.Last,
		end: FormatPosition(info.Epoch, pos.ID, pos.Mark)}, nil
}

// End is the cursor behind the last entry that was read.
func (e *Export) End() string { return e.end }

// Epoch is that of the log.
func (e *Export) Epoch() string { return e.epoch }

// Done tells whether everything was read.
func (e *Export) Done() bool { return e.from > e.to }

// Next reads the next entries; none: the export is at its end. Rights are checked each time.
func (e *Export) Next(ctx context.Context) ([]Message, error) {
	for range readTries {
		if e.from > e.to {
			return nil, nil
		}
		messages, end, err := e.exports.logs.Range(ctx, e.group, e.from, exportPage, ExportPageBytes)
		if err != nil {
			return nil, AsError(err)
		}
		// Read after the entries: what is missing before them has to be gone by now.
		info, err := e.may(ctx, e.by, e.group)
		if err != nil {
			return nil, err
		}
		if info.Epoch != e.epoch || end.Epoch != e.epoch {
			return nil, Errorf(CodeConflict, "the group was deleted meanwhile")
		}
		first := info.First
		if !e.by.Admin {
			first = info.Visible()
		}
		if e.from < first {
			var trimmed []Message
			if e.held {
				if trimmed, err = e.trimmed(ctx, first-1); err != nil {
					return nil, AsError(err)
				}
			}
			if len(trimmed) > 0 {
				return e.page(trimmed), nil
			}
			e.from = first
			continue
		}
		messages = following(messages, e.from, int(min(e.to-e.from+1, exportPage)))
		if len(messages) == 0 {
			continue
		}
		if !e.by.Admin {
			info.Redact(messages)
		}
		if e.held {
			if messages, err = e.withEarlier(ctx, messages); err != nil {
				return nil, AsError(err)
			}
		}
		return e.page(messages), nil
	}
	return nil, &Error{Code: CodeInternal, Message: "internal error", Cause: fmt.Errorf("the log of %s has a hole at %d", e.group, e.from)}
}

// page is what Next returns.
func (e *Export) page(messages []Message) []Message {
	last := messages[len(messages)-1]
	e.from, e.end = last.ID+1, FormatPosition(e.epoch, last.ID, last.Mark)
	return messages
}

// trimmed are entries that are no longer available, and that a legal hold keeps earlier readings of: what a deletion leaves of
// them, with these.
func (e *Export) trimmed(ctx context.Context, to int64) (list []Message, err error) {
	kept, err := e.exports.holds.Kept(ctx, e.group, e.from, to, 0)
	if err != nil {
		return nil, err
	}
	for _, k := range kept {
		if len(list) > 0 && list[len(list)-1].ID == k.ID {
			continue
		}
		var was Entry
		if err := json.Unmarshal(k.JSON, &was); err != nil {
			return nil, err
		}
		left := Entry{ID: was.ID, Group: was.Group, From: was.From, Content: was.erased(), SentAt: was.SentAt}
		list = append(list, Message{ID: k.ID, JSON: Encode(left)})
	}
	if len(list) == 0 {
		return nil, nil
	}
	return e.withEarlier(ctx, list)
}

// withEarlier adds to entries how they read before what was done to them under a legal hold: `earlier`, oldest first. Where that is
// much, only the first entries are returned.
func (e *Export) withEarlier(ctx context.Context, messages []Message) ([]Message, error) {
	kept, bytes := map[int64][]Kept{}, 0
	for skip := 0; ; {
		list, err := e.exports.holds.Kept(ctx, e.group, messages[0].ID, messages[len(messages)-1].ID, skip)
		if err != nil {
			return nil, err
		}
		skip += len(list)
		for _, k := range list {
			if bytes > e.exports.opt.Limits.PageBytesMax && k.ID > messages[0].ID && kept[k.ID] == nil {
				messages, list = messages[:slices.IndexFunc(messages, func(m Message) bool { return m.ID >= k.ID })], nil
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
		slices.SortFunc(earlier, func(a, b Kept) int { return cmp.Compare(a.Change, b.Change) })
		line := append(slices.Clone(m.JSON[:len(m.JSON)-1]), `,"earlier":`...)
		for n, k := range earlier {
			line = append(append(line, "[,"[min(n, 1)]), k.JSON...)
		}
		messages[i].JSON = append(line, "]}"...)
	}
	return messages, nil
}
