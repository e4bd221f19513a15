package live

import (
	"context"
	"slices"
	"sync/atomic"

	"github.com/chatd/chatd/chat"
)

// Follower is the pulling reader of one session: it gives what the session's cursors are owed, then what comes live. It
// holds no more messages than one round of reading (roundBytesMax); behind that it remembers positions only.
//
// One goroutine calls Next or TryNext. C and Held may be used from others.
type Follower struct {
	service *Service
	hub     *hub
	by      chat.Caller
	pending *pending
	welcome Welcome

	lines map[string]*line         // the groups followed
	past  map[string]chat.Position // where groups that were left ended for this session
	todo  []*line                  // lines to be looked at, each once
	check map[string]struct{}
	index bool // the user's index is to be read again
	out   []Event
	held  bool // a call of the store for groups that are behind was put off once

	perRound int          // messages to ask for, so that about roundBytesMax come
	perInbox int          // likewise items of the inbox
	kept     atomic.Int64 // of the service's pending bytes

	inboxDue  bool
	inboxLast bool          // the last round was one of the inbox
	inboxPos  chat.Position // not set: after what is acked
}

// line is one group of a Follower.
type line struct {
	*interest
	group string
	// Invariant: everything up to pos was given to the session, or the session knows, or learns with the next batch
	// (gapPending), that it is not to be had.
	pos        chat.Position // Set; Epoch and Mark as far as they are known
	verified   bool          // pos was compared with the log
	gapPending bool          // the next batch must report that entries before it are missing
	life       int           // of the feed when pos was last compared
	// Invariant: the user was a member when the log ended at member: older notices of leaving are of former times.
	member int64
	last   int64 // of the log, when the store was last asked
	first  int64 // the lowest id to be had by this member, then
	hidden int64 // below it everything is hidden from this member, then
	queued bool  // in todo
	gone   bool  // no longer followed
}

// Follow starts the reader of one session. after names positions by group, as clients write them; the member's own seen
// holds for all other groups, and what was acked for an inboxAfter that is not set. It returns when the store has confirmed all subscriptions, so that nothing sent from then
// on can be missed. Close it when done.
func (s *Service) Follow(ctx context.Context, by chat.Caller, after map[string]string, inboxAfter chat.Position) (*Follower, error) {
	if err := chat.CheckCaller(by); err != nil {
		return nil, err
	}
	if most := s.limits.UserGroupsMax; len(after) > most {
		return nil, chat.Errorf(chat.CodeOutOfRange, "after: at most %d groups", most)
	}
	positions := make(map[string]chat.Position, len(after))
	for g, raw := range after {
		if !chat.ValidID(g) {
			return nil, chat.Errorf(chat.CodeInvalid, "after: not a valid group id")
		}
		pos, err := chat.ParsePosition(raw)
		if err != nil {
			return nil, err
		}
		positions[g] = pos
	}
	f := &Follower{
		service: s, hub: s.hub, by: by, pending: newPending(by.User, false),
		welcome: Welcome{Groups: map[string]WelcomeGroup{}},
		lines:   map[string]*line{}, past: map[string]chat.Position{}, check: map[string]struct{}{},
		inboxDue: true, inboxPos: inboxAfter, perRound: roundBegin, perInbox: roundItemsBegin,
	}
	f.pending.session = by.Session
	if err := f.begin(ctx, positions); err != nil {
		f.Close()
		return nil, chat.AsError(err)
	}
	return f, nil
}

// begin finds the groups: those of the index, and those of the user's that the client names, because the index lags.
func (f *Follower) begin(ctx context.Context, positions map[string]chat.Position) error {
	// Subscribed to the user before the index is read: a group joined meanwhile is heard of.
	if _, err := f.hub.subscribe(ctx, f.pending, nil); err != nil {
		return err
	}
	index, err := f.service.store.UserGroups(ctx, f.by.User)
	if err != nil {
		return err
	}
	mine, foreign, err := f.service.unlisted(ctx, f.by.User, without(positions, index))
	if err != nil {
		return err
	}
	slices.Sort(foreign)
	for _, g := range foreign {
		f.out = append(f.out, Event{Left: g})
	}
	groups := make([]string, 0, len(index)+len(mine))
	for _, g := range index {
		groups = append(groups, g.Group)
	}
	groups = append(groups, mine...)
	slices.Sort(groups)
	infos, err := f.look(ctx, groups)
	if err != nil {
		return err
	}
	for i, info := range infos {
		if !isMember(info) {
			if _, named := positions[groups[i]]; named {
				f.out = append(f.out, Event{Left: groups[i]})
			}
			continue
		}
		f.start(f.lines[groups[i]], info, positions[groups[i]])
		f.welcome.Groups[groups[i]] = WelcomeGroup{
			Epoch: info.Epoch, First: info.Visible(), Last: info.Last, Seen: info.Seen, Read: info.Read,
		}
	}
	return nil
}

// look subscribes to groups, then reads how the user stands to each. Lines of groups the user is not in are dropped.
func (f *Follower) look(ctx context.Context, groups []string) ([]chat.Info, error) {
	var missing []string
	for _, g := range groups {
		if f.lines[g] == nil {
			missing = append(missing, g)
		}
	}
	interests, err := f.hub.subscribe(ctx, f.pending, missing)
	for _, in := range interests {
		in.line = &line{interest: in, group: in.feed.group}
	}
	if err != nil {
		for _, in := range interests {
			in.line.gone = true // a signal may have come in between: nothing is to be read for it
		}
		f.hub.unsubscribe(f.pending, interests...)
		return nil, err
	}
	for _, in := range interests {
		f.lines[in.line.group] = in.line
	}
	lives := make([]int, len(groups))
	for i, g := range groups {
		lives[i] = f.lines[g].feed.snapshot().life
	}
	infos, err := f.service.infos(ctx, f.by.User, groups)
	if err != nil {
		// Those that were followed before go on; what is new is looked at again.
		for _, g := range missing {
			f.drop(f.lines[g])
		}
		return nil, err
	}
	for i, info := range infos {
		l := f.lines[groups[i]]
		switch {
		case isMember(info):
			if !l.pos.Set { // new: its position comes from this answer
				l.life = lives[i]
			}
			f.learn(l, info)
		case !l.pos.Set:
			f.drop(l)
		}
	}
	return infos, nil
}

// learn takes over what an answer of the store says of the group.
func (f *Follower) learn(l *line, info chat.Info) {
	l.member, l.last, l.first, l.hidden = info.Last, info.Last, info.Visible(), info.Hidden()
	if l.feed.observe(info) {
		f.hub.needRepair(l.feed)
	}
}

// start places l at pos.
func (f *Follower) start(l *line, info chat.Info, pos chat.Position) {
	begin := chat.Resolve(info, pos, "")
	l.pos = begin.Before(info, pos, "")
	l.gapPending = !begin.Complete
	// Only the entry itself can tell whether a cursor of the client is of this log: it is compared with the first read.
	l.verified = !l.pos.HasMark() || l.pos.ID == info.Last && info.LastMark != ""
	if l.gapPending || l.pos.ID < l.last {
		f.queue(l)
	}
}

// restart sets l to the oldest entry to be had, because its position is not of this log.
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
	delete(f.lines, l.group)
	f.hub.unsubscribe(f.pending, l.interest)
}

// Welcome is where the session starts. It may be asked for once.
func (f *Follower) Welcome() Welcome {
	w := f.welcome
	f.welcome = Welcome{}
	return w
}

// C receives when TryNext may have something.
func (f *Follower) C() <-chan struct{} { return f.pending.c }

// Next blocks until there is something for the session. After an error (the store cannot be reached, or ErrFull) it may be
// called again: nothing is lost.
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

// TryNext gives the next event, reading from the store where the session is behind. ok is false where there is nothing
// until C receives.
func (f *Follower) TryNext(ctx context.Context) (e Event, ok bool, err error) {
	for {
		if len(f.out) == 0 && f.kept.Load() > 0 {
			f.settle()
		}
		if len(f.out) > 0 {
			e, f.out[0] = f.out[0], Event{}
			f.out = f.out[1:]
			if len(f.out) == 0 {
				f.out = nil
			}
			return e, true, nil
		}
		// A group is listened to before it is known whether the user is in it: what was heard of others until then, or
		// after leaving, is not for this session.
		if c := f.pending.nextCursor(); c != nil {
			if c.User != f.by.User && f.lines[c.Group] == nil {
				continue
			}
			return Event{Cursor: c}, true, nil
		}
		if t := f.pending.nextTyping(); t != nil {
			if f.lines[t.Group] == nil {
				continue
			}
			return Event{Typing: t}, true, nil
		}
		f.collect()
		if !f.index && len(f.check) == 0 && !f.inboxDue && len(f.todo) == 0 {
			return Event{}, false, nil
		}
		if err := f.read(ctx); err != nil {
			return Event{}, false, chat.AsError(err)
		}
	}
}

// Close ends the follower. Nothing else of it may be in use any longer.
func (f *Follower) Close() {
	f.out = nil
	f.settle()
	for _, l := range f.lines {
		l.gone = true
		f.hub.unsubscribe(f.pending, l.interest)
	}
	clear(f.lines)
	f.hub.leave(f.pending)
}

// Typing tells the other members that the caller is typing. Nothing is stored.
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
