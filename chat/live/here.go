package live

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/chatd/chatd/chat"
)

// Who has a group open. A node tells the store which of its users do, and reads how many there are everywhere, when that has changed: once in
// hereEvery for each group, in one step. Where nothing changes nothing runs.
const (
	hereEvery        = 2 * time.Second
	hereKept         = 15 * time.Second // how long the store takes the node to be alive; its heartbeat goes on
	hereTogether     = 100              // groups in a round trip
	hereUsersMax     = 500              // users that come and go in a step; the rest follows in the next one
	typingMembersMax = 100              // in larger groups only those who have it open see who is typing
	farewellTime     = 2 * time.Second
)

// Opening is which users of a node have opened a group, and which have closed it: at most 500 in all.
type Opening struct {
	Group      string
	Came, Went []string
}

// Here is who has a group open, of those who do not hide.
type Here struct {
	Group string   `json:"group"`
	Count int64    `json:"count"`
	Users []string `json:"users"` // five at most
}

func (h Here) equal(other Here) bool {
	return h.Count == other.Count && slices.Equal(h.Users, other.Users)
}

// OpenStore keeps who has which groups open, for as long as their nodes live.
type OpenStore interface {
	// Open records which users of a node have opened and closed groups, which other nodes hear of, and returns who has them open on
	// any node, in order. Each group is a step of its own. Repeating it is harmless.
	Open(ctx context.Context, node string, openings []Opening, lasts time.Duration) ([]Here, error)
}

// opened is a group that sessions of this node have open. The lock of opens guards it.
type opened struct {
	readers map[*pending]struct{}
	written map[string]struct{}   // whom the store has of this node
	fresh   map[*pending]struct{} // of readers: those who do not know yet who is here
	here    Here                  // as it was read last
	changed bool
	at      time.Time // when it was read last
	alive   int64     // how many nodes there were at the last heartbeat; 0: there was none
}

// opens are the groups that sessions of this node have open.
type opens struct {
	node string // empty: none of this is used

	mu     sync.Mutex // taken before pending.mu
	groups map[string]*opened
	wake   chan struct{}
}

func newOpens() *opens { return &opens{groups: map[string]*opened{}, wake: make(chan struct{}, 1)} }

// open notes which group a session has open, and whether its user hides; empty: none.
func (o *opens) open(p *pending, group string, hides bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	before := p.setOpen(group, hides)
	if before != group {
		o.leaveLocked(p, before)
	}
	if group == "" {
		return
	}
	if hides {
		o.leaveLocked(p, group)
		return
	}
	g := o.groups[group]
	if g == nil {
		g = &opened{readers: map[*pending]struct{}{}, written: map[string]struct{}{}, fresh: map[*pending]struct{}{}}
		o.groups[group] = g
	}
	if _, has := g.readers[p]; !has {
		g.readers[p], g.fresh[p] = struct{}{}, struct{}{}
		o.changedLocked(g)
	}
}

func (o *opens) leaveLocked(p *pending, group string) {
	g := o.groups[group]
	if g == nil {
		return
	}
	if _, has := g.readers[p]; has {
		delete(g.readers, p)
		delete(g.fresh, p)
		o.changedLocked(g)
	}
}

func (o *opens) changedLocked(g *opened) {
	g.changed = true
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// leave ends what a session has open, if it is that group; empty: whatever it is.
func (o *opens) leave(p *pending, group string) {
	if before := p.hasOpen(); before != "" && (group == "" || before == group) {
		o.open(p, "", false)
	}
}

// shown notes that a user hides from now on, or no longer does.
func (o *opens) shown(p *pending, shown bool) {
	if group := p.hasOpen(); group != "" {
		o.open(p, group, !shown)
	}
}

// signal notes that another node has changed who has a group open.
func (o *opens) signal(group, node string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if g := o.groups[group]; g != nil && node != o.node {
		o.changedLocked(g)
	}
}

// names are the groups that sessions of this node have open.
func (o *opens) names() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Collect(maps.Keys(o.groups))
}

// counted notes how many nodes were alive where groups lie: if one has died, they are read again.
func (o *opens) counted(groups []string, alive []int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for i, name := range groups {
		if g := o.groups[name]; g != nil {
			if g.alive != 0 && g.alive != alive[i] {
				o.changedLocked(g)
			}
			g.alive = alive[i]
		}
	}
}

// due takes what has to be told and read now. next is when more is due; zero: when something changes.
func (o *opens) due(now time.Time, all bool) (due []Opening, next time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for name, g := range o.groups {
		if !g.changed {
			continue
		}
		if at := g.at.Add(hereEvery); !all && now.Before(at) {
			if next.IsZero() || at.Before(next) {
				next = at
			}
			continue
		}
		if len(due) == hereTogether {
			return due, now
		}
		g.changed, g.at = false, now
		due = append(due, g.opening(name))
	}
	return due, next
}

// opening is what the store does not know yet.
func (g *opened) opening(name string) Opening {
	one, users := Opening{Group: name}, map[string]struct{}{}
	for p := range g.readers {
		users[p.user] = struct{}{}
	}
	for user := range users {
		if _, has := g.written[user]; !has && len(one.Came) < hereUsersMax {
			one.Came = append(one.Came, user)
		}
	}
	for user := range g.written {
		if _, has := users[user]; !has && len(one.Came)+len(one.Went) < hereUsersMax {
			one.Went = append(one.Went, user)
		}
	}
	return one
}

// applied notes what the store knows now, and gives what it says to the sessions. After an error it is all told again.
func (o *opens) applied(openings []Opening, list []Here, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for i, one := range openings {
		g := o.groups[one.Group]
		if err != nil {
			g.changed = true
			continue
		}
		for _, user := range one.Came {
			g.written[user] = struct{}{}
		}
		for _, user := range one.Went {
			delete(g.written, user)
		}
		g.changed = g.changed || len(one.Came)+len(one.Went) == hereUsersMax
		readers := g.readers
		if g.here.equal(list[i]) {
			readers = g.fresh
		}
		for p := range readers {
			p.sees(list[i])
		}
		g.here = list[i]
		clear(g.fresh)
		if len(g.readers) == 0 && len(g.written) == 0 && !g.changed {
			delete(o.groups, one.Group)
		}
	}
}

// hereLoop tells the store and reads from it what has changed, until ctx ends.
func (h *hub) hereLoop(ctx context.Context) {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		due, next := h.opens.due(time.Now(), false)
		if len(due) > 0 {
			h.writeHere(ctx, due)
			continue
		}
		timer.Stop()
		var fires <-chan time.Time
		if !next.IsZero() {
			timer.Reset(time.Until(next))
			fires = timer.C
		}
		select {
		case <-ctx.Done():
			h.farewell(ctx)
			return
		case <-h.opens.wake:
		case <-fires:
		}
	}
}

// writeHere makes one round trip.
func (h *hub) writeHere(ctx context.Context, due []Opening) {
	list, err := h.store.Open(ctx, h.opens.node, due, hereKept)
	if err != nil && ctx.Err() == nil {
		h.log.Warn("who has groups open could not be stored; it will be retried", "error", err)
	}
	h.opens.applied(due, list, err)
}

// farewell tells the store that nobody has anything open here. If it fails, the store finds out when the node has no heartbeat.
func (h *hub) farewell(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), farewellTime)
	defer cancel()
	for ctx.Err() == nil {
		due, _ := h.opens.due(time.Now(), true)
		if len(due) == 0 {
			return
		}
		h.writeHere(ctx, due)
	}
}

// ServeHere has the service keep who has groups open, as this node; hides tells whether a user hides where they are. It is called before Run.
func (s *Service) ServeHere(node string, hides func(ctx context.Context, user string) (bool, error)) {
	s.hub.opens.node, s.hides = node, hides
}

// Opened are the groups that sessions of this node have open.
func (s *Service) Opened() []string { return s.hub.opens.names() }

// Alive notes how many nodes were alive where groups lie.
func (s *Service) Alive(groups []string, alive []int64) { s.hub.opens.counted(groups, alive) }

// large tells whether a group has more members than see who is typing without having it open.
func (f *feed) large() bool {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.ring.members > typingMembersMax
}

// Focus notes which group a session has open; empty: none. It may be called beside any other method of the follower. Who hides is not
// listed among those who have it open, and does not see them.
func (s *Service) Focus(ctx context.Context, by chat.Caller, f *Follower, group string) error {
	if group == "" {
		s.hub.opens.open(f.pending, "", false)
		return nil
	}
	if err := chat.CheckGroup(by, group); err != nil {
		return err
	}
	info, err := s.core.Info(ctx, by.User, group)
	switch {
	case err != nil:
		return err
	case info.Role == "" && !info.Sees(by), info.Role != "" && !f.covers(group):
		return chat.ErrNotFound
	case info.Role == "":
		return chat.ErrMembersOnly
	}
	hides := false
	if s.hides != nil {
		if hides, err = s.hides(ctx, by.User); err != nil {
			return chat.AsError(err)
		}
	}
	if s.hub.opens.node == "" {
		hides = true // nobody listens
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.closed {
		s.hub.opens.open(f.pending, group, hides)
	}
	return nil
}
