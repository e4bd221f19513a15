package live

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/chatd/chatd/chat"
)

// hub follows the groups and users that have a live reader on this node. The store's signals arrive through deliver, which
// wakes the readers. They take what comes after their positions from the rings, or from the store if they are behind.
type hub struct {
	store  Store
	limits chat.Limits
	log    *slog.Logger

	mu     sync.RWMutex
	groups map[string]*feed
	users  map[string]*userFeed

	repairs   *feedQueue    // feeds with a hole
	lost      chan struct{} // capacity 1: signals may have been missed
	throttled *feedQueue    // feeds with waiting cursor events

	// Of the safety check.
	growth  map[int]int64 // of the inboxes at the last one; nil: there was none
	checked int           // how many there were
}

// userFeed is what a node follows about one user.
type userFeed struct {
	readers   []*pending // mostly one
	confirmed bool
	inboxEnd  chat.InboxEnd // what readers were last woken for; Last is unknownLast if they were not
	idleSince time.Time
}

func newHub(store Store, limits chat.Limits, log *slog.Logger) *hub {
	return &hub{
		store: store, limits: limits, log: log,
		groups: map[string]*feed{}, users: map[string]*userFeed{},
		repairs:   newFeedQueue(),
		lost:      make(chan struct{}, 1),
		throttled: newFeedQueue(),
	}
}

func (h *hub) group(id string) *feed {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return h.groups[id]
}

// deliver applies one signal of the store. It never blocks.
func (h *hub) deliver(s Signal) {
	switch s.Kind {
	case SignalMessage:
		if fd := h.group(s.Group); fd != nil {
			h.after(fd, fd.take(s.Epoch, s.Message, s.Changed))
		}
	case SignalCursor:
		h.cursor(CursorEvent{Group: s.Group, User: s.User, Seen: s.Seen, Read: s.Read, Origin: s.Origin})
	case SignalTyping:
		if fd := h.group(s.Group); fd != nil {
			fd.each(func(in *interest) { in.pending.typed(TypingEvent{Group: s.Group, User: s.User}) })
		}
	case SignalDeleted:
		if fd := h.group(s.Group); fd != nil {
			h.after(fd, fd.deleted(s.Epoch))
		}
	case SignalExpired:
		if fd := h.group(s.Group); fd != nil {
			fd.expired(s.Epoch, s.Seen)
		}
	case SignalInbox:
		h.eachReader(s.User, (*pending).inboxGrew)
	case SignalJoined, SignalLeft:
		h.eachReader(s.User, func(p *pending) { p.joinedOrLeft(s.Group) })
	case SignalCut:
		h.cut()
	case SignalLost:
		h.cut()
		select {
		case h.lost <- struct{}{}:
		default:
		}
	}
}

// cut notes that signals may have been missed, of any feed.
func (h *hub) cut() {
	h.mu.RLock()
	defer h.mu.RUnlock()
	for _, fd := range h.groups {
		fd.cut()
	}
}

// after acts on a change of a feed: it wakes readers, or queues a fill.
func (h *hub) after(fd *feed, c change) {
	if c.grew {
		fd.each(func(in *interest) { in.pending.grew(in) })
	}
	if c.hole {
		h.needRepair(fd)
	}
}

// deleted discards the log: readers ask the store what happened to the group.
func (f *feed) deleted(epoch string) change {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.last != unknownLast && f.epoch != epoch {
		return change{}
	}
	f.life++
	f.resetLocked("", 0)
	f.last = unknownLast
	return change{grew: true}
}

// each calls do for every interest in the feed. do must not block and must not lock feed.mu. Readers take what is new while
// others are still being woken.
func (f *feed) each(do func(*interest)) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	for _, in := range f.interests {
		do(in)
	}
}

func (h *hub) eachReader(user string, do func(*pending)) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	if u := h.users[user]; u != nil {
		for _, p := range u.readers {
			do(p)
		}
	}
}

// subscribe registers p's interest in each of groups and in its user, and returns once the store has confirmed all
// subscriptions. The interests are in the order of groups, each made by fresh. Pass them to unsubscribe in the end, also
// after an error.
func (h *hub) subscribe(ctx context.Context, p *pending, groups []string, fresh func() *interest) ([]*interest, error) {
	var interests []*interest
	var newGroups, newUsers []string
	h.mu.Lock()
	u := h.users[p.user]
	if u == nil {
		u = &userFeed{inboxEnd: chat.InboxEnd{Last: unknownLast}}
		h.users[p.user] = u
	}
	if !slices.Contains(u.readers, p) {
		u.readers = append(u.readers, p)
	}
	if !u.confirmed {
		newUsers = []string{p.user}
	}
	for _, g := range groups {
		fd := h.groups[g]
		if fd == nil {
			fd = newFeed(g, h.limits.RingEntries)
			h.groups[g] = fd
		}
		in := fresh()
		in.feed, in.pending = fd, p
		if !fd.add(in) {
			newGroups = append(newGroups, g)
		}
		interests = append(interests, in)
	}
	h.mu.Unlock()
	if len(newGroups)+len(newUsers) == 0 {
		return interests, nil
	}
	if err := h.store.Follow(ctx, newGroups, newUsers); err != nil {
		return interests, err
	}
	for _, in := range interests {
		in.feed.confirm()
	}
	h.mu.Lock()
	u.confirmed = true
	h.mu.Unlock()
	return interests, nil
}

// add registers in and reports whether the store has already confirmed the subscription.
func (f *feed) add(in *interest) (confirmed bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	in.at = int32(len(f.interests))
	f.interests = append(f.interests, in)
	if in.pending.every {
		if f.waiters == nil {
			f.waiters = map[*pending]struct{}{}
		}
		f.waiters[in.pending] = struct{}{}
	}
	return f.confirmed
}

func (f *feed) confirm() {
	f.mu.Lock()
	f.confirmed = true
	f.mu.Unlock()
}

// unsubscribe removes interests. Their feeds linger for the next reader.
func (h *hub) unsubscribe(p *pending, interests ...*interest) {
	for _, in := range interests {
		in.feed.remove(in)
	}
}

func (f *feed) remove(in *interest) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if int(in.at) >= len(f.interests) || f.interests[in.at] != in {
		return
	}
	delete(f.waiters, in.pending)
	end := len(f.interests) - 1
	moved := f.interests[end]
	f.interests[in.at], moved.at = moved, in.at
	f.interests[end] = nil
	f.interests = f.interests[:end]
	if end == 0 {
		f.idleSince = time.Now()
	}
}

// leave ends p's interest in its user.
func (h *hub) leave(p *pending) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if u := h.users[p.user]; u != nil {
		u.readers = slices.DeleteFunc(u.readers, func(one *pending) bool { return one == p })
		u.idleSince = time.Now()
	}
}

// inboxSeen records for the safety check where a reader found the end of the inbox.
func (h *hub) inboxSeen(user string, end chat.InboxEnd) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if u := h.users[user]; u != nil && (end.Last >= u.inboxEnd.Last || end.Epoch != u.inboxEnd.Epoch) {
		u.inboxEnd = end
	}
}

// evictIdle unfollows what nobody has read for a while. It calls Unfollow under the lock, so that it cannot overtake the
// Follow of a reader that arrives at this moment.
func (h *hub) evictIdle(now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	crowded := len(h.groups)+len(h.users) > followedMax
	var groups, users []string
	for id, fd := range h.groups {
		if fd.idle(now, h.limits.FeedLinger, crowded) {
			groups = append(groups, id)
			delete(h.groups, id)
		}
	}
	for id, u := range h.users {
		if len(u.readers) == 0 && (crowded || now.Sub(u.idleSince) > h.limits.FeedLinger) {
			users = append(users, id)
			delete(h.users, id)
		}
	}
	if len(groups)+len(users) > 0 {
		h.store.Unfollow(groups, users)
	}
}

func (f *feed) idle(now time.Time, linger time.Duration, crowded bool) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.interests) == 0 && (crowded || now.Sub(f.idleSince) > linger)
}
