package live

import (
	"sync"
	"sync/atomic"
)

// Bounds of what is kept for a slow session. Other members' cursors and typing are sent while they are fresh or not at all.
// News of groups, membership and the inbox is kept as flags, bounded by the number of groups.
const (
	pendingCursorsMax = 1024 // cursor events waiting
	pendingTypingMax  = 64   // typing events waiting
	pendingCancelsMax = 64   // requests to stop writing; the answers to pieces say so as well
	pendingDraftsMax  = 16   // drafts waiting, of 16 KiB each; a client that misses one reads it when it opens the group
	pendingCheckMax   = 1024 // groups whose membership has to be checked; if there are more, the whole index is read again
)

// pending holds the hints that the hub leaves for one reader: what to look at, and never an unbounded payload. Nobody ever
// waits for a reader.
type pending struct {
	// None of these changes after subscribing.
	user    string
	session string        // the reader's own name: it gets no events about its own acks; empty for a long poll
	plain   bool          // a long poll: it has to be woken, and to know which groups grew
	every   bool          // every cursor move in its groups wakes it, too
	c       chan struct{} // capacity 1: there is something
	heard   chan struct{} // capacity 1: somebody has typed, for a long poll that asks for it; nil: it does not, or it is none

	notify atomic.Pointer[func()] // called instead of a send on c, if set

	mu      sync.Mutex          // guards all below
	dirty   []*interest         // groups that grew, each once
	check   map[string]struct{} // groups that were joined or left according to a signal
	inbox   bool                // it grew
	lost    bool                // anything may have been missed
	cursors map[memberKey]CursorEvent
	typing  map[memberKey]struct{}
	open    string // the group that the session has open
	hides   bool   // and does not see who else has
	here    *Here  // who has it open, not given yet
	cancels []StreamCancelEvent
	drafts  map[string]string // what the user has begun to write, by group
}

type memberKey struct{ group, user string }

// interest is one reader's interest in one feed. A node has one for each group of each session, so its size matters.
type interest struct {
	// None of these changes after subscribing.
	feed    *feed
	pending *pending
	line    *line // of a Follower, which contains it; nil for a watch
	at      int32 // index in feed.interests; guarded by feed.mu
	failed  bool  // in feed.unread; guarded by feed.mu
	dirty   bool  // in pending.dirty; guarded by pending.mu
}

func newPending(user string, plain bool) *pending {
	return &pending{user: user, plain: plain, c: make(chan struct{}, 1)}
}

func (p *pending) wake() {
	if notify := p.notify.Load(); notify != nil {
		(*notify)()
		return
	}
	select {
	case p.c <- struct{}{}:
	default:
	}
}

// grew notes that there is something new in a group.
func (p *pending) grew(in *interest) {
	p.mu.Lock()
	if !in.dirty {
		in.dirty = true
		p.dirty = append(p.dirty, in)
	}
	p.mu.Unlock()
	p.wake()
}

// takeGrown takes the groups that grew. all means that there may also be news of the inbox or of memberships.
func (p *pending) takeGrown() (groups []string, all bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, in := range p.dirty {
		in.dirty = false
		groups = append(groups, in.feed.group)
	}
	all = p.inbox || p.lost
	p.dirty, p.inbox, p.lost = nil, false, false
	return groups, all
}

// joinedOrLeft notes a group whose membership may have changed.
func (p *pending) joinedOrLeft(group string) {
	p.mu.Lock()
	if p.plain || len(p.check) >= pendingCheckMax {
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

// cursor notes a member's newest cursors, unless this session moved them.
func (p *pending) cursor(e CursorEvent) {
	if p.plain {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	key := memberKey{e.Group, e.User}
	_, waiting := p.cursors[key]
	if e.Origin != "" && e.Origin == p.session && !waiting {
		return // a waiting move of another session is updated instead: that session's client still has to get it
	}
	if !waiting && len(p.cursors) >= pendingCursorsMax && e.User != p.user {
		return
	}
	if p.cursors == nil {
		p.cursors = map[memberKey]CursorEvent{}
	}
	p.cursors[key] = e
	p.wake()
}

func (p *pending) typed(e TypingEvent) {
	if p.plain && p.heard == nil || e.User == p.user {
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
	if !p.plain {
		p.wake()
		return
	}
	select {
	case p.heard <- struct{}{}:
	default:
	}
}

// takeTyping takes who has typed.
func (p *pending) takeTyping() (events []TypingEvent) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for key := range p.typing {
		events = append(events, TypingEvent{Group: key.group, User: key.user})
	}
	clear(p.typing)
	return events
}

// setOpen notes which group the session has open, and whether it sees who else has. It returns the one before.
func (p *pending) setOpen(group string, hides bool) (before string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	before, p.open, p.hides = p.open, group, hides
	if before != group || hides {
		p.here = nil
	}
	return before
}

func (p *pending) hasOpen() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.open
}

// sees notes who has the group open that the session has open.
func (p *pending) sees(here Here) {
	p.mu.Lock()
	if p.open == here.Group && !p.hides {
		p.here = &here
	}
	p.mu.Unlock()
	p.wake()
}

// drafted notes what the user has begun to write, the newest of each group.
func (p *pending) drafted(e DraftEvent) {
	if p.plain {
		return
	}
	p.mu.Lock()
	if _, waiting := p.drafts[e.Group]; waiting || len(p.drafts) < pendingDraftsMax {
		if p.drafts == nil {
			p.drafts = map[string]string{}
		}
		p.drafts[e.Group] = e.JSON
	}
	p.mu.Unlock()
	p.wake()
}

// cancelled notes that somebody asks the user to stop writing a message.
func (p *pending) cancelled(e StreamCancelEvent) {
	p.mu.Lock()
	if len(p.cancels) < pendingCancelsMax {
		p.cancels = append(p.cancels, e)
	}
	p.mu.Unlock()
	p.wake()
}

// nextLocked takes one event that needs nothing else: a cursor, or else typing, or else a request to stop, or else a draft.
func (p *pending) nextLocked() (e Event, ok bool) {
	for key := range p.cursors {
		cursor := p.cursors[key] // no variable of the loop: that would be allocated even where there is nothing
		delete(p.cursors, key)
		return Event{Cursor: &cursor}, true
	}
	for key := range p.typing {
		delete(p.typing, key)
		return Event{Typing: &TypingEvent{Group: key.group, User: key.user}}, true
	}
	if p.here != nil {
		here := *p.here
		p.here = nil
		return Event{Here: &here}, true
	}
	if len(p.cancels) > 0 {
		cancel := p.cancels[0]
		if p.cancels = p.cancels[1:]; len(p.cancels) == 0 {
			p.cancels = nil
		}
		return Event{Cancel: &cancel}, true
	}
	for group, draft := range p.drafts {
		delete(p.drafts, group)
		return Event{Draft: &DraftEvent{group, draft}}, true
	}
	return Event{}, false
}
