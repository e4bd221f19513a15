package live

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/chatd/chatd/chat"
)

// Bounds of what a node remembers of syncs.
const (
	rememberedMax = 100_000 // groups, of all users together: some 20 MB
	followWait    = 100 * time.Millisecond
)

// memory is what the node's last syncs have found of users who are in many groups, so that the next one of a user has to look
// only at what has changed.
//
// Invariant: a look holds for as long as the tide of its group stands where it stood before the look, on the same ground. For each step
// that changes the end of a log or its members publishes on the channel of the group, and each that changes an index on that of the user.
// Arrivals returns once all that was published before it is delivered, and names the ground: see chat.Arrivals.
type memory struct {
	mu    sync.Mutex
	users map[string]*remembered
	size  int // groups of all
}

// remembered is what is known of one user.
type remembered struct {
	// None of these changes.
	ground string      // "": only which groups there were
	found  bool        // there was a ground, then or before
	at     chat.LookAt // of the looks
	user   level

	mu     sync.Mutex // guards both
	groups []rememberedGroup
	last   time.Time // when the user last synced
}

// rememberedGroup is one group of a user, and the last look at it. In remembered they are sorted.
type rememberedGroup struct {
	hint  chat.UserGroup // of the index
	look  chat.Look
	level level // before the look
}

func (m *memory) of(user string) *remembered {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.users[user]
}

// put replaces what is known of a user; nil: nothing. Where that is too much, it forgets the users who did not sync for longest.
func (m *memory) put(user string, r *remembered) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.dropLocked(user)
	if r == nil || len(r.groups) > rememberedMax {
		return
	}
	for m.size+len(r.groups) > rememberedMax {
		oldest, at := "", time.Time{}
		for name, one := range m.users {
			if last := one.lastSync(); oldest == "" || last.Before(at) {
				oldest, at = name, last
			}
		}
		m.dropLocked(oldest)
	}
	m.users[user] = r
	m.size += len(r.groups)
}

func (m *memory) dropLocked(user string) {
	if r := m.users[user]; r != nil {
		m.size -= len(r.groups)
		delete(m.users, user)
	}
}

func (r *remembered) lastSync() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.last
}

// synced notes that the user syncs now, and returns how long ago they did before.
func (r *remembered) synced(now time.Time) (before time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	before, r.last = now.Sub(r.last), now
	return before
}

// names are the groups.
func (r *remembered) names() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	names := make([]string, len(r.groups))
	for i := range r.groups {
		names[i] = r.groups[i].hint.Group
	}
	return names
}

// unsure are the indexes of groups of which it is not known that there is nothing new after these positions, with their names.
func (r *remembered) unsure(after map[string]chat.Position) (indexes []int, names []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.groups {
		if g := &r.groups[i]; !g.nothing(after) {
			indexes, names = append(indexes, i), append(names, g.hint.Group)
		}
	}
	return indexes, names
}

func (g *rememberedGroup) nothing(after map[string]chat.Position) bool {
	return g.level.stands() && g.look.Nothing(after[g.hint.Group])
}

// recall is what a sync begins with, as far as it is known, and takes in the looks at those of indexes, of which levels are from before.
func (r *remembered) recall(indexes []int, levels []level, fresh []chat.Look, after map[string]chat.Position, keep int64) (index []chat.UserGroup,
	looks map[string]chat.Look) {
	r.mu.Lock()
	defer r.mu.Unlock()
	index, looks = make([]chat.UserGroup, len(r.groups)), make(map[string]chat.Look, len(r.groups))
	for i := range r.groups {
		g := &r.groups[i]
		index[i] = g.hint
		if len(indexes) > 0 && indexes[0] == i {
			g.look, g.level = fresh[0], levels[0]
			g.hint.Seen = max(g.hint.Seen, g.look.Seen)
			looks[g.hint.Group] = fresh[0]
			indexes, levels, fresh = indexes[1:], levels[1:], fresh[1:]
		} else if g.nothing(after) { // else it is looked at
			looks[g.hint.Group] = g.look
		}
		if keep > 0 && g.level.tide != nil {
			g.level.tide.used.Store(keep)
		}
	}
	if r.user.tide != nil {
		r.user.tide.used.Store(max(keep, r.user.tide.used.Load()))
	}
	return index, looks
}

// arrive reads what a sync begins with, from what the node remembers as far as that holds.
func (c *syncCall) arrive(ctx context.Context) (a chat.Arrivals, looks map[string]chat.Look, err error) {
	expected, _ := c.s.indexes.Get(c.by.User)
	expected, _ = reached(c.by, expected)
	of := chat.Arriving{After: c.inboxAfter, Limit: c.limit, Groups: expected, At: c.lookAt()}
	var r *remembered
	var levels []level
	var user level
	now := time.Now()
	if c.reach == nil {
		r = c.s.memory.of(c.by.User)
	}
	if r != nil {
		often := r.synced(now) < c.s.limits.SafetyCheck
		if a, looks, err = c.recall(ctx, r, often, now); err != nil || looks != nil {
			return a, looks, err
		}
		of.Groups, of.Grounded, of.At = r.names(), true, max(of.At, r.at)
		if c.over == nil && r.found {
			c.follow(ctx, of.Groups, often)
		}
		user, levels = c.s.hub.levelOf(c.by.User), c.s.hub.levels(of.Groups)
	}
	if a, err = c.s.store.Arrivals(ctx, c.by.User, of); err != nil {
		return a, nil, err
	}
	looks = make(map[string]chat.Look, len(of.Groups))
	for i, l := range a.Looks {
		looks[of.Groups[i]] = l
	}
	if c.reach == nil && (r != nil || len(a.Groups) >= c.s.limits.RememberGroups) {
		c.s.memory.put(c.by.User, c.remember(a, of, r, user, levels, looks, now))
	}
	return a, looks, nil
}

// recall begins with what is remembered. looks is nil if that does not hold, or is not worth while.
func (c *syncCall) recall(ctx context.Context, r *remembered, often bool, now time.Time) (a chat.Arrivals, looks map[string]chat.Look, err error) {
	if r.ground == "" || r.at != chat.LookAtPosition && c.lookAt() == chat.LookAtPosition || !r.user.stands() {
		return a, nil, nil
	}
	indexes, names := r.unsure(c.after)
	if len(names) > len(r.groups)/2 {
		return a, nil, nil
	}
	levels := c.s.hub.levels(names)
	a, err = c.s.store.Arrivals(ctx, c.by.User, chat.Arriving{After: c.inboxAfter, Limit: c.limit, Groups: names, At: r.at, NoIndex: true, Grounded: true})
	if err != nil || a.Ground != r.ground || !r.user.stands() {
		return a, nil, err
	}
	keep := int64(0)
	if often {
		keep = now.UnixNano()
	}
	a.Groups, looks = r.recall(indexes, levels, a.Looks, c.after, keep)
	return a, looks, nil
}

// follow subscribes to a user who polls without waiting, and to the groups if the user does so more often than the safety check,
// which looks at all that is followed. If that takes long, less is remembered.
func (c *syncCall) follow(ctx context.Context, groups []string, often bool) {
	if !often || c.s.hub.crowded(len(groups)) {
		groups = nil
	}
	ctx, cancel := context.WithTimeout(ctx, followWait)
	defer cancel()
	if w, err := c.s.hub.watch(ctx, c.by.User, groups); err == nil {
		w.Close() // what was followed stays so for a while
	}
}

// remember is what is known now; nil: nothing that would help.
func (c *syncCall) remember(a chat.Arrivals, of chat.Arriving, before *remembered, user level, levels []level, looks map[string]chat.Look,
	now time.Time) *remembered {
	if len(a.Groups) < c.s.limits.RememberGroups {
		return nil
	}
	r := &remembered{ground: a.Ground, at: of.At, user: user, last: now, groups: make([]rememberedGroup, len(a.Groups))}
	r.found = a.Ground != "" || before != nil && before.found
	known := make(map[string]level, len(levels))
	for i, l := range levels {
		known[of.Groups[i]] = l
	}
	for i, hint := range a.Groups {
		look, looked := looks[hint.Group]
		r.groups[i] = rememberedGroup{hint: hint, look: look}
		if looked {
			r.groups[i].level = known[hint.Group]
			r.groups[i].hint.Seen = max(hint.Seen, look.Seen)
		}
	}
	slices.SortFunc(r.groups, func(x, y rememberedGroup) int { return cmp.Compare(x.hint.Group, y.hint.Group) })
	return r
}
