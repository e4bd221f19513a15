package local

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/chatd/chatd/client"
)

const (
	pageLines = 60  // lines of a page
	afterAt   = 30  // how many of the first one come after the message that was asked for
	pageAsked = 100 // entries that the server is asked for
	linesMax  = 500 // lines of a timeline
)

// At is where a timeline shows a log. The zero value is the end.
type At struct {
	ID     int64     // a message
	Since  time.Time // the first message since then
	Unread bool      // the first message that the person has not read

	// Thread is the root of a thread, whose replies are shown, and nothing else; they are in no other timeline. They are found by reading
	// the log back to the root: client.Client.Replies reads those of an old thread at once.
	Thread int64
}

// Timeline is a part of a group's log that is kept up to date: at most 500 lines in a row, from which more is loaded on either
// side. Close it when it is not shown any more.
type Timeline struct {
	chat    *Chat
	group   string
	thread  int64 // the root of the one whose replies it shows; 0: the group's own messages
	changed chan struct{}
	loading chan struct{} // holds a token while nothing is loaded

	// The mutex of the chat guards the rest.
	from, to int64 // the ids that are covered, of which lines has every line; from is to + 1 while none are
	lines    []entry
	tail     bool // it reaches the end, and goes on with what comes live
	unread   Unread
	life     int // rises when what is held was dropped: a page that was asked for before is void
	closed   bool
}

// Unread is what was unread when a timeline was opened or jumped to what is. The zero value: nothing was.
type Unread struct {
	ID    int64 // the first message
	Count int64
}

// View is what a timeline shows.
type View struct {
	Lines         []Line
	Before, After bool // whether there is more on that side
	Unread        Unread
}

// Timeline opens a part of a group's log. At the end it begins with what is held, and LoadBefore asks the server for more;
// elsewhere it may have to ask at once.
func (c *Chat) Timeline(ctx context.Context, group string, at At) (*Timeline, error) {
	t := &Timeline{chat: c, group: group, thread: at.Thread, changed: make(chan struct{}, 1), loading: make(chan struct{}, 1), from: 1}
	t.loading <- struct{}{}
	c.mu.Lock()
	if c.over {
		defer c.mu.Unlock()
		return nil, c.endedLocked()
	}
	c.timelines[t] = true
	err := c.commitLocked(ctx, func(d *draft) error {
		if r, ok := c.groups[group]; ok && c.clock.Now().Sub(r.Opened) > time.Minute {
			r.Opened = c.clock.Now()
			d.putRecord(r)
		}
		return nil
	})
	c.mu.Unlock()
	if err == nil {
		err = t.Jump(ctx, at)
	}
	if err != nil {
		t.Close()
		return nil, err
	}
	return t, nil
}

// Changed gets a token after each change of what View returns, and is closed with the timeline.
func (t *Timeline) Changed() <-chan struct{} { return t.changed }

// Close ends it: it is not kept up to date any more.
func (t *Timeline) Close() {
	t.chat.mu.Lock()
	defer t.chat.mu.Unlock()
	t.closeLocked()
}

func (t *Timeline) closeLocked() {
	if !t.closed {
		t.closed = true
		delete(t.chat.timelines, t)
		close(t.changed)
	}
}

// LoadBefore loads about 60 older lines, from the server if they are not held.
func (t *Timeline) LoadBefore(ctx context.Context) error {
	return t.load(ctx, func() error { return t.page(ctx, -1, pageLines, true) })
}

// LoadAfter loads about 60 newer lines.
func (t *Timeline) LoadAfter(ctx context.Context) error {
	return t.load(ctx, func() error { return t.page(ctx, 1, pageLines, true) })
}

// LoadGap asks the server for what a gap hides: the oldest 100 entries of it that there are, which then stand where they belong.
// What is left is a gap; load it as well. false: the server has none of it.
func (t *Timeline) LoadGap(ctx context.Context, gap Gap) (some bool, err error) {
	if gap.To == 0 {
		return false, nil
	}
	err = t.load(ctx, func() error {
		for range 3 {
			taken, err := t.ask(ctx, 0, gap.From-1)
			if err != nil {
				return err
			}
			if taken {
				t.chat.mu.Lock()
				left, _ := around(t.chat.record(t.group).Log.Gaps, gap.From)
				t.chat.mu.Unlock()
				some = left[1] != gap.To
				return nil
			}
		}
		return errOvertaken
	})
	return some, err
}

// Jump shows another part of the log.
func (t *Timeline) Jump(ctx context.Context, at At) error {
	return t.load(ctx, func() error { return t.show(ctx, at) })
}

// load runs one thing at a time.
func (t *Timeline) load(ctx context.Context, run func() error) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.chat.ctx.Done():
		return ErrClosed
	case <-t.loading:
	}
	defer func() { t.loading <- struct{}{} }()
	return run()
}

// show begins anew somewhere.
func (t *Timeline) show(ctx context.Context, at At) error {
	c := t.chat
	c.mu.Lock()
	g := c.record(t.group).Group
	tip := c.record(t.group).tip()
	c.mu.Unlock()
	id := int64(idMax)
	atUnread := at.Unread && g.Unread > 0
	switch {
	case atUnread:
		id = max(g.Read, g.First-1) + 1
	case at.ID > 0:
		id = at.ID
	case !at.Since.IsZero():
		var err error
		if id, err = t.since(ctx, at.Since); err != nil {
			return err
		}
	}
	ends := id > tip
	c.mu.Lock()
	t.life++
	t.to = min(tip, id+afterAt)
	t.from, t.lines, t.unread, t.tail = t.to+1, nil, Unread{}, t.to >= c.record(t.group).tip()
	c.mu.Unlock()
	if err := t.page(ctx, -1, pageLines, !ends); err != nil {
		return err
	}
	if n := len(t.View().Lines); n < pageLines {
		if err := t.page(ctx, 1, pageLines-n, true); err != nil {
			return err
		}
	}
	for atUnread {
		c.mu.Lock()
		i := slices.IndexFunc(t.lines, func(e entry) bool {
			return e.ID >= id && e.From != c.me && e.Kind != client.KindNotice && e.DeletedAt == nil
		})
		if i >= 0 {
			t.unread = Unread{t.lines[i].ID, g.Unread}
		}
		done := i >= 0 || t.tail || len(t.lines) >= linesMax
		t.changedLocked()
		c.mu.Unlock()
		if done {
			break
		}
		if err := t.page(ctx, 1, pageLines, true); err != nil {
			return err
		}
	}
	return nil
}

// since returns the id of the first entry since a time.
func (t *Timeline) since(ctx context.Context, at time.Time) (int64, error) {
	t.chat.mu.Lock()
	r := t.chat.record(t.group)
	low, high := r.floor(), r.tip()+1
	t.chat.mu.Unlock()
	for low < high {
		middle := (low + high) / 2
		page, err := t.chat.client.Messages(ctx, t.group, client.Range{After: client.At(middle - 1), Limit: 1})
		if err != nil {
			return 0, err
		}
		if len(page.Messages) > 0 && page.Messages[0].SentAt.Before(at) {
			low = max(page.Messages[0].ID, middle) + 1
		} else {
			high = middle
		}
	}
	return low, nil
}

// errOvertaken: pages were asked for again and again, and came too late each time.
var errOvertaken = errors.New("the log changed while it was loaded")

// page covers more ids on one side (by is -1 or 1), until that are so many more lines or there are no more. asks: the server is
// asked for what is not held.
func (t *Timeline) page(ctx context.Context, by int64, want int, asks bool) error {
	var last, tries int64
	for {
		t.chat.mu.Lock()
		before, after, err := t.heldLocked(ctx, by, &want)
		life := t.life
		t.changedLocked()
		t.chat.mu.Unlock()
		if err != nil || before == 0 && after == 0 || !asks {
			return err
		}
		if next := before + after; next == last {
			tries++
		} else {
			last, tries = next, 0
		}
		if tries > 2 {
			return errOvertaken
		}
		if _, err := t.ask(ctx, before, after); err != nil {
			return err
		}
		t.chat.mu.Lock()
		void := life != t.life
		t.chat.mu.Unlock()
		if void {
			return nil
		}
	}
}

// ask takes the page before an id or, if that is 0, after one. false: it came too late.
func (t *Timeline) ask(ctx context.Context, before, after int64) (taken bool, err error) {
	asked := client.Range{Before: before, Limit: pageAsked}
	if before == 0 {
		asked.After = client.At(after)
	}
	page, err := t.chat.client.Messages(ctx, t.group, asked)
	if err != nil {
		return false, err
	}
	page.Group = t.group
	again, err := t.again(ctx, page)
	if err != nil {
		return false, err
	}
	err = t.chat.commit(ctx, func(d *draft) (err error) {
		taken, err = d.paged(page, before, after, again)
		return err
	})
	return taken, err
}

// again reads lines again that are disputed.
func (t *Timeline) again(ctx context.Context, page client.Batch) (again []client.Batch, err error) {
	var ids []int64
	if err := t.chat.commit(ctx, func(d *draft) (err error) {
		ids, err = d.disputed(page)
		return err
	}); err != nil {
		return nil, err
	}
	for _, id := range ids {
		one, err := t.chat.client.Messages(ctx, t.group, client.Range{After: client.At(id - 1), Limit: 1})
		if err != nil {
			return nil, err
		}
		again = append(again, one)
	}
	return again, nil
}

// heldLocked covers what the store has of the next lines, and returns the id before or after which the server has to be asked for
// a page; 0 and 0: that is all.
func (t *Timeline) heldLocked(ctx context.Context, by int64, want *int) (before, after int64, err error) {
	c := t.chat
	for *want > 0 {
		r := c.record(t.group)
		next := t.to + 1
		if by < 0 {
			next = t.from - 1
		}
		if next <= t.thread || next < 1 || by > 0 && next > r.tip() {
			t.tail = t.to >= r.tip()
			break
		}
		held, isHeld := around(r.Log.Held, next)
		gap, isGap := around(r.Log.Gaps, next)
		switch {
		case !isHeld && next > r.tip(): // it comes live: the end was not where it seemed to be
			if len(t.lines) == 0 {
				t.to = r.tip()
			}
			t.from = r.tip() + 1
		case isHeld:
			if err := t.takeLocked(ctx, held, by, want); err != nil {
				return 0, 0, err
			}
		case isGap && by < 0:
			t.from = gap[0]
		case isGap:
			t.to = gap[1]
		case by < 0 && next < r.floor():
			below := int64(0)
			for _, s := range r.Log.Held {
				if s[1] < next {
					below = s[1]
				}
			}
			if below == 0 {
				t.tail = t.to >= r.tip()
				return 0, 0, nil
			}
			if err := c.commitLocked(ctx, func(d *draft) error { // the server no longer has what is between
				r.Log = r.Log.lost(span{below + 1, next})
				d.putRecord(r)
				return nil
			}); err != nil {
				return 0, 0, err
			}
		case by < 0:
			return next + 1, 0, nil
		default:
			return 0, next - 1, nil
		}
		t.tail = t.to >= r.tip()
	}
	return 0, 0, nil
}

// takeLocked covers lines of a span that is held.
func (t *Timeline) takeLocked(ctx context.Context, held span, by int64, want *int) error {
	from, to := t.to+1, held[1]
	if by < 0 {
		from, to = held[0], t.from-1
	}
	found, err := t.chat.store.Range(ctx, keyEntry(t.group, from), keyEntry(t.group, to+1), *want, by < 0)
	if err != nil {
		return err
	}
	lines := make([]entry, len(found))
	for i, f := range found {
		if err := decode(f.Key, f.Value, &lines[i]); err != nil {
			return err
		}
	}
	if len(found) == *want { // there may be more
		if last := lines[len(lines)-1].ID; by < 0 {
			from = last
		} else {
			to = last
		}
	}
	lines = slices.DeleteFunc(lines, func(e entry) bool { return e.Thread != t.thread })
	*want -= len(lines)
	if by < 0 {
		slices.Reverse(lines)
		t.lines, t.from = append(lines, t.lines...), from
	} else {
		t.lines, t.to = append(slices.Clip(t.lines), lines...), to
	}
	t.shortenLocked(by > 0)
	return nil
}

// shortenLocked drops what is too much, the oldest or the newest.
func (t *Timeline) shortenLocked(oldest bool) {
	extra := len(t.lines) - linesMax
	switch {
	case extra <= 0:
	case oldest:
		t.lines = t.lines[extra:]
		t.from = t.lines[0].ID
	default:
		t.lines = t.lines[:linesMax]
		t.to = t.lines[linesMax-1].ID
		t.tail = false
	}
}

// touchedLocked takes what a commit changed.
func (t *Timeline) touchedLocked(by *touch) {
	log := t.chat.record(t.group).Log
	if by.dropped {
		t.life++
		t.from, t.to, t.lines, t.tail, t.unread = 0, -1, nil, true, Unread{}
	}
	if t.tail && t.from > t.to && log.placed() { // it shows nothing yet
		want := pageLines
		t.from, t.to = log.End+1, log.End
		if _, _, err := t.heldLocked(t.chat.ctx, -1, &want); err != nil {
			t.chat.log.Warn("a timeline lacks what the store has", "group", t.group, "error", err)
		}
		return
	}
	before := t.to
	if t.tail {
		t.to = max(t.to, log.End)
	}
	hidden := int64(0) // the first of those that a gap hid
	for _, e := range by.entries {
		if e.Thread != t.thread || e.ID < t.from || e.ID > t.to {
			continue
		}
		i, known := slices.BinarySearchFunc(t.lines, e.ID, func(o entry, id int64) int { return int(o.ID - id) })
		t.lines = slices.Clone(t.lines)
		if known {
			t.lines[i] = e
		} else {
			t.lines = slices.Insert(t.lines, i, e)
			if e.ID <= before && (hidden == 0 || e.ID < hidden) {
				hidden = e.ID
			}
		}
	}
	switch {
	case hidden > 0: // what is far from the gap goes
		t.shortenLocked(hidden > t.lines[len(t.lines)/2].ID)
	case t.tail:
		t.shortenLocked(true)
	}
}

func (t *Timeline) changedLocked() {
	if !t.closed {
		signal(t.changed)
	}
}
