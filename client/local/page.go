package local

import (
	"cmp"
	"maps"
	"slices"

	"github.com/chatd/chatd/client"
)

// repliesMax bounds how many lines are looked through for replies: those that came after a page was read, and the newest that is left.
const repliesMax = 500

// disputed are the lines that are held and have to be read again, as what a page brings cannot be applied to them: of what a gap hid,
// the changes of lines to which a later one was applied before, and replies; and replies that were deleted while they were not held.
func (d *draft) disputed(page client.Batch) (ids []int64, err error) {
	log := d.record(page.Group).Log
	add := func(id, newer int64) (e entry, err error) {
		if !holds(log.Held, id) {
			return entry{}, nil
		}
		e, known, err := d.entry(page.Group, id)
		if known && e.At > newer && e.DeletedAt == nil && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
		return e, err
	}
	for _, m := range page.Messages {
		root, hidden := m.Thread, holds(log.Gaps, m.ID)
		if hidden && m.Target > 0 {
			target, err := add(m.Target, m.ID)
			if err != nil {
				return nil, err
			}
			if root = 0; m.Kind == client.KindDelete {
				root = target.Thread
			}
		}
		if hidden || m.DeletedAt != nil && !holds(log.Held, m.ID) {
			if _, err := add(root, 0); err != nil {
				return nil, err
			}
		}
	}
	return ids, nil
}

// paged takes a page that was asked for, and what was read again of the lines that are disputed. false: nothing of it could be taken.
func (d *draft) paged(page client.Batch, before, after int64, again []client.Batch) (taken bool, err error) {
	was := d.record(page.Group)
	log, ok := was.Log.insert(page, before, after)
	if !ok {
		return false, nil
	}
	last := max(page.Last, page.To)
	lines := map[int64]entry{}
	for _, m := range page.Messages {
		if holds(was.Log.Gaps, m.ID) { // what is held does not hear of it otherwise
			e, known, err := d.line(page.Group, m.Target, lines, was.Log.Held)
			if err != nil {
				return false, err
			}
			if known {
				lines[m.Target] = e.changed(m, d.me)
			}
		}
		if !isLine(m.Kind) {
			continue
		}
		if holds(was.Log.Held, m.ID) {
			if last <= was.Log.End {
				continue
			}
			there, known, err := d.entry(page.Group, m.ID)
			if err != nil {
				return false, err
			}
			if known && there.At >= last {
				continue
			}
		}
		lines[m.ID] = entry{Message: m, At: last}
	}
	for _, b := range again {
		if len(b.Messages) == 0 || !holds(was.Log.Held, b.Messages[0].ID) {
			continue
		}
		last := max(b.Last, b.To)
		there, known, err := d.entry(page.Group, b.Messages[0].ID)
		if err != nil || known && (b.Epoch != page.Epoch || there.At > last) {
			return false, err
		}
		if known {
			lines[there.ID] = entry{Message: b.Messages[0], At: last}
		}
	}
	if err := d.sinceRead(page.Group, last, was.Log, lines); err != nil {
		return false, err
	}
	most := was.Log.taken(page)
	maps.DeleteFunc(lines, func(id int64, _ entry) bool { return id > most })
	next := was
	next.Bytes += d.putEntries(page.Group, lines, was.Log.Held)
	next.Log, next.Group.Epoch, next.Group.Last, next.Group.First = log, page.Epoch, max(was.Group.Last, last), max(page.First, 1)
	d.putRecord(next)
	return true, nil
}

// sinceRead applies to lines of a page what came live after it was read: changes, which waited for them, and replies.
func (d *draft) sinceRead(group string, last int64, log groupLog, lines map[int64]entry) error {
	if len(lines) == 0 || last >= log.End {
		return nil
	}
	var came []client.Message
	for _, id := range log.Loose {
		if id <= last {
			continue
		}
		var m client.Message
		if ok, err := d.loose(group, id, &m); err != nil {
			return err
		} else if ok {
			came = append(came, m)
		}
	}
	found, err := d.store.Range(d.ctx, keyEntry(group, last+1), keyEntry(group, log.End+1), repliesMax, false)
	if err != nil {
		return err
	}
	for _, f := range found {
		var e entry
		if err := decode(f.Key, f.Value, &e); err != nil {
			return err
		}
		if e.Thread > 0 {
			came = append(came, e.Message)
		}
	}
	slices.SortFunc(came, func(a, b client.Message) int { return cmp.Compare(a.ID, b.ID) })
	for _, m := range came {
		root := m.Thread
		if deletes(m) {
			target, _, err := d.line(group, m.Target, lines, log.Held)
			if err != nil {
				return err
			}
			root = target.Thread
		}
		if _, there := lines[root]; there {
			if err := d.replied(group, m, root, lines, log.Held); err != nil {
				return err
			}
		}
		if e, there := lines[m.Target]; there {
			lines[m.Target] = e.changed(m, d.me)
		}
	}
	return nil
}
