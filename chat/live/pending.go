package live

import (
	"sync"

	"github.com/chatd/chatd/chat"
)

// Bounds of what is kept for a session that does not take it. Positions and typing of others are sent while they
// are fresh or not at all; what is owed to the reader (groups, membership, inbox) is kept as flags and bounded by groups.
const (
	pendingCursorsMax = 1024 // cursor events waiting
	pendingTypingMax  = 64   // typing events waiting
	pendingCheckMax   = 1024 // groups whose membership is to be looked at; beyond, the whole index is read again
)

// pending is what the hub leaves for one reader: hints of what to look at, never payload without a bound. Nobody ever
// waits for a reader.
type pending struct {
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
	feed    *feed
	pending *pending
	at      int   // index in feed.interests; guarded by feed.mu
	dirty   bool  // in pending.dirty; guarded by pending.mu
	line    *line // of a Follower; nil for a watch
}

func newPending(user string, plain bool) *pending {
	return &pending{user: user, plain: plain, c: make(chan struct{}, 1)}
}

func (p *pending) wake() {
	select {
	case p.c <- struct{}{}:
	default:
	}
}

// grew notes that a group has something to be looked at.
func (p *pending) grew(in *interest) {
	if !p.plain {
		p.mu.Lock()
		if !in.dirty {
			in.dirty = true
			p.dirty = append(p.dirty, in)
		}
		p.mu.Unlock()
	}
	p.wake()
}

// joinedOrLeft notes a group whose membership may have changed.
func (p *pending) joinedOrLeft(group string) {
	if p.plain {
		p.wake()
		return
	}
	p.mu.Lock()
	if len(p.check) >= pendingCheckMax {
		p.lost = true
	} else {
		if p.check == nil {
			p.check = map[string]struct{}{}
		}
		p.check[group] = struct{}{}
	}
	p.mu.Unlock()
	p.wake()
}

func (p *pending) inboxGrew() {
	p.mu.Lock()
	p.inbox = true
	p.mu.Unlock()
	p.wake()
}

func (p *pending) signalsLost() {
	p.mu.Lock()
	p.lost = true
	p.mu.Unlock()
	p.wake()
}

// cursor leaves the newest position of a member.
func (p *pending) cursor(e CursorEvent) {
	if p.plain {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	key := memberKey{e.Group, e.User}
	if o := p.own[e.Group]; e.User == p.user && o.seen == e.Seen && o.read == e.Read {
		delete(p.cursors, key)
		return
	}
	if _, waiting := p.cursors[key]; !waiting && len(p.cursors) >= pendingCursorsMax && e.User != p.user {
		return
	}
	if p.cursors == nil {
		p.cursors = map[memberKey]CursorEvent{}
	}
	p.cursors[key] = e
	p.wake()
}

func (p *pending) typed(e TypingEvent) {
	if p.plain || e.User == p.user {
		return
	}
	p.mu.Lock()
	if len(p.typing) < pendingTypingMax {
		if p.typing == nil {
			p.typing = map[memberKey]struct{}{}
		}
		p.typing[memberKey{e.Group, e.User}] = struct{}{}
	}
	p.mu.Unlock()
	p.wake()
}

// acting and acted stand around an ack by this session: what the store tells of it is no news here.
func (p *pending) acting(group string) {
	p.mu.Lock()
	if p.own == nil {
		p.own = map[string]ownCursor{}
	}
	o := p.own[group]
	o.calls++
	p.own[group] = o
	p.mu.Unlock()
}

func (p *pending) acted(group string, c *chat.Cursors) {
	p.mu.Lock()
	o := p.own[group]
	o.calls = max(o.calls-1, 0) // the group may have been forgotten meanwhile
	if c != nil {
		o.seen, o.read = c.Seen, c.Read
	}
	if o == (ownCursor{}) { // nothing was done: a client may name any group, and none of them may stay
		delete(p.own, group)
	} else {
		p.own[group] = o
	}
	key := memberKey{group, p.user}
	e, waiting := p.cursors[key]
	if waiting && e.Seen == o.seen && e.Read == o.read {
		delete(p.cursors, key)
		waiting = false
	}
	p.mu.Unlock()
	if waiting {
		p.wake()
	}
}

// nextCursor takes one cursor event, nextTyping one typing event.
func (p *pending) nextCursor() *CursorEvent {
	p.mu.Lock()
	defer p.mu.Unlock()
	for key, e := range p.cursors {
		if e.User == p.user && p.own[e.Group].calls > 0 {
			continue
		}
		delete(p.cursors, key)
		if e.User == p.user { // from here on it would be news if the cursor came back to where this session had put it
			delete(p.own, e.Group)
		}
		return &e
	}
	return nil
}

func (p *pending) nextTyping() *TypingEvent {
	p.mu.Lock()
	defer p.mu.Unlock()
	for key := range p.typing {
		delete(p.typing, key)
		e := TypingEvent{Group: key.group, User: key.user}
		return &e
	}
	return nil
}

// forget drops what is kept about a group that is no longer followed.
func (p *pending) forget(group string) {
	p.mu.Lock()
	delete(p.own, group)
	p.mu.Unlock()
}
