package chat

import (
	"context"
	"errors"
)

// syncLog is one group in a call of Sync.
type syncLog struct {
	pull     Pull
	page     Page
	place    place
	messages []Message // contiguous from place.next
	gone     bool      // nothing is served: the caller named the group and is not in it, or
	broken   error     // the log cannot be read
}

// owed is how many messages the caller has not been served.
func (l *syncLog) owed() int64 { return max(0, l.page.Info.Last-l.place.next+1) }

// news tells whether the group belongs into the answer.
func (l *syncLog) news() bool { return l.owed() > 0 || !l.place.complete }

// logs reads the caller's groups, and those it names, with as many messages as the answer may hold. Groups that are
// only in the index and not to be had are left out: the index lags.
func (c *syncCall) logs(ctx context.Context, index []UserGroup) (groups []string, logs []*syncLog, err error) {
	hints := make(map[string]int64, len(index))
	for _, g := range index {
		hints[g.Group] = g.Seen
	}
	groups = c.groups(index)
	n := share(c.limit, len(groups))
	pulls := make([]Pull, len(groups))
	for i, g := range groups {
		pulls[i] = Pull{Group: g, After: storePosition(c.after[g]), Hint: max(hints[g], c.acked[g]), Limit: n}
	}
	pages, err := c.s.pulls(ctx, c.by.User, pulls)
	if err != nil {
		return nil, nil, err
	}
	for i, page := range pages {
		l := &syncLog{pull: pulls[i], page: page}
		switch {
		case errors.Is(page.Err, ErrNotFound), errors.Is(page.Err, ErrForbidden):
			if l.gone = c.named[groups[i]]; l.gone {
				logs = append(logs, l)
			}
			continue
		case page.Err != nil:
			c.s.opt.Log.ErrorContext(ctx, "a group cannot be read", "group", groups[i], "error", page.Err)
			l.gone, l.broken = true, page.Err
			logs = append(logs, l)
			continue
		}
		if hint, indexed := hints[groups[i]]; indexed && page.Info.Seen > hint {
			c.s.hints.add(c.by.User, groups[i], page.Info.Seen)
		}
		l.place = judge(page.Info, c.after[groups[i]], page.At)
		if begins(page, l.place.next) {
			l.messages = page.Messages
		}
		if l.news() {
			logs = append(logs, l)
		}
	}
	return groups, logs, c.top(ctx, logs)
}

// top cuts what was read to each group's fair part of the limit, and reads what is missing to it: of a group that is
// far behind while others are quiet, and of one that begins elsewhere than the position said.
func (c *syncCall) top(ctx context.Context, logs []*syncLog) error {
	owed := make([]int64, len(logs))
	for i, l := range logs {
		if !l.gone {
			owed[i] = l.owed()
		}
	}
	var short []*syncLog
	var pulls []Pull
	for i, quota := range fill(owed, c.limit) {
		l := logs[i]
		have := len(l.messages)
		if have > quota {
			l.messages = l.messages[:quota]
		}
		if have < quota {
			short = append(short, l)
			pulls = append(pulls, Pull{Group: l.pull.Group, Limit: quota - have,
				After: Position{Set: true, ID: l.place.next - 1 + int64(have)}})
		}
	}
	if len(pulls) == 0 {
		return nil
	}
	pages, err := c.s.pulls(ctx, c.by.User, pulls)
	if err != nil {
		return err
	}
	for i, page := range pages {
		l := short[i]
		// What changed in between (left, trimmed, another life of the log) is for the next call.
		if page.Err == nil && page.Info.Epoch == l.page.Info.Epoch && len(page.Messages) > 0 &&
			page.Messages[0].ID == l.place.next+int64(len(l.messages)) {
			l.messages = append(l.messages[:len(l.messages):len(l.messages)], page.Messages...)
		}
	}
	return nil
}

// batches cuts to the bytes of one answer and makes the batches. A group whose turn did not come is there with an empty
// batch that says has_more.
func (c *syncCall) batches(logs []*syncLog) []Batch {
	sizes := make([][]int, len(logs))
	for i, l := range logs {
		for _, m := range l.messages {
			sizes[i] = append(sizes[i], len(m.JSON)+1)
		}
	}
	var out []Batch
	empty := 0
	for i, n := range fit(sizes, c.s.opt.Limits.PageBytesMax) {
		l := logs[i]
		if l.gone {
			continue
		}
		if n == 0 && l.place.complete {
			if empty++; empty > c.s.opt.Limits.PageMessagesMax {
				continue // the answer is long enough; nothing of this group moves
			}
		}
		out = append(out, newBatch(l.page.Info, l.place, c.after[l.pull.Group], l.page.At, l.messages[:n]))
	}
	return out
}
