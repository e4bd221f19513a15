package live

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/internal/queued"
)

// hub follows the groups and users that have a live reader on this node. The store's signals arrive through deliver, which
// wakes the readers. They take what comes after their positions from the rings, or from the store if they are behind.
type hub struct {
	store  Store
	limits chat.Limits
	log    *slog.Logger
	nowMs  func() int64 // by the clock of the store
	hides  func(user string) bool

	mu     sync.RWMutex // guards both, and all of a userFeed
	groups map[string]*feed
	users  map[string]*userFeed

	opens     *opens
	repairs   *queued.List[*feed] // feeds with a hole
	lost      chan struct{}       // capacity 1: signals may have been missed
	throttled *queued.List[*feed] // feeds with waiting cursor events
	streams   *queued.List[*feed] // feeds of which what is being written has to be read

	// Owned by the goroutine of checks.
	growth  map[int]int64 // of the inboxes at the last check; nil: there was none
	checked int           // number of checks
}

// userFeed is what a node follows about one user. hub.mu guards it.
type userFeed struct {
	readers   []*pending    // mostly one
	confirmed bool          // the store has confirmed the subscription
	inboxEnd  chat.InboxEnd // what readers were last woken for; Last is unknownLast if they were not
	idleSince time.Time     // when the last reader left
	tide      *tide         // of the index
}

func newHub(store Store, limits chat.Limits, log *slog.Logger) *hub {
	return &hub{
		store: store, limits: limits, log: log,
		groups: map[string]*feed{}, users: map[string]*userFeed{},
		opens:     newOpens(),
		repairs:   queued.New[*feed](),
		lost:      make(chan struct{}, 1),
		throttled: queued.New[*feed](),
		streams:   queued.New[*feed](),
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
	case SignalMessage, SignalDeleted, SignalExpired, SignalTyping, SignalStream, SignalCancel:
		if fd := h.group(s.Group); fd != nil {
			h.deliverTo(fd, s)
		}
	case SignalCursor:
		h.cursor(CursorEvent{Group: s.Group, User: s.User, Seen: s.Seen, Read: s.Read, Named: s.Named, Quiet: s.Quiet, Origin: s.Origin})
	case SignalInbox:
		h.eachReader(s.User, (*pending).inboxGrew)
	case SignalUnknown:
		h.moved(s.Group, s.User)
	case SignalJoined, SignalLeft:
		h.moved("", s.User)
		h.eachReader(s.User, func(p *pending) { p.joinedOrLeft(s.Group) })
	case SignalHere:
		h.opens.signal(s.Group, s.Node)
	case SignalShown:
		h.eachReader(s.User, func(p *pending) { h.opens.shown(p, s.Shown) })
	case SignalDraft:
		h.eachReader(s.User, func(p *pending) { p.drafted(DraftEvent{s.Group, s.Draft}) })
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

// deliverTo applies a signal of a group.
func (h *hub) deliverTo(fd *feed, s Signal) {
	switch s.Kind {
	case SignalMessage:
		fd.tide.move()
		fd.noteStreams(s)
		h.apply(fd, func(r *ring) change { return r.take(s.Epoch, s.Message, s.Changed) })
	case SignalDeleted:
		fd.tide.move()
		h.apply(fd, func(r *ring) change { return r.deleted(s.Epoch) })
	case SignalExpired:
		h.apply(fd, func(r *ring) change { r.expire(s.Epoch, s.Seen); return change{} })
	case SignalStream:
		h.streamed(fd, s)
	case SignalCancel:
		h.cancelled(fd, s)
	case SignalTyping:
		large := s.Large || fd.large()
		fd.each(func(in *interest) {
			if !large || in.pending.hasOpen() == s.Group {
				in.pending.typed(TypingEvent{Group: s.Group, User: s.User})
			}
		})
	}
}

// cut notes that signals may have been missed, of any feed.
func (h *hub) cut() {
	h.mu.RLock()
	defer h.mu.RUnlock()
	for _, u := range h.users {
		u.tide.move()
	}
	for _, fd := range h.groups {
		fd.tide.move()
		fd.mu.Lock()
		fd.ring.cut()
		fd.mu.Unlock()
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
// subscriptions. The interests are in the order of groups, each made by fresh. Remove them from their feeds in the end, also
// after an error.
func (h *hub) subscribe(ctx context.Context, p *pending, groups []string, fresh func() *interest) ([]*interest, error) {
	var interests []*interest
	var newGroups, newUsers []string
	h.mu.Lock()
	u := h.users[p.user]
	if u == nil {
		u = &userFeed{inboxEnd: chat.InboxEnd{Last: unknownLast}, tide: &tide{}}
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
			fd.nowMs, fd.hides = h.nowMs, h.hides
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

// crowded reports whether so many groups more would be too many.
func (h *hub) crowded(more int) bool {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return len(h.groups)+len(h.users)+more > followedMax/2
}

// evictIdle unfollows feeds that have had no reader for a while. It calls Unfollow under the lock, so that it cannot overtake the
// Follow of a reader that arrives at this moment.
func (h *hub) evictIdle(now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	crowded := len(h.groups)+len(h.users) > followedMax
	var groups, users []string
	for id, fd := range h.groups {
		if fd.idle(now, h.limits.FeedLinger, crowded) {
			groups = append(groups, id)
			fd.tide.move()
			delete(h.groups, id)
		}
	}
	for id, u := range h.users {
		if len(u.readers) == 0 && (crowded || u.tide.idle(u.idleSince, now, h.limits.FeedLinger)) {
			users = append(users, id)
			u.tide.move()
			delete(h.users, id)
		}
	}
	if len(groups)+len(users) > 0 {
		h.store.Unfollow(groups, users)
	}
}
