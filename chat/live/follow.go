package live

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/chatd/chatd/chat"
)

// Follower is the pulling reader of one session: it returns everything after the session's cursors, then what arrives live.
// It holds at most one round of messages (roundBytesMax); of everything else it remembers only positions.
//
// Only one goroutine at a time may call Next, TryNext and Ready. C, Notify and Held are safe for concurrent use.
type Follower struct {
	service *Service
	hub     *hub
	by      chat.Caller
	pending *pending
	welcome Welcome

	lines lines                    // the groups followed
	past  map[string]chat.Position // how far this session, or the one before it, had read the groups that were left
	todo  []*line                  // lines to be looked at, each once
	check map[string]struct{}
	index bool   // the user's index is to be read again
	scope *scope // nil: all groups of the user, and the inbox
	out   []Event
	held  bool // a call of the store for groups that are behind was put off once

	perRound int          // messages to ask for to get about roundBytesMax
	perInbox int          // the same for inbox items
	kept     atomic.Int64 // this session's share of the service's pending bytes

	inboxDue  bool
	inboxLast bool          // the last round was one of the inbox
	inboxPos  chat.Position // not set: after what is acked
}

// line is one group of a Follower. A node has one for each group of each session, so its size matters.
type line struct {
	interest
	// Invariant: everything up to pos was given to the session, or the session knows, or learns from the next batch
	// (gapPending), that it is gone.
	pos        chat.Position // Set; Epoch and Mark as far as they are known
	life       int           // of the feed when pos was last compared
	verified   bool          // pos was compared with the log
	gapPending bool          // the next batch must report that entries before it are missing
	queued     bool          // in todo
	gone       bool          // no longer followed
	hidden     int64         // everything below it was hidden from this member when the store was last asked
	// Invariant: the log ended at last when the store was last asked, and the user was a member then. Notices of leaving up
	// to there are about earlier stays.
	last int64
}

func (l *line) group() string { return l.feed.group }

// lines are sorted by group.
type lines []*line

func (ls lines) find(group string) (at int, found bool) {
	return slices.BinarySearchFunc(ls, group, func(l *line, group string) int { return strings.Compare(l.group(), group) })
}

// of is the line of a group; nil: it is not followed.
func (ls lines) of(group string) *line {
	if at, found := ls.find(group); found {
		return ls[at]
	}
	return nil
}

// Follow starts the reader of one session. It returns once the store has confirmed all subscriptions, so nothing sent from
// then on can be missed. Close it when done.
func (s *Service) Follow(ctx context.Context, by chat.Caller, of Scope) (*Follower, error) {
	if err := chat.CheckCaller(by); err != nil {
		return nil, err
	}
	sc, refused, err := s.newScope(of)
	if err != nil {
		return nil, err
	}
	f := &Follower{
		service: s, hub: s.hub, by: by, pending: newPending(by.User, false),
		welcome:  Welcome{Groups: map[string]WelcomeGroup{}, Errors: refused},
		inboxDue: !sc.inboxRefused, inboxPos: sc.inboxAfter, perRound: roundBegin, perInbox: roundItemsBegin,
	}
	if sc.only != nil || len(refused) > 0 {
		f.scope = &scope{only: sc.only, refused: sc.refused, inboxRefused: sc.inboxRefused}
	}
	f.pending.session = by.Session
	if err := f.begin(ctx, &sc); err != nil {
		f.Close()
		return nil, chat.AsError(err)
	}
	f.settle()
	return f, nil
}

// covers reports whether the session is about a group.
func (f *Follower) covers(group string) bool { return f.scope == nil || f.scope.covers(group) }

// begin finds the groups and starts them.
func (f *Follower) begin(ctx context.Context, sc *scope) error {
	// Subscribe to the user before reading the index, so that a group joined meanwhile is noticed.
	if _, err := f.hub.subscribe(ctx, f.pending, nil, nil); err != nil {
		return err
	}
	groups, err := f.beginGroups(ctx, sc)
	if err != nil {
		return err
	}
	chat.Looked(ctx, len(groups)) // once more, and they are followed
	infos, err := f.look(ctx, groups)
	if err != nil {
		return err
	}
	for i, info := range infos {
		if !isMember(info) {
			f.outside(groups[i], sc)
			continue
		}
		f.start(f.lines.of(groups[i]), info, sc.after[groups[i]], sc.newest)
		f.welcome.Groups[groups[i]] = WelcomeGroup{
			Epoch: info.Epoch, First: info.Visible(), Last: info.Last, Seen: info.Seen, Read: info.Read,
		}
	}
	return nil
}

// beginGroups finds the groups, sorted: those that the client chose, or those of the index and those that the client names
// and the user is in, because the index lags.
func (f *Follower) beginGroups(ctx context.Context, sc *scope) ([]string, error) {
	if sc.only != nil {
		chat.Looked(ctx, len(sc.only))
		mine, foreign, err := f.service.unlisted(ctx, f.by.User, slices.Clone(sc.only))
		slices.Sort(foreign)
		for _, g := range foreign {
			f.outside(g, sc)
		}
		slices.Sort(mine)
		return mine, err
	}
	begin, err := f.service.store.Begin(ctx, f.by.User)
	if err != nil {
		return nil, err
	}
	f.beginInbox(begin)
	index := begin.Groups
	chat.LookedAll(ctx, len(index))
	mine, foreign, err := f.service.unlisted(ctx, f.by.User, without(sc.after, index))
	if err != nil {
		return nil, err
	}
	slices.Sort(foreign)
	for _, g := range foreign {
		f.outside(g, sc)
	}
	groups := make([]string, 0, len(index)+len(mine))
	for _, g := range index {
		if f.covers(g.Group) {
			groups = append(groups, g.Group)
		}
	}
	groups = append(groups, mine...)
	slices.Sort(groups)
	return groups, nil
}

// outside tells the client that the user is not in a group that it named.
func (f *Follower) outside(group string, sc *scope) {
	if pos, named := sc.after[group]; named {
		f.notIn(group, pos)
	} else if sc.only != nil {
		f.welcome.Errors = append(f.welcome.Errors, GroupError{Group: group, Code: chat.CodeNotFound})
	}
}

// beginInbox takes the first items of the inbox from what the session begins with, if that is enough to know them.
func (f *Follower) beginInbox(begin chat.Beginning) {
	if b, ok := begin.Pull(f.inboxPos); ok && f.inboxDue {
		f.takeInbox(b)
	}
}

// notIn answers a position in a group that the user is not in. If they come back, the session continues after it: the log
// may have lost that end, and be written anew up to there.
func (f *Follower) notIn(group string, pos chat.Position) {
	f.leftAt(group, pos)
	f.out = append(f.out, Event{Left: group})
}

// leftAt remembers how far the session had read a group.
func (f *Follower) leftAt(group string, pos chat.Position) {
	if f.past == nil { // most sessions leave no group
		f.past = map[string]chat.Position{}
	}
	f.past[group] = pos
}

// checkGroup requests a check of the membership in a group.
func (f *Follower) checkGroup(group string) {
	if f.check == nil {
		f.check = map[string]struct{}{}
	}
	f.check[group] = struct{}{}
}

// look subscribes to groups, then reads the user's membership in each. It drops the lines of groups the user is not in.
func (f *Follower) look(ctx context.Context, groups []string) ([]chat.Info, error) {
	var missing []string
	for _, g := range groups {
		if f.lines.of(g) == nil {
			missing = append(missing, g)
		}
	}
	interests, err := f.hub.subscribe(ctx, f.pending, missing, func() *interest {
		l := &line{}
		l.line = l
		return &l.interest
	})
	if err != nil {
		for _, in := range interests {
			in.line.gone = true // a signal may have arrived in between: there is nothing to read for it
		}
		f.hub.unsubscribe(f.pending, interests...)
		return nil, err
	}
	f.follow(interests)
	lives := make([]int, len(groups))
	for i, g := range groups {
		lives[i] = f.lines.of(g).feed.snapshot().life
	}
	infos, err := f.service.infos(ctx, f.by.User, groups)
	if err != nil {
		// Groups that were followed before continue; new ones are looked at again.
		for _, g := range missing {
			f.drop(f.lines.of(g))
		}
		return nil, err
	}
	for i := range infos {
		l, info := f.lines.of(groups[i]), &infos[i]
		switch {
		case isMember(*info):
			if !l.pos.Set { // new: its position comes from this answer
				l.life = lives[i]
			}
			f.learn(l, *info)
			info.Epoch, info.LastMark = l.feed.shared(info.Epoch, info.LastMark)
		case !l.pos.Set:
			f.drop(l)
		}
	}
	return infos, nil
}

// follow adds the lines of interests.
func (f *Follower) follow(interests []*interest) {
	f.lines = slices.Grow(f.lines, len(interests))
	for _, in := range interests {
		f.lines = append(f.lines, in.line)
	}
	slices.SortFunc(f.lines, func(a, b *line) int { return strings.Compare(a.group(), b.group()) })
}

// learn updates the line with what the store says about the group.
func (f *Follower) learn(l *line, info chat.Info) {
	l.last, l.hidden = info.Last, info.Hidden()
	if l.feed.observe(info) {
		f.hub.needRepair(l.feed)
	}
}

// start sets l's position to pos. newest: if pos is not set, to the newest page of what the member has not seen.
func (f *Follower) start(l *line, info chat.Info, pos chat.Position, newest bool) {
	skipped := false
	if page := info.Last - int64(f.service.limits.PageMessages); newest && !pos.Set && page > info.Seen {
		pos, skipped = chat.At(page), true
	}
	begin := chat.Resolve(info, pos, "")
	l.pos = begin.Before(info, pos, "")
	l.gapPending = !begin.Complete || skipped
	// Only the entry itself can show whether the client's cursor belongs to this log: the first read compares it.
	l.verified = !l.pos.HasMark() || info.MarkAt(l.pos.ID, "") != ""
	if l.gapPending || l.pos.ID < l.last {
		f.queue(l)
	}
}

// restart sets l to the oldest available entry, because its position does not belong to this log.
func (f *Follower) restart(l *line, info chat.Info) {
	l.pos = chat.Position{Set: true, ID: info.Visible() - 1, Epoch: info.Epoch}
	l.verified, l.gapPending = true, true
	f.queue(l)
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
	}
	f.hub.unsubscribe(f.pending, &l.interest)
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

// Notify makes the follower call wake where C would receive, from now on, and once at once. wake must not block, and may take
// only locks under which nothing of this package is called.
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

// Ready is TryNext as far as it needs no store: it never blocks. behind means that only TryNext finds out whether there is
// more.
func (f *Follower) Ready() (e Event, ok, behind bool) {
	for {
		if len(f.out) == 0 && f.kept.Load() > 0 {
			f.settle()
		}
		if len(f.out) > 0 {
			return f.takeOut(), true, false
		}
		if e, ok := f.collect(); ok {
			if f.concerns(e) {
				return e, true, false
			}
			continue
		}
		if f.index || len(f.check) > 0 || f.inboxDue {
			return Event{}, false, true // membership first, and the inbox takes turns with the groups
		}
		if !f.serveNext() {
			return Event{}, false, len(f.todo) > 0
		}
		f.settle()
	}
}

// concerns reports whether the session may get a cursor or typing event. The node subscribes to a group before it knows
// whether the user is in it: what arrived about others until then, or after leaving, is not for this session.
func (f *Follower) concerns(e Event) bool {
	if c := e.Cursor; c != nil {
		return c.User == f.by.User && f.covers(c.Group) || f.lines.of(c.Group) != nil
	}
	return f.lines.of(e.Typing.Group) != nil
}

func (f *Follower) takeOut() (e Event) {
	e, f.out[0] = f.out[0], Event{}
	f.out = f.out[1:]
	if len(f.out) == 0 {
		f.out = nil
	}
	return e
}

// Close ends the follower. No other method may be running or be called afterwards.
func (f *Follower) Close() {
	f.out = nil
	f.settle()
	for _, l := range f.lines {
		l.gone = true
		f.hub.unsubscribe(f.pending, &l.interest)
	}
	f.lines = nil
	f.hub.leave(f.pending)
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
	}
	return chat.AsError(s.store.Typing(ctx, group, by.User))
}
