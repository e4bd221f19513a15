package chat

import (
	"context"
	"sync"
)

// Bounds of what a mailbox keeps for a session that does not take it. Positions and typing of others are told while they
// are fresh or not at all; what is owed to the reader (groups, membership, inbox) is kept as flags and bounded by groups.
const (
	mailboxCursorsMax = 1024 // cursor events waiting
	mailboxTypingMax  = 64   // typing events waiting
	mailboxCheckMax   = 1024 // groups whose membership is to be looked at; beyond, the whole index is read again
)

// mailbox is what the feeds leave for one reader: hints of what to look at, never payload without a bound. Nobody ever
// waits for a reader.
type mailbox struct {
	user  string
	plain bool          // a long poll: it only wants to be woken
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
	box   *mailbox
	at    int   // index in feed.interests; guarded by feed.mu
	dirty bool  // in box.dirty; guarded by box.mu
	line  *line // of a Follower; nil for a watch
}

func newMailbox(user string, plain bool) *mailbox {
	return &mailbox{user: user, plain: plain, c: make(chan struct{}, 1)}
}

func (b *mailbox) wake() {
	select {
	case b.c <- struct{}{}:
	default:
	}
}

// grew marks a group as worth looking at.
func (b *mailbox) grew(in *interest) {
	if !b.plain {
		b.mu.Lock()
		if !in.dirty {
			in.dirty = true
			b.dirty = append(b.dirty, in)
		}
		b.mu.Unlock()
	}
	b.wake()
}

// member marks a group whose membership may have changed.
func (b *mailbox) member(group string) {
	if b.plain {
		b.wake()
		return
	}
	b.mu.Lock()
	if len(b.check) >= mailboxCheckMax {
		b.lost = true
	} else {
		if b.check == nil {
			b.check = map[string]struct{}{}
		}
		b.check[group] = struct{}{}
	}
	b.mu.Unlock()
	b.wake()
}

func (b *mailbox) inboxGrew() {
	b.mu.Lock()
	b.inbox = true
	b.mu.Unlock()
	b.wake()
}

func (b *mailbox) signalsLost() {
	b.mu.Lock()
	b.lost = true
	b.mu.Unlock()
	b.wake()
}

// cursor leaves the newest position of a member.
func (b *mailbox) cursor(e CursorEvent) {
	if b.plain {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	key := memberKey{e.Group, e.User}
	if o := b.own[e.Group]; e.User == b.user && o.seen == e.Seen && o.read == e.Read {
		delete(b.cursors, key)
		return
	}
	if _, waiting := b.cursors[key]; !waiting && len(b.cursors) >= mailboxCursorsMax && e.User != b.user {
		return
	}
	if b.cursors == nil {
		b.cursors = map[memberKey]CursorEvent{}
	}
	b.cursors[key] = e
	b.wake()
}

func (b *mailbox) typed(e TypingEvent) {
	if b.plain || e.User == b.user {
		return
	}
	b.mu.Lock()
	if len(b.typing) < mailboxTypingMax {
		if b.typing == nil {
			b.typing = map[memberKey]struct{}{}
		}
		b.typing[memberKey{e.Group, e.User}] = struct{}{}
	}
	b.mu.Unlock()
	b.wake()
}

// acting and acted stand around an ack by this session: what the store tells of it is no news here.
func (b *mailbox) acting(group string) {
	b.mu.Lock()
	if b.own == nil {
		b.own = map[string]ownCursor{}
	}
	o := b.own[group]
	o.calls++
	b.own[group] = o
	b.mu.Unlock()
}

func (b *mailbox) acted(group string, c *Cursors) {
	b.mu.Lock()
	o := b.own[group]
	o.calls--
	if c != nil {
		o.seen, o.read = c.Seen, c.Read
	}
	b.own[group] = o
	key := memberKey{group, b.user}
	e, waiting := b.cursors[key]
	if waiting && e.Seen == o.seen && e.Read == o.read {
		delete(b.cursors, key)
		waiting = false
	}
	b.mu.Unlock()
	if waiting {
		b.wake()
	}
}

// nextCursor takes one cursor event, nextTyping one typing event.
func (b *mailbox) nextCursor() *CursorEvent {
	b.mu.Lock()
	defer b.mu.Unlock()
	for key, e := range b.cursors {
		if e.User == b.user && b.own[e.Group].calls > 0 {
			continue
		}
		delete(b.cursors, key)
		return &e
	}
	return nil
}

func (b *mailbox) nextTyping() *TypingEvent {
	b.mu.Lock()
	defer b.mu.Unlock()
	for key := range b.typing {
		delete(b.typing, key)
		e := TypingEvent{Group: key.group, User: key.user}
		return &e
	}
	return nil
}

// forget drops what is kept about a group that is no longer followed.
func (b *mailbox) forget(group string) {
	b.mu.Lock()
	delete(b.own, group)
	b.mu.Unlock()
}

// watch waits for anything new for one user: a long poll between its pulls.
type watch struct {
	feeds     *feeds
	box       *mailbox
	interests []*interest
	once      sync.Once
}

// watch subscribes to user and groups and returns when the store has confirmed it: what is appended after that wakes the
// watch. The caller pulls once after it, then waits on C and pulls again. Close it when done.
func (f *feeds) watch(ctx context.Context, user string, groups []string) (*watch, error) {
	w := &watch{feeds: f, box: newMailbox(user, true)}
	interests, err := f.subscribe(ctx, w.box, groups)
	if err != nil {
		f.unsubscribe(w.box, interests...)
		f.leave(w.box)
		return nil, err
	}
	w.interests = interests
	return w, nil
}

// C receives when there may be something new: a message in one of the groups, an inbox item, a group joined or left. It
// may receive for nothing.
func (w *watch) C() <-chan struct{} { return w.box.c }

// Close ends the watch. It may be called more than once.
func (w *watch) Close() {
	w.once.Do(func() {
		w.feeds.unsubscribe(w.box, w.interests...)
		w.feeds.leave(w.box)
	})
}
