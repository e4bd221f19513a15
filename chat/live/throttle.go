package live

import (
	"context"
	"time"
)

// Who gets events about a member's cursors, and how often.
const (
	cursorMembersMax = 100         // in larger groups only the member's own sessions get them
	cursorEvery      = time.Second // the minimum time between two events about one member to others
)

// throttle holds back the cursor events about one member of one group. feed.mu guards it.
type throttle struct {
	sent    time.Time    // when others last got an event about the member
	waiting *CursorEvent // a newer one; nil: none
}

// cursor sends an event to the member's own sessions at once, to the other members of a small group once a second.
func (h *hub) cursor(e CursorEvent) {
	h.eachReader(e.User, func(p *pending) { p.cursor(e) })
	fd := h.group(e.Group)
	if fd == nil {
		return
	}
	fd.wakeWaiters()
	if !e.Quiet && fd.throttleCursor(e, time.Now()) {
		h.throttled.Add(fd)
	}
}

// wakeWaiters wakes those who wait for the cursors of the group.
func (f *feed) wakeWaiters() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for p := range f.waiters {
		p.wake()
	}
}

// throttleCursor sends e to the others now or keeps it for later. first means that the feed has to be flushed from now on.
func (f *feed) throttleCursor(e CursorEvent, now time.Time) (first bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if n := f.ring.members; n == 0 || n > cursorMembersMax || len(f.interests) == 0 {
		return false
	}
	t := f.throttles[e.User]
	if t == nil {
		if len(f.throttles) >= 2*cursorMembersMax {
			return false // members are joining and leaving faster than events are sent
		}
		if f.throttles == nil {
			f.throttles = map[string]*throttle{}
		}
		t = &throttle{}
		f.throttles[e.User] = t
		first = len(f.throttles) == 1
	}
	if now.Sub(t.sent) < cursorEvery {
		t.waiting = &e
		return first
	}
	t.sent = now
	f.sendCursorLocked(e)
	return first
}

func (f *feed) sendCursorLocked(e CursorEvent) {
	veils := f.hides != nil && !e.Named
	if veils && f.hides(e.User) {
		return
	}
	for _, in := range f.interests {
		if in.pending.user != e.User && !(veils && f.hides(in.pending.user)) {
			in.pending.cursor(e)
		}
	}
}

// flushCursors sends what has waited for a second, and drops members without events for a second. more means that something
// is left.
func (f *feed) flushCursors(now time.Time) (more bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for user, t := range f.throttles {
		switch {
		case now.Sub(t.sent) < cursorEvery:
		case t.waiting == nil:
			delete(f.throttles, user)
		default:
			f.sendCursorLocked(*t.waiting)
			t.waiting, t.sent = nil, now
		}
	}
	return len(f.throttles) > 0
}

// flushLoop sends waiting cursor events four times a second while there are any.
func (h *hub) flushLoop(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-h.throttled.More():
		}
		if !pause(ctx, cursorEvery/4) {
			return
		}
		now := time.Now()
		for _, fd := range h.throttled.TakeAll() {
			if fd.flushCursors(now) {
				h.throttled.Add(fd)
			}
		}
	}
}
