package live

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/internal/queued"
)

// Follower is the pulling reader of one session: it returns everything after the session's cursors, then what arrives live.
// It holds at most one round of messages (roundBytesMax); of everything else it remembers only positions.
//
// Only one goroutine at a time may call Next, TryNext and Ready. C, Notify, Held, Groups and Service.Focus are safe for concurrent use.
type Follower struct {
	service *Service
	by      chat.Caller
	pending *pending
	kept    atomic.Int64 // this session's share of the service's pending bytes
	groups  atomic.Int32 // how many lines there are

	mu     sync.Mutex // guards closed
	closed bool

	// The goroutine that calls the follower owns the rest.
	welcome Welcome
	lines   lines                    // the groups followed
	past    map[string]chat.Position // how far this session, or the one before it, had read the groups that were left
	scope   *scope                   // nil: all groups of the user, and the inbox
	sent    map[streamKey]sent       // how much of messages that are being written
	out     []Event                  // what was read, for the session to take

	// Work to do.
	todo     []*line             // lines to be looked at, each once
	check    map[string]struct{} // groups whose membership has to be checked
	index    bool                // the user's index has to be read again
	inboxDue bool
	inboxPos chat.Position // not set: after what is acked
	turn     int           // bytes of the groups that may be given before it is the inbox's turn
	perRound int           // messages to ask for to get about roundBytesMax
	perInbox int           // the same for inbox items
}

// Follow starts the reader of one session. It returns once the store has confirmed all subscriptions, so nothing sent from
// then on can be missed. Close it when done.
func (s *Service) Follow(ctx context.Context, by chat.Caller, of Scope) (*Follower, error) {
	if err := chat.CheckCaller(by); err != nil {
		return nil, err
	}
	sc, refused, err := s.newScope(by, of)
	if err != nil {
		return nil, err
	}
	f := &Follower{
		service: s, by: by, pending: newPending(by.User, false),
		welcome:  Welcome{Groups: map[string]WelcomeGroup{}, Errors: refused},
		inboxDue: !sc.inboxRefused, inboxPos: sc.inboxAfter, perRound: roundBegin, perInbox: roundItemsBegin,
	}
	if sc.only != nil || sc.reach != nil || len(refused) > 0 {
		f.scope = &scope{only: sc.only, reach: sc.reach, refused: sc.refused, inboxRefused: sc.inboxRefused}
	}
	f.pending.session = by.Session
	if err := (&start{Follower: f, sc: &sc}).begin(ctx); err != nil {
		f.Close()
		return nil, chat.AsError(err)
	}
	f.settle()
	return f, nil
}

// covers reports whether the session is about a group.
func (f *Follower) covers(group string) bool { return f.scope == nil || f.scope.covers(group) }

// leftAt remembers how far the session had read a group.
func (f *Follower) leftAt(group string, pos chat.Position) {
	if f.past == nil { // most sessions leave no group
		f.past = map[string]chat.Position{}
	}
	f.past[group] = pos
}

// checkGroup requests a check of the membership in a group, if the session is about it.
func (f *Follower) checkGroup(group string) {
	if !f.covers(group) {
		return
	}
	if f.check == nil {
		f.check = map[string]struct{}{}
	}
	f.check[group] = struct{}{}
}

// watch subscribes to the user and to groups. gens are the generations of the rings then.
func (f *Follower) watch(ctx context.Context, groups []string) (gens []int, err error) {
	var missing []string
	for _, g := range groups {
		if f.lines.of(g) == nil {
			missing = append(missing, g)
		}
	}
	interests, err := f.service.hub.subscribe(ctx, f.pending, missing, func() *interest {
		l := &line{}
		l.line = l
		return &l.interest
	})
	if err != nil {
		for _, in := range interests {
			in.line.gone = true // a signal may have arrived in between: there is nothing to read for it
			in.feed.remove(in)
		}
		return nil, err
	}
	f.follow(interests)
	gens = make([]int, len(groups))
	for i, g := range groups {
		gens[i] = f.lines.of(g).feed.known().gen
	}
	return gens, nil
}

// look subscribes to groups, then reads the user's membership in each. It drops the lines of groups the user is not in.
func (f *Follower) look(ctx context.Context, groups []string) ([]chat.Info, error) {
	if len(groups) == 0 {
		return nil, nil
	}
	gens, err := f.watch(ctx, groups)
	if err != nil {
		return nil, err
	}
	infos, err := f.service.infos(ctx, f.by.User, groups)
	if err != nil {
		// Groups that were followed before continue; new ones are looked at again.
		for _, g := range groups {
			if l := f.lines.of(g); !l.pos.Set {
				f.drop(l)
			}
		}
		return nil, err
	}
	f.looked(groups, gens, infos)
	return infos, nil
}

// looked applies the user's membership in groups, which was read when their rings had these generations.
func (f *Follower) looked(groups []string, gens []int, infos []chat.Info) {
	for i := range infos {
		l, info := f.lines.of(groups[i]), &infos[i]
		switch {
		case isMember(*info):
			if !l.pos.Set { // new: its position comes from this answer
				l.gen = gens[i]
			}
			f.learn(l, *info)
			info.Epoch, info.LastMark = l.feed.shared(info.Epoch, info.LastMark)
		case !l.pos.Set:
			f.drop(l)
		}
	}
}

// follow adds the lines of interests.
func (f *Follower) follow(interests []*interest) {
	f.lines = slices.Grow(f.lines, len(interests))
	for _, in := range interests {
		f.lines = append(f.lines, in.line)
	}
	slices.SortFunc(f.lines, func(a, b *line) int { return strings.Compare(a.group(), b.group()) })
	f.groups.Store(int32(len(f.lines)))
}

// Groups is how many groups the session follows. It may be called from any goroutine.
func (f *Follower) Groups() int { return int(f.groups.Load()) }

// learn updates the line with what the store says about the group.
func (f *Follower) learn(l *line, info chat.Info) {
	l.last, l.hidden = info.Last, info.Hidden()
	f.service.hub.apply(l.feed, func(r *ring) change { return r.observe(info) })
	if info.Streams && !l.feed.writes() {
		f.service.hub.readStreams(l.feed)
	}
}

func (f *Follower) queue(l *line) {
	if !l.queued && !l.gone {
		l.queued = true
		f.todo = append(f.todo, l)
	}
}

// drop stops following a group.
func (f *Follower) drop(l *line) {
	l.gone = true
	if at, found := f.lines.find(l.group()); found {
		f.lines = slices.Delete(f.lines, at, at+1)
		f.groups.Store(int32(len(f.lines)))
	}
	l.feed.remove(&l.interest)
}

// Welcome says where the session starts. It may be called once.
func (f *Follower) Welcome() Welcome {
	w := f.welcome
	f.welcome = Welcome{}
	return w
}

// C receives when TryNext may have something.
func (f *Follower) C() <-chan struct{} { return f.pending.c }

// Next blocks until there is something for the session. It may be called again after an error (the store cannot be reached,
// or ErrFull): nothing is lost.
func (f *Follower) Next(ctx context.Context) (Event, error) {
	for {
		e, ok, err := f.TryNext(ctx)
		if ok || err != nil {
			return e, err
		}
		select {
		case <-f.pending.c:
		case <-ctx.Done():
			return Event{}, ctx.Err()
		}
	}
}

// Notify makes the follower call wake instead of sending on C, from now on, and once immediately. wake must not block, and may
// take only locks under which nothing of this package is called.
func (f *Follower) Notify(wake func()) {
	f.pending.notify.Store(&wake)
	wake()
}

// TryNext returns the next event, and reads from the store if the session is behind. If ok is false, there is nothing more
// until C receives.
func (f *Follower) TryNext(ctx context.Context) (e Event, ok bool, err error) {
	for {
		e, ok, behind := f.Ready()
		if ok || !behind {
			return e, ok, nil
		}
		if err := f.read(ctx); err != nil {
			return Event{}, false, chat.AsError(err)
		}
	}
}

// Ready is TryNext without the store: it never blocks. behind means that only TryNext can tell whether there is more.
func (f *Follower) Ready() (e Event, ok, behind bool) {
	for {
		if len(f.out) == 0 && f.kept.Load() > 0 {
			f.settle()
		}
		if len(f.out) > 0 {
			e, f.out[0] = f.out[0], Event{}
			if f.out = f.out[1:]; len(f.out) == 0 {
				f.out = nil
			}
			return e, true, false
		}
		if e, ok := f.collect(); ok {
			if f.concerns(e) {
				return e, true, false
			}
			continue
		}
		if f.index || len(f.check) > 0 || f.inboxDue && f.turn <= 0 {
			return Event{}, false, true
		}
		if !f.serveNext() {
			return Event{}, false, len(f.todo) > 0 || f.inboxDue
		}
		f.settle()
	}
}

// collect takes one event that the hub has left for the follower, or if there is none, all hints.
func (f *Follower) collect() (e Event, ok bool) {
	t := f.pending
	t.mu.Lock()
	defer t.mu.Unlock()
	if e, ok = t.nextLocked(); ok {
		return e, true
	}
	for i, in := range t.dirty {
		in.dirty = false
		f.queue(in.line)
		t.dirty[i] = nil
	}
	t.dirty = queued.Emptied(t.dirty)
	for g := range t.check {
		f.checkGroup(g)
	}
	clear(t.check)
	f.inboxDue = f.inboxDue || t.inbox && (f.scope == nil || !f.scope.inboxRefused)
	f.index = f.index || t.lost
	t.inbox, t.lost = false, false
	return Event{}, false
}

// serveNext puts into out what the rings have for the first line in todo that they can serve. Lines that have to ask the store
// stay.
func (f *Follower) serveNext() (served bool) {
	behind := 0
	for i := 0; i < len(f.todo) && !served; i++ {
		l := f.todo[i]
		b, removed, p := l.serve(f.by.User)
		if p == planAsk || p == planWarm {
			f.todo[behind] = l
			behind++
			continue
		}
		l.queued = false
		var stream *StreamEvent
		if p == planNothing {
			if stream = f.stream(l); stream == nil {
				continue
			}
		}
		served = true
		f.todo = slices.Delete(f.todo, behind, i+1)
		if stream != nil {
			f.turn -= len(stream.Text)
			f.out = append(f.out, Event{Stream: stream})
			f.queue(l) // there may be more
			continue
		}
		f.served(l, b)
		f.turn -= bytesOf(b.Messages)
		f.out = append(f.out, Event{Messages: b})
		if removed {
			f.left(l)
			f.checkGroup(l.group()) // they may have joined again already
		} else if b.HasMore || l.feed.writes() {
			f.queue(l)
		}
	}
	if !served {
		clear(f.todo[behind:])
		if f.todo = f.todo[:behind]; behind == 0 {
			f.todo = queued.Emptied(f.todo)
		}
	}
	return served
}

// concerns reports whether the session may get a cursor, typing or draft event, or a request to stop. The node subscribes to a group before it knows
// whether the user is in it: what arrived about others until then, or after leaving, is not for this session.
func (f *Follower) concerns(e Event) bool {
	if c := e.Cursor; c != nil {
		return c.User == f.by.User && f.covers(c.Group) || f.lines.of(c.Group) != nil
	}
	if d := e.Draft; d != nil {
		return f.covers(d.Group) && f.lines.of(d.Group) != nil
	}
	if h := e.Here; h != nil {
		return f.lines.of(h.Group) != nil
	}
	if c := e.Cancel; c != nil {
		return f.lines.of(c.Group) != nil
	}
	return f.lines.of(e.Typing.Group) != nil
}

// Close ends the follower. No other method may be running or be called afterwards.
func (f *Follower) Close() {
	f.out = nil
	f.settle()
	f.mu.Lock()
	f.closed = true
	f.mu.Unlock()
	f.service.hub.opens.leave(f.pending, "")
	f.remember()
	for _, l := range f.lines {
		l.gone = true
		l.feed.remove(&l.interest)
	}
	f.lines = nil
	f.service.hub.leave(f.pending)
}

// Typing signals to the other members that the caller is typing. Nothing is stored.
func (s *Service) Typing(ctx context.Context, by chat.Caller, group string) error {
	if err := chat.CheckGroup(by, group); err != nil {
		return err
	}
	info, err := s.core.Info(ctx, by.User, group)
	switch {
	case err != nil:
		return err
	case info.Role == "" && !info.Sees(by):
		return chat.ErrNotFound
	case info.Role == "":
		return chat.ErrMembersOnly
	case info.Blocked:
		return chat.ErrBlocked
	case info.Muted(s.core.Options().Now()):
		return chat.Muted(*info.MutedUntil)
	}
	return chat.AsError(s.store.Typing(ctx, group, by.User, info.Members > typingMembersMax))
}
