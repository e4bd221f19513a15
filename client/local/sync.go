package local

import (
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/chatd/chatd/client"
)

// received takes messages that the server sent, after the gap that it reported before them, if there was one. hole: ids are
// missing silently, so nothing of it was taken.
func (d *draft) received(b client.Messages, gap *client.Gap) (hole bool, err error) {
	was := d.record(b.Group)
	step := was.Log.append(b, gap)
	if step.hole || step.known {
		return step.hole, nil
	}
	held := was.Log.Held
	if step.anew {
		held = nil
		d.drop(b.Group)
	}
	lines := map[int64]entry{}
	var loose []int64
	for _, m := range step.fresh {
		if isLine(m.Kind) {
			e := entry{Message: m, At: m.ID}
			if holds(held, m.ID) { // a page brought it before
				there, known, err := d.entry(b.Group, m.ID)
				if err != nil {
					return false, err
				}
				if known {
					e = there
				}
			}
			lines[m.ID] = e
			if err := d.replied(b.Group, m, m.Thread, lines, held); err != nil {
				return false, err
			}
			continue
		}
		target, known, err := d.line(b.Group, m.Target, lines, held)
		if err != nil {
			return false, err
		}
		root := int64(0) // which has one reply less
		if deletes(m) && known {
			root = target.Thread
			if err := d.replied(b.Group, m, root, lines, held); err != nil {
				return false, err
			}
		}
		if known {
			lines[m.Target] = target.changed(m, d.me)
		}
		if !holds(step.log.Held, m.Target) || root > 0 && !holds(step.log.Held, root) { // a page that brings it may have been read before
			loose = append(loose, m.ID)
			d.putLoose(b.Group, m.ID, m)
		}
	}
	log, forgotten := step.log.loosened(loose)
	d.removeLoose(b.Group, forgotten)
	next := d.counted(was, log, b, step, gap)
	next.Bytes += d.putEntries(b.Group, lines, held)
	d.putRecord(next)
	d.settle(b.Group, log.End, step.fresh)
	if !was.Listed {
		d.stale = append(d.stale, b.Group)
	}
	return false, nil
}

// line is a line of this batch, or one that was held before.
func (d *draft) line(group string, id int64, lines map[int64]entry, held []span) (e entry, known bool, err error) {
	if e, known = lines[id]; !known && holds(held, id) {
		e, known, err = d.entry(group, id)
	}
	return e, known, err
}

// replied counts a reply in the line of its root, or the deletion of one. A reply that comes without content counts as well: whether
// the line has it already depends on when that was read, and its deletion follows.
func (d *draft) replied(group string, m client.Message, root int64, lines map[int64]entry, held []span) error {
	if root == 0 {
		return nil
	}
	e, known, err := d.line(group, root, lines, held)
	if err != nil || !known {
		return err
	}
	next := e.replied(m)
	if m.Kind == client.KindDelete && next.At > e.At && m.Target == e.LastReplyID { // the newest one was deleted
		if next.LastReplyID, err = d.newestReply(group, root, m.Target, lines, held); err != nil {
			return err
		}
	}
	lines[root] = next
	return nil
}

// newestReply returns the id of the newest reply before another one that is not deleted, as far as they are held; 0: there is none.
func (d *draft) newestReply(group string, root, before int64, lines map[int64]entry, held []span) (newest int64, err error) {
	found, err := d.store.Range(d.ctx, keyEntry(group, root+1), keyEntry(group, before), repliesMax, true)
	if err != nil {
		return 0, err
	}
	left := slices.Collect(maps.Values(lines))
	for _, f := range found {
		var e entry
		if err := decode(f.Key, f.Value, &e); err != nil {
			return 0, err
		}
		if _, other := lines[e.ID]; !other && holds(held, e.ID) {
			left = append(left, e)
		}
	}
	for _, e := range left {
		if e.Thread == root && e.ID < before && e.DeletedAt == nil {
			newest = max(newest, e.ID)
		}
	}
	return newest, nil
}

// putEntries puts lines, and returns how many bytes those have that were not held.
func (d *draft) putEntries(group string, lines map[int64]entry, held []span) (bytes int64) {
	for _, id := range slices.Sorted(maps.Keys(lines)) {
		if n := d.putEntry(group, lines[id]); !holds(held, id) {
			bytes += n
		}
	}
	return bytes
}

// settle takes out of the outbox what the log has by now.
func (d *draft) settle(group string, end int64, fresh []client.Message) {
	for _, t := range d.outbox {
		if t.Group != group {
			continue
		}
		i := slices.IndexFunc(fresh, func(m client.Message) bool { return m.ClientID == t.key() && m.From == d.me })
		if i >= 0 && t.ID == 0 {
			d.answerLater(t.key(), fresh[i], nil)
		}
		if i >= 0 || t.ID > 0 && t.ID <= end {
			d.removeTask(t)
		}
	}
}

// counted is the group after a batch: what is unread, the newest message, the name.
func (d *draft) counted(was record, log groupLog, b client.Messages, step step, gap *client.Gap) record {
	next := was
	next.Log, next.Counted = log, max(was.Counted, b.To)
	g := &next.Group
	if g.Epoch != b.Epoch {
		g.First = 0 // of another life of the log
	}
	g.Epoch = b.Epoch
	g.Last, g.First = max(g.Last, b.To), max(g.First, b.First)
	if step.anew || step.gap || gap != nil {
		g.Last, next.Counted = b.To, b.To
		d.stale = append(d.stale, b.Group)
	}
	if step.anew {
		g.LastMessage, next.Bytes = nil, 0
	}
	for _, m := range step.fresh {
		said := m.Thread == 0 && (m.Kind == client.KindText || m.Kind == client.KindData) // replies count in their threads alone
		if said && (g.LastMessage == nil || m.ID > g.LastMessage.ID) {
			g.LastMessage = &m
		} else if g.LastMessage != nil && m.Target == g.LastMessage.ID {
			last := revised(*g.LastMessage, m.Content, m.Files, m.SentAt)
			g.LastMessage = &last
		}
		if m.ID <= was.Counted {
			continue
		}
		noticed(g, m, d.me)
		if m.Settings != nil && m.Settings.History != nil { // another first id
			d.stale = append(d.stale, b.Group)
		}
		mine := m.From == d.me
		if mine && g.Read == m.ID-1 {
			g.Read = m.ID // as the server does
		}
		if said && !mine && m.DeletedAt == nil && m.ID > g.Read {
			g.Unread++
			if mentioned(m.Mentions, d.me) {
				g.MentionsUnread++
			}
		}
		// Whether the deleted one counted as unread is known only to the server when it is not at hand.
		if m.Kind == client.KindDelete && m.Target > g.Read {
			d.stale = append(d.stale, b.Group)
		}
	}
	return next
}

// noticed applies a notice to what describes a group.
func noticed(g *client.GroupState, m client.Message, me string) {
	concerned := int64(max(1, len(m.Users)))
	switch {
	case m.Kind != client.KindNotice:
	case m.Notice == "renamed" && m.Name != nil:
		g.Name = *m.Name
	case m.Notice == "settings" && m.Settings != nil:
		if text, err := json.Marshal(m.Settings); err == nil {
			_ = json.Unmarshal(text, &g.Group) // the names of settings are those of the group's fields
		}
	case m.Notice == "muted" && m.User == me:
		g.MutedUntil = time.Time{}
		if m.MutedUntil != nil {
			g.MutedUntil = *m.MutedUntil
		}
	case m.Notice == "joined":
		g.Members += concerned
	case m.Notice == "left" || m.Notice == "removed":
		g.Members -= concerned
	}
}

// vanished notes that the server no longer has what is between, though no message follows.
func (d *draft) vanished(g client.Gap) error {
	_, err := d.received(client.Messages{Group: g.Group, Epoch: g.Epoch, From: g.From, To: g.From - 1, Cursor: client.At(g.From - 1)}, &g)
	return err
}

// listed takes the caller's groups as the server lists them. Counts of a list that is older than what came live, or than what
// the person has read meanwhile, are not taken; they are stale then.
func (d *draft) listed(groups []client.GroupState) {
	for _, g := range groups {
		was := d.record(g.ID)
		_, reading := d.reads[g.ID]
		next := was
		next.Listed = true
		if was.Log.placed() && (was.Log.Epoch != g.Epoch || g.Last < was.Counted || reading) {
			d.stale = append(d.stale, g.ID)
			counts := was.Group
			next.Group = g
			next.Group.Epoch, next.Group.First, next.Group.Last, next.Group.Seen = counts.Epoch, counts.First, counts.Last, counts.Seen
			next.Group.Read, next.Group.Unread, next.Group.MentionsUnread, next.Group.LastMessage = counts.Read, counts.Unread, counts.MentionsUnread, counts.LastMessage
		} else {
			next.Group, next.Counted = g, g.Last
			next.Log.Floor = min(next.Log.Floor, max(g.First, 1)) // a group may show by now what it did not
		}
		d.putRecord(next)
	}
}

// left forgets a group that the person is in no longer, with what waits to be sent there.
func (d *draft) left(group string) {
	if _, ok := d.groups[group]; !ok {
		return
	}
	d.drop(group)
	d.removeRecord(group)
	d.removeRead(group)
	for _, t := range d.outbox {
		if t.Group == group {
			d.removeTask(t)
			d.answerLater(t.key(), client.Message{}, &Failure{Code: client.CodeNotFound, Detail: "no longer a member of the group"})
		}
	}
}

// welcomed begins a session. Groups of which nothing is owed to the person begin at their end.
func (d *draft) welcomed(e client.Connected) {
	for group := range d.groups {
		if _, ok := e.Groups[group]; !ok {
			d.left(group)
		}
	}
	for _, group := range slices.Sorted(maps.Keys(e.Groups)) {
		at := e.Groups[group]
		was, known := d.groups[group]
		if !known || !was.Listed {
			d.stale = append(d.stale, group)
		}
		if !known {
			was = d.record(group)
		}
		if was.Log.placed() || at.Last > at.Seen || was.Log.Epoch != "" && was.Log.Epoch != at.Epoch {
			continue
		}
		next := was
		if was.Log.missed(at.Last + 1) {
			d.drop(group)
			next.Log, next.Bytes = emptyLog(), 0
		}
		next.Log.Epoch, next.Log.End, next.Log.Since = at.Epoch, at.Last, at.Last+1
		next.Counted = max(was.Counted, at.Last)
		g := &next.Group
		g.Epoch, g.First, g.Last, g.Seen, g.Read = at.Epoch, at.First, at.Last, at.Seen, at.Read
		d.putRecord(next)
	}
}

// moved takes the caller's own positions, which may have moved on another device.
func (d *draft) moved(e client.CursorMoved) {
	was, ok := d.groups[e.Group]
	if !ok || e.User != d.me {
		return
	}
	next := was
	next.Group.Seen, next.Group.Read = e.Seen, e.Read
	if _, reading := d.reads[e.Group]; reading {
		next.Group.Read = max(e.Read, was.Group.Read)
	}
	if next.Group.Read != was.Group.Read {
		d.stale = append(d.stale, e.Group)
	}
	d.putRecord(next)
}

// readTo notes that the person has read up to id.
func (d *draft) readTo(group string, id int64) error {
	was := d.record(group)
	if id <= was.Group.Read {
		return nil
	}
	next := was
	g := &next.Group
	known, held := around(was.Log.Held, id)
	switch {
	case id >= was.Counted:
		g.Unread, g.MentionsUnread = 0, 0
	case held && known[0] <= max(g.Read+1, g.First):
		entries, err := d.store.Range(d.ctx, keyEntry(group, g.Read+1), keyEntry(group, id+1), 0, false)
		if err != nil {
			return err
		}
		for _, found := range entries {
			var e entry
			if err := decode(found.Key, found.Value, &e); err != nil {
				return err
			}
			if e.From == d.me || e.Kind == client.KindNotice || e.Thread != 0 || e.DeletedAt != nil {
				continue
			}
			g.Unread = max(0, g.Unread-1)
			if mentioned(e.Mentions, d.me) {
				g.MentionsUnread = max(0, g.MentionsUnread-1)
			}
		}
	default:
		d.stale = append(d.stale, group)
	}
	g.Read = id
	d.putRead(group, id)
	d.putRecord(next)
	return nil
}

// confirmed takes the answer to a read position; nil: it was refused for good.
func (d *draft) confirmed(group string, id int64, answer *client.Progress) {
	if d.reads[group] <= id {
		d.removeRead(group)
	}
	was, ok := d.groups[group]
	switch {
	case !ok:
	case answer == nil || answer.Unread != was.Group.Unread:
		d.stale = append(d.stale, group)
	case answer.Seen > was.Group.Seen:
		next := was
		next.Group.Seen = answer.Seen
		d.putRecord(next)
	}
}

// mentioned tells whether mentions name a user, or all members.
func mentioned(mentions []string, user string) bool {
	return slices.Contains(mentions, user) || slices.Contains(mentions, client.MentionAll)
}
