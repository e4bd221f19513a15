package local

import "context"

// pruneStep is how many lines one step of pruning drops.
const pruneStep = 500

// pruneLocked drops messages until less than nine tenths of what may be kept are.
func (c *Chat) pruneLocked(ctx context.Context) {
	if c.bytesLocked() <= c.most {
		return
	}
	for c.bytesLocked() > c.most-c.most/10 {
		some := false
		err := c.commitLocked(ctx, func(d *draft) (err error) {
			some, err = d.prune()
			return err
		})
		if err != nil {
			c.log.Warn("more is kept than should be", "error", err)
		}
		if err != nil || !some {
			return
		}
	}
}

func (c *Chat) bytesLocked() (n int64) {
	for _, r := range c.groups {
		n += r.Bytes
	}
	return n
}

// prune drops the oldest lines of the group that was not opened for longest. false: all that is held is shown.
func (d *draft) prune() (some bool, err error) {
	shown := map[string]bool{}
	for t := range d.timelines {
		shown[t.group] = true
	}
	var oldest *record
	for _, r := range d.groups {
		if r.Bytes > 0 && !shown[r.Group.ID] && (oldest == nil || r.Opened.Before(oldest.Opened)) {
			oldest = &r
		}
	}
	if oldest == nil {
		return false, nil
	}
	next, group := *oldest, oldest.Group.ID
	found, err := d.store.Range(d.ctx, keyEntry(group, 0), keyEntry(group, idMax), pruneStep, false)
	if err != nil {
		return false, err
	}
	last := int64(idMax - 1)
	next.Bytes = 0
	if len(found) == pruneStep {
		var e entry
		if err := decode(found[pruneStep-1].Key, found[pruneStep-1].Value, &e); err != nil {
			return false, err
		}
		last, next.Bytes = e.ID, oldest.Bytes
		for _, f := range found {
			next.Bytes -= int64(len(f.Value))
		}
		next.Bytes = max(1, next.Bytes) // there is more
	}
	next.Log.Held = cut(next.Log.Held, span{0, last})
	anew, lost := parted(next.Log.Gaps)
	next.Log.Gaps = nil
	for _, g := range append(anew, lost...) {
		if g[0] > last {
			next.Log.Gaps = append(next.Log.Gaps, g)
		}
	}
	d.changes = append(d.changes, Change{Key: keyEntry(group, 0), Until: keyEntry(group, last+1)})
	d.putRecord(next)
	return true, nil
}
