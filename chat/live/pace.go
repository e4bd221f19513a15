package live

import (
	"context"
	"sync"
	"time"
)

// Who is told of a member's cursors, and how often.
const (
	cursorMembersMax = 100         // members of a group beyond which only the member's own sessions are told
	cursorEvery      = time.Second // the least time between two events about one member to others
)

// pacedCursor is the last cursor event about one member of one group.
type pacedCursor struct {
	told    time.Time
	waiting *CursorEvent // newer than what was told
}

// pacing holds the feeds with cursor events that wait for their second to pass.
type pacing struct {
	mu    sync.Mutex
	feeds []*feed
	more  chan struct{} // capacity 1
}

// cursor tells a member's sessions at once, the other members of a small group once a second.
func (h *hub) cursor(e CursorEvent) {
	h.eachReader(e.User, func(p *pending) { p.cursor(e) })
	fd := h.group(e.Group)
	if fd == nil {
		return
	}
	fd.wakeWaiters()
	if fd.paceCursor(e, time.Now()) {
		h.pacing.mu.Lock()
		h.pacing.feeds = append(h.pacing.feeds, fd)
		h.pacing.mu.Unlock()
		select {
		case h.pacing.more <- struct{}{}:
		default:
		}
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

// paceCursor tells the others now or keeps e for later. first: nothing else of this feed waits yet.
func (f *feed) paceCursor(e CursorEvent, now time.Time) (first bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.members == 0 || f.members > cursorMembersMax || len(f.interests) == 0 {
		return false
	}
	p := f.paced[e.User]
	if p == nil {
		if len(f.paced) >= 2*cursorMembersMax {
			return false // members come and go faster than the pace
		}
		if f.paced == nil {
			f.paced = map[string]*pacedCursor{}
		}
		p = &pacedCursor{}
		f.paced[e.User] = p
		first = len(f.paced) == 1
	}
	if now.Sub(p.told) < cursorEvery {
		p.waiting = &e
		return first
	}
	p.told = now
	f.tellCursorLocked(e)
	return first
}

func (f *feed) tellCursorLocked(e CursorEvent) {
	for _, in := range f.interests {
		if in.pending.user != e.User {
			in.pending.cursor(e)
		}
	}
}

// flushCursors tells what has waited for a second and forgets who was quiet for one. more: something is left.
func (f *feed) flushCursors(now time.Time) (more bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for user, p := range f.paced {
		switch {
		case now.Sub(p.told) < cursorEvery:
		case p.waiting == nil:
			delete(f.paced, user)
		default:
			f.tellCursorLocked(*p.waiting)
			p.waiting, p.told = nil, now
		}
	}
	return len(f.paced) > 0
}

// pace flushes waiting cursor events four times a second while there are any.
func (h *hub) pace(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-h.pacing.more:
		}
		if !pause(ctx, cursorEvery/4) {
			return
		}
		h.flushCursors(time.Now())
	}
}

func (h *hub) flushCursors(now time.Time) {
	p := &h.pacing
	p.mu.Lock()
	waiting := p.feeds
	p.feeds = nil
	p.mu.Unlock()
	var left []*feed
	for _, fd := range waiting {
		if fd.flushCursors(now) {
			left = append(left, fd)
		}
	}
	if len(left) == 0 {
		return
	}
	p.mu.Lock()
	p.feeds = append(p.feeds, left...)
	p.mu.Unlock()
	select {
	case p.more <- struct{}{}:
	default:
	}
}
