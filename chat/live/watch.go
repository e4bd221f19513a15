package live

import (
	"context"
	"sync"

	"github.com/chatd/chatd/chat"
)

// Bounds of what a tray keeps for a session that does not take it. Positions and typing of others are told while they
// are fresh or not at all; what is owed to the reader (groups, membership, inbox) is kept as flags and bounded by groups.
const (
	trayCursorsMax = 1024 // cursor events waiting
	trayTypingMax  = 64   // typing events waiting
	trayCheckMax   = 1024 // groups whose membership is to be looked at; beyond, the whole index is read again
)

// tray is what the hub leaves for one reader: hints of what to look at, never payload without a bound. Nobody ever
// waits for a reader.
type tray struct {
	user  string
	plain bool          // a long poll: it only wants to be woken
	every bool          // it is woken by every cursor of its groups too
	c     chan struct{} // capacity 1: there is something

	mu      sync.Mutex
	dirty   []*interest         // groups that grew, each once
	check   map[string]struct{} // groups joined or left, as far as one hears
	inbox   bool
	lost    bool // anything may have been missed
	cursors map[memberKey]CursorEvent
	typing  map[memberKey]struct{}
	own     map[string]ownCursor
}

type memberKey struct{ group, user string }

// ownCursor is what this very session did to its cursor, which is no news to it.
type ownCursor struct {
	calls      int // acks under way: what is told of the cursor meanwhile may be theirs
	seen, read int64
}

// interest is one reader's interest in one feed.
type interest struct {
	feed  *feed
	tray  *tray
	at    int   // index in feed.interests; guarded by feed.mu
	dirty bool  // in tray.dirty; guarded by tray.mu
	line  *line // of a Follower; nil for a watch
}

func newTray(user string, plain bool) *tray {
	return &tray{user: user, plain: plain, c: make(chan struct{}, 1)}
}

func (t *tray) wake() {
	select {
	case t.c <- struct{}{}:
	default:
	}
}

// grew marks a group as worth looking at.
func (t *tray) grew(in *interest) {
	if !t.plain {
		t.mu.Lock()
		if !in.dirty {
			in.dirty = true
			t.dirty = append(t.dirty, in)
		}
		t.mu.Unlock()
	}
	t.wake()
}

// member marks a group whose membership may have changed.
func (t *tray) member(group string) {
	if t.plain {
		t.wake()
		return
	}
	t.mu.Lock()
	if len(t.check) >= trayCheckMax {
		t.lost = true
	} else {
		if t.check == nil {
			t.check = map[string]struct{}{}
		}
		t.check[group] = struct{}{}
	}
	t.mu.Unlock()
	t.wake()
}

func (t *tray) inboxGrew() {
	t.mu.Lock()
	t.inbox = true
	t.mu.Unlock()
	t.wake()
}

func (t *tray) signalsLost() {
	t.mu.Lock()
	t.lost = true
	t.mu.Unlock()
	t.wake()
}

// cursor leaves the newest position of a member.
func (t *tray) cursor(e CursorEvent) {
	if t.plain {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	key := memberKey{e.Group, e.User}
	if o := t.own[e.Group]; e.User == t.user && o.seen == e.Seen && o.read == e.Read {
		delete(t.cursors, key)
		return
	}
	if _, waiting := t.cursors[key]; !waiting && len(t.cursors) >= trayCursorsMax && e.User != t.user {
		return
	}
	if t.cursors == nil {
		t.cursors = map[memberKey]CursorEvent{}
	}
	t.cursors[key] = e
	t.wake()
}

func (t *tray) typed(e TypingEvent) {
	if t.plain || e.User == t.user {
		return
	}
	t.mu.Lock()
	if len(t.typing) < trayTypingMax {
		if t.typing == nil {
			t.typing = map[memberKey]struct{}{}
		}
		t.typing[memberKey{e.Group, e.User}] = struct{}{}
	}
	t.mu.Unlock()
	t.wake()
}

// acting and acted stand around an ack by this session: what the store tells of it is no news here.
func (t *tray) acting(group string) {
	t.mu.Lock()
	if t.own == nil {
		t.own = map[string]ownCursor{}
	}
	o := t.own[group]
	o.calls++
	t.own[group] = o
	t.mu.Unlock()
}

func (t *tray) acted(group string, c *chat.Cursors) {
	t.mu.Lock()
	o := t.own[group]
	o.calls = max(o.calls-1, 0) // the group may have been forgotten meanwhile
	if c != nil {
		o.seen, o.read = c.Seen, c.Read
	}
	if o == (ownCursor{}) { // nothing was done: a client may name any group, and none of them may stay
		delete(t.own, group)
	} else {
		t.own[group] = o
	}
	key := memberKey{group, t.user}
	e, waiting := t.cursors[key]
	if waiting && e.Seen == o.seen && e.Read == o.read {
		delete(t.cursors, key)
		waiting = false
	}
	t.mu.Unlock()
	if waiting {
		t.wake()
	}
}

// nextCursor takes one cursor event, nextTyping one typing event.
func (t *tray) nextCursor() *CursorEvent {
	t.mu.Lock()
	defer t.mu.Unlock()
	for key, e := range t.cursors {
		if e.User == t.user && t.own[e.Group].calls > 0 {
			continue
		}
		delete(t.cursors, key)
		if e.User == t.user { // from here on it would be news if the cursor came back to where this session had put it
			delete(t.own, e.Group)
		}
		return &e
	}
	return nil
}

func (t *tray) nextTyping() *TypingEvent {
	t.mu.Lock()
	defer t.mu.Unlock()
	for key := range t.typing {
		delete(t.typing, key)
		e := TypingEvent{Group: key.group, User: key.user}
		return &e
	}
	return nil
}

// forget drops what is kept about a group that is no longer followed.
func (t *tray) forget(group string) {
	t.mu.Lock()
	delete(t.own, group)
	t.mu.Unlock()
}

// watch waits for anything new for one user: a long poll between its pulls.
type watch struct {
	hub       *hub
	tray      *tray
	interests []*interest
	once      sync.Once
}

// watch subscribes to user and groups and returns when the store has confirmed it: what is appended after that wakes the
// watch. The caller pulls once after it, then waits on C and pulls again. Close it when done.
func (h *hub) watch(ctx context.Context, user string, groups []string) (*watch, error) {
	return h.watchWith(ctx, newTray(user, true), groups)
}

// watchCursors is watch for one group, woken by every move of a member's cursor too.
func (h *hub) watchCursors(ctx context.Context, user, group string) (*watch, error) {
	t := newTray(user, true)
	t.every = true
	return h.watchWith(ctx, t, []string{group})
}

func (h *hub) watchWith(ctx context.Context, t *tray, groups []string) (*watch, error) {
	w := &watch{hub: h, tray: t}
	interests, err := h.subscribe(ctx, w.tray, groups)
	if err != nil {
		h.unsubscribe(w.tray, interests...)
		h.leave(w.tray)
		return nil, err
	}
	w.interests = interests
	return w, nil
}

// C receives when there may be something new: a message in one of the groups, an inbox item, a group joined or left. It
// may receive for nothing.
func (w *watch) C() <-chan struct{} { return w.tray.c }

// Close ends the watch. It may be called more than once.
func (w *watch) Close() {
	w.once.Do(func() {
		w.hub.unsubscribe(w.tray, w.interests...)
		w.hub.leave(w.tray)
	})
}
