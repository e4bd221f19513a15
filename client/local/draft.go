package local

import (
	"context"
	"encoding/json"
	"slices"
)

// draft is a commit in the making: what is stored in one write, and applied to memory only then.
type draft struct {
	*Chat
	ctx     context.Context
	changes []Change
	apply   []func()
	touched map[string]*touch
	stale   []string // groups whose counts only the server can say
	grew    bool     // messages came
}

// touch is what a commit changed of one group.
type touch struct {
	entries []entry
	dropped bool
}

// commit has something worked out, stored and applied. What it returns is the error of make, or of the store.
func (c *Chat) commit(ctx context.Context, make func(d *draft) error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.commitLocked(ctx, make)
}

func (c *Chat) commitLocked(ctx context.Context, make func(d *draft) error) error {
	if c.over {
		return c.endedLocked()
	}
	d := &draft{Chat: c, ctx: ctx, touched: map[string]*touch{}}
	if err := make(d); err != nil {
		return err
	}
	if len(d.changes) > 0 {
		if err := c.store.Write(context.WithoutCancel(ctx), d.changes); err != nil {
			return err
		}
	}
	for _, apply := range d.apply {
		apply()
	}
	for t := range c.timelines {
		if touch := d.touched[t.group]; touch != nil {
			t.touchedLocked(touch)
		}
	}
	if d.grew {
		c.pruneLocked(ctx)
	}
	for _, group := range d.stale {
		c.stale[group] = true
	}
	if len(d.stale) > 0 {
		signal(c.list)
	}
	if len(d.apply) > 0 {
		c.changedLocked()
		c.pumpLocked()
	}
	return nil
}

func (d *draft) add(group string, change Change, apply func()) {
	d.touch(group)
	d.changes = append(d.changes, change)
	d.apply = append(d.apply, apply)
}

func (d *draft) touch(group string) *touch {
	t := d.touched[group]
	if t == nil {
		t = &touch{}
		d.touched[group] = t
	}
	return t
}

func (d *draft) putRecord(r record) {
	d.add(r.Group.ID, put(keyGroup(r.Group.ID), r), func() { d.groups[r.Group.ID] = r })
}

func (d *draft) removeRecord(group string) {
	d.add(group, Change{Key: keyGroup(group)}, func() { delete(d.groups, group) })
}

// putEntry returns how many bytes the line has.
func (d *draft) putEntry(group string, e entry) int64 {
	change := put(keyEntry(group, e.ID), e)
	d.changes = append(d.changes, change)
	d.grew = true
	t := d.touch(group)
	t.entries = append(t.entries, e)
	return int64(len(change.Value))
}

// entry reads a line that is held.
func (d *draft) entry(group string, id int64) (e entry, ok bool, err error) {
	ok, err = get(d.ctx, d.store, keyEntry(group, id), &e)
	return e, ok, err
}

// drop drops what is held of a log.
func (d *draft) drop(group string) {
	d.changes = append(d.changes, Change{Key: keyEntry(group, 0), Until: keyEntry(group, idMax)}, Change{Key: keyLoose(group, 0), Until: keyLoose(group, idMax)})
	d.touch(group).dropped = true
}

func (d *draft) putTask(t task) {
	d.add(t.Group, put(keyTask(t.N), t), func() {
		i, known := slices.BinarySearchFunc(d.outbox, t.N, func(o task, n int64) int { return int(o.N - n) })
		if known {
			d.outbox[i] = t
		} else {
			d.outbox = slices.Insert(d.outbox, i, t)
		}
	})
}

func (d *draft) removeTask(t task) {
	d.add(t.Group, Change{Key: keyTask(t.N)}, func() {
		d.outbox = slices.DeleteFunc(d.outbox, func(o task) bool { return o.N == t.N })
	})
}

func (d *draft) putRead(group string, id int64) {
	d.add(group, put(keyRead(group), read{group, id}), func() { d.reads[group] = id })
}

func (d *draft) removeRead(group string) {
	if _, ok := d.reads[group]; ok {
		d.add(group, Change{Key: keyRead(group)}, func() { delete(d.reads, group) })
	}
}

// loose reads a change whose message was not held.
func (d *draft) loose(group string, id int64, into any) (bool, error) {
	return get(d.ctx, d.store, keyLoose(group, id), into)
}

func (d *draft) putLoose(group string, id int64, m any) {
	d.changes = append(d.changes, put(keyLoose(group, id), m))
}

func (d *draft) removeLoose(group string, ids []int64) {
	for _, id := range ids {
		d.changes = append(d.changes, Change{Key: keyLoose(group, id)})
	}
}

// signal puts a token into a channel of capacity 1; one that is already there does the same.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// valid reports whether JSON of the caller is JSON.
func valid(data json.RawMessage) bool { return data == nil || json.Valid(data) }
