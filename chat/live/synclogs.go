package live

import (
	"context"
	"errors"

	"github.com/chatd/chatd/chat"
)

// syncLog is one group in a call of Sync.
type syncLog struct {
	chat.Reading
	gone   bool  // nothing is served: the caller named the group but is not in it, or
	broken error // the log cannot be read
}

// news reports whether the group belongs in the answer.
func (l *syncLog) news() bool { return l.Owed() > 0 || !l.Start.Complete }

// logs reads the caller's groups, and those it names, with as many messages as the answer may hold. Groups of the index that
// the caller is not in are left out: the index lags.
func (c *syncCall) logs(ctx context.Context, index []chat.UserGroup) (groups []string, logs []*syncLog, err error) {
	hints := make(map[string]int64, len(index))
	for _, g := range index {
		hints[g.Group] = g.Seen
	}
	groups = c.groups(index)
	n := share(c.limit, len(groups))
	all := make([]syncLog, len(groups))
	pulls := make([]chat.Pull, len(groups))
	for i, g := range groups {
		all[i].Reading = chat.NewReading(g, c.after[g], max(hints[g], c.acked[g]), n)
		pulls[i], _ = all[i].Ask()
	}
	pages, err := c.s.pulls(ctx, c.by.User, pulls)
	if err != nil {
		return nil, nil, err
	}
	for i := range pages {
		l := &all[i]
		l.Take(&pages[i])
		switch {
		case errors.Is(l.Err, chat.ErrNotFound), errors.Is(l.Err, chat.ErrForbidden):
			if l.gone = c.named[groups[i]]; l.gone {
				logs = append(logs, l)
			}
			continue
		case l.Err != nil:
			c.s.log.ErrorContext(ctx, "cannot read a group", "group", groups[i], "error", l.Err)
			l.gone, l.broken = true, l.Err
			logs = append(logs, l)
			continue
		}
		if hint, indexed := hints[groups[i]]; indexed && l.Info.Seen > hint {
			c.s.core.NoteSeen(c.by.User, groups[i], l.Info.Seen)
		}
		if l.news() {
			logs = append(logs, l)
		}
	}
	return groups, logs, c.top(ctx, logs)
}

// top cuts what was read to each group's fair share of the limit, and reads what is missing from it: for a group that is far
// behind while others are quiet, and for one where reading starts elsewhere than the position says.
func (c *syncCall) top(ctx context.Context, logs []*syncLog) error {
	owed := make([]int64, len(logs))
	for i, l := range logs {
		if !l.gone {
			owed[i] = l.Owed()
		}
	}
	var short []*syncLog
	var pulls []chat.Pull
	bytes := 0
	for _, l := range logs {
		for _, m := range l.Messages {
			bytes += len(m.JSON)
		}
	}
	full := bytes >= c.s.limits.PageBytesMax // more would not fit into the answer
	for i, quota := range fill(owed, c.limit) {
		l := logs[i]
		have := len(l.Messages)
		if have > quota {
			l.Messages = l.Messages[:quota]
		}
		if have < quota && !full {
			short = append(short, l)
			pulls = append(pulls, l.More(quota-have))
		}
	}
	pages, err := c.s.pulls(ctx, c.by.User, pulls)
	if err != nil {
		return err
	}
	for i := range pages {
		short[i].Take(&pages[i])
	}
	return nil
}

// batchBytes is an upper bound of the size of a batch in an answer without its messages.
const batchBytes = 400

// batchesBytes is the size that all that was read of logs would have in an answer.
func batchesBytes(logs []*syncLog) (bytes int) {
	for _, l := range logs {
		bytes += batchBytes
		for _, m := range l.Messages {
			bytes += len(m.JSON) + 1
		}
	}
	return bytes
}

// batches cuts what was read to room, the bytes left in the answer, and makes the batches. A group whose turn did not come
// gets an empty batch with has_more.
func (c *syncCall) batches(logs []*syncLog, room int) []chat.Batch {
	sizes := make([][]int, len(logs))
	for i, l := range logs {
		for _, m := range l.Messages {
			sizes[i] = append(sizes[i], len(m.JSON)+1)
		}
	}
	var out []chat.Batch
	// Of the groups whose turn does not come, only a quarter of those that would fit are named.
	emptyMax := min(c.s.limits.PageMessagesMax, room/batchBytes/4)
	empty := 0
	for i, n := range fit(sizes, room-min(len(logs), 2*emptyMax)*batchBytes) {
		l := logs[i]
		if l.gone {
			continue
		}
		if n == 0 && l.Start.Complete {
			if empty++; empty > emptyMax {
				continue // the answer is full; the position in this group stays
			}
		}
		out = append(out, l.Batch(l.Messages[:n]))
	}
	return out
}
