package live

import (
	"context"
	"errors"
	"slices"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/fair"
)

// syncLog is one group in a call of Sync.
type syncLog struct {
	chat.Reading
	owed   int64 // messages, by the look at it
	quota  int   // of it, the group's fair share
	gone   bool  // nothing is served: the caller named the group, or was in it, but is not in it now, or
	broken error // the log cannot be read
}

// grownMeanwhile is how many more entries are asked for than the log had when the caller was woken.
const grownMeanwhile = 4

// news reports whether the group belongs in the answer.
func (l *syncLog) news() bool { return l.Owed() > 0 || !l.Start.Complete }

// logs reads those of groups that have anything new, with as many messages as the answer may hold. looks are those that it has
// already. Groups of the index that the caller is not in are left out: the index lags. woken: others have most likely been
// woken to read the same.
func (c *syncCall) logs(ctx context.Context, groups []string, looks map[string]chat.Look, woken bool) (logs []*syncLog, err error) {
	if err := c.look(ctx, groups, looks); err != nil {
		return nil, err
	}
	hints := c.hints()
	moved := c.moved(groups, hints, looks)
	owed := make([]int64, len(moved))
	for i, g := range moved {
		owed[i] = looks[g].Owed(c.after[g])
	}
	all := make([]syncLog, 0, len(moved))
	pulls := make([]chat.Pull, 0, len(moved))
	empty := c.emptyMax(c.s.limits.PageBytesMax)
	for i, quota := range fair.Fill(owed, c.limit) {
		if quota == 0 && owed[i] > 0 {
			if empty--; empty < 0 {
				continue // the answer would not even name it
			}
		}
		l, asked := c.begin(moved[i], looks[moved[i]], owed[i], quota, woken)
		if !asked {
			continue
		}
		pull, _ := l.Ask()
		pull.Shared = woken
		all, pulls = append(all, l), append(pulls, pull)
	}
	chat.Looked(ctx, chat.PageLooks*len(pulls))
	pages, err := c.s.pulls(ctx, c.by.User, pulls)
	if err != nil {
		return nil, err
	}
	for i := range pages {
		l := &all[i]
		l.Take(&pages[i])
		switch {
		case errors.Is(l.Err, chat.ErrNotFound), errors.Is(l.Err, chat.ErrForbidden):
			if c.only != nil && !c.named[l.Group()] && !c.wasIn(l.Group()) {
				l.broken = chat.ErrNotFound
			}
			if l.gone = c.named[l.Group()] || c.wasIn(l.Group()) || l.broken != nil; l.gone {
				logs = append(logs, l)
			} else {
				c.lagged[l.Group()] = true
			}
			continue
		case l.Err != nil:
			c.s.log.ErrorContext(ctx, "cannot read a group", "group", l.Group(), "error", l.Err)
			l.gone, l.broken = true, l.Err
			logs = append(logs, l)
			continue
		}
		if l.news() {
			logs = append(logs, l)
		}
		c.noteSeen(hints[l.Group()], l.Info.Seen)
	}
	return logs, c.top(ctx, logs)
}

// begin begins to read a group that owes so much and gets so much of the limit. asked is false if the client begins at the newest
// page and there is no room for one: it has no position yet, and gets the page next time.
func (c *syncCall) begin(group string, look chat.Look, owed int64, quota int, woken bool) (l syncLog, asked bool) {
	limit := quota
	if woken {
		limit = min(quota+grownMeanwhile, c.limit)
	}
	pos := c.after[group]
	if c.newest && !pos.Set && owed > int64(quota) {
		return syncLog{Reading: chat.NewNewest(group, look.Last-int64(quota), limit), owed: int64(quota), quota: quota}, quota > 0
	}
	return syncLog{Reading: chat.NewReading(group, pos, max(look.Seen, 0), limit), owed: owed, quota: quota}, true
}

// look adds the looks at groups that are missing from looks.
func (c *syncCall) look(ctx context.Context, groups []string, looks map[string]chat.Look) error {
	var missing []string
	for _, g := range groups {
		if _, has := looks[g]; !has {
			missing = append(missing, g)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	more, err := c.s.store.Looks(ctx, c.by.User, missing, c.lookAt())
	for i, l := range more {
		looks[missing[i]] = l
	}
	return err
}

// lookAt says what the looks are compared with.
func (c *syncCall) lookAt() chat.LookAt {
	if len(c.after) > 0 {
		return chat.LookAtPosition
	}
	return chat.LookAtSeen
}

// moved are the groups that have something new for the caller or that it is not in.
func (c *syncCall) moved(groups []string, hints map[string]*chat.UserGroup, looks map[string]chat.Look) (moved []string) {
	for _, g := range groups {
		c.noteSeen(hints[g], looks[g].Seen)
		if !looks[g].Nothing(c.after[g]) {
			moved = append(moved, g)
		}
	}
	return moved
}

// hints are the entries of the index.
func (c *syncCall) hints() map[string]*chat.UserGroup {
	hints := make(map[string]*chat.UserGroup, len(c.index))
	for i := range c.index {
		hints[c.index[i].Group] = &c.index[i]
	}
	return hints
}

// noteSeen takes what the caller has seen of a group, as the group says, and corrects an index that lags; hint is the index's entry,
// nil if it has none.
func (c *syncCall) noteSeen(hint *chat.UserGroup, seen int64) {
	if hint != nil && seen > hint.Seen {
		c.s.core.NoteSeen(c.by.User, hint.Group, seen)
		hint.Seen = seen
	}
}

// foreseen says without asking the store what looks at groups that grew would most likely find: where they end is what woke
// the caller, and how far the caller is in them is what the last look has found. What the store has is compared when the page
// is read. Groups of which that is not known, or that would have nothing new, are left out, and looked at.
func (c *syncCall) foreseen(w *watch, groups []string) map[string]chat.Look {
	looks, hints := make(map[string]chat.Look, len(groups)), c.hints()
	for _, in := range w.interests {
		g := in.feed.group
		hint := hints[g]
		if _, grew := slices.BinarySearch(groups, g); !grew || hint == nil {
			continue
		}
		end := in.feed.known()
		if end.last == unknownLast {
			continue
		}
		if l := (chat.Look{Last: end.last, Epoch: end.epoch, Seen: hint.Seen}); l.Owed(c.after[g]) > 0 {
			looks[g] = l
		}
	}
	return looks
}

// top cuts what was read to each group's fair share of the limit, and reads what is missing from it: where a log has grown
// since the look at it, and where reading starts elsewhere than the position says.
func (c *syncCall) top(ctx context.Context, logs []*syncLog) error {
	var short []*syncLog
	var pulls []chat.Pull
	bytes := 0
	for _, l := range logs {
		bytes += bytesOf(l.Messages)
	}
	full := bytes >= c.s.limits.PageBytesMax // more would not fit into the answer
	for i, quota := range quotas(logs, c.limit) {
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

// quotas are the fair shares of logs after they were read: those that were asked for, where they owe what was expected.
func quotas(logs []*syncLog, limit int) []int {
	owed, quotas := make([]int64, len(logs)), make([]int, len(logs))
	same := true
	for i, l := range logs {
		if !l.gone {
			owed[i], quotas[i] = l.Owed(), l.quota
			same = same && l.owed == owed[i]
		}
	}
	if same {
		return quotas
	}
	return fair.Fill(owed, limit)
}

// batchBytes is an upper bound of the size of a batch in an answer without its messages.
const batchBytes = 400

// batchesBytes is the size that all that was read of logs would have in an answer.
func batchesBytes(logs []*syncLog) (bytes int) {
	for _, l := range logs {
		bytes += batchBytes + bytesOf(l.Messages) + len(l.Messages)
	}
	return bytes
}

// emptyMax is how many of the groups whose turn does not come are named in an answer that has so much room: a quarter of
// those that would fit.
func (c *syncCall) emptyMax(room int) int { return min(c.s.limits.PageMessagesMax, room/batchBytes/4) }

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
	emptyMax := c.emptyMax(room)
	empty := 0
	for i, n := range fair.Fit(sizes, room-min(len(logs), 2*emptyMax)*batchBytes) {
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
