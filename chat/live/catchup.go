package live

import (
	"context"
	"fmt"
	"slices"

	"github.com/chatd/chatd/chat"
)

// Bounds of one round of reading. What does not fit is read in the next round, after the session has taken this one.
const (
	roundGroups      = 200      // groups asked for in one call of the store
	roundMessages    = 512      // messages asked for in one call, shared fairly
	roundShare       = 50       // messages of one group while others wait too
	roundBegin       = 256      // messages asked for by the first call, before their size is known
	roundItemsBegin  = 16       // the same for inbox items
	roundEntriesMin  = 8        // messages or items asked for even if they are long
	roundBytesMax    = 64 << 10 // JSON bytes that wait for the session; a long message may exceed it
	batchMessagesMax = 128      // messages of one batch from memory
	batchBytesMax    = 64 << 10 // JSON bytes of it
)

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
	t.dirty = emptied(t.dirty)
	if len(f.check) == 0 && len(t.check) > 0 {
		f.check, t.check = t.check, f.check
	} else {
		for g := range t.check {
			f.checkGroup(g)
		}
		clear(t.check)
	}
	f.inboxDue = f.inboxDue || t.inbox && (f.scope == nil || !f.scope.inboxRefused)
	f.index = f.index || t.lost
	t.inbox, t.lost = false, false
	return Event{}, false
}

// read does one round: membership first, then items of the inbox or messages.
func (f *Follower) read(ctx context.Context) error {
	defer f.settle()
	if f.index {
		if err := f.readIndex(ctx); err != nil {
			return err
		}
	}
	if len(f.check) > 0 {
		if err := f.checkGroups(ctx); err != nil {
			return err
		}
	}
	if f.inboxDue && !f.inboxLast {
		if err := f.readInbox(ctx); err != nil {
			return err
		}
		if f.inboxLast = len(f.out) > 0; f.inboxLast {
			return nil // it takes turns with the groups, so at most one round waits
		}
	}
	f.inboxLast = false
	return f.readGroups(ctx)
}

// readIndex looks for groups whose signal of joining or leaving was lost.
func (f *Follower) readIndex(ctx context.Context) error {
	index, err := f.service.store.UserGroups(ctx, f.by.User)
	if err != nil {
		return err
	}
	listed := make(map[string]struct{}, len(index))
	for _, g := range index {
		listed[g.Group] = struct{}{}
		if f.lines.of(g.Group) == nil && f.covers(g.Group) {
			f.checkGroup(g.Group)
		}
	}
	for _, l := range f.lines {
		if _, ok := listed[l.group()]; !ok {
			f.checkGroup(l.group())
		}
	}
	f.index = false
	return nil
}

// checkGroups asks the groups themselves whether the user is a member.
func (f *Follower) checkGroups(ctx context.Context) error {
	groups := make([]string, 0, min(len(f.check), roundGroups))
	for g := range f.check {
		if !f.covers(g) {
			delete(f.check, g)
		} else if groups = append(groups, g); len(groups) == roundGroups {
			break
		}
	}
	followed := make([]bool, len(groups))
	for i, g := range groups {
		followed[i] = f.lines.of(g) != nil
	}
	infos, err := f.look(ctx, groups)
	if err != nil {
		return err
	}
	for i, g := range groups {
		delete(f.check, g)
		member := isMember(infos[i])
		switch {
		case member && !followed[i]:
			f.join(f.lines.of(g), infos[i])
		case member && f.lines.of(g).pos.Epoch != infos[i].Epoch:
			f.restart(f.lines.of(g), infos[i])
		case member:
			f.queue(f.lines.of(g))
		case followed[i]:
			f.left(f.lines.of(g))
		}
	}
	return nil
}

// join adds a group in the middle of a session. It starts at the member's seen, but never repeats what this session got.
func (f *Follower) join(l *line, info chat.Info) {
	var pos chat.Position
	if p, ok := f.past[l.group()]; ok && p.Epoch == info.Epoch && p.ID >= info.Seen { // also where they are equal: p has the mark
		pos = p
	}
	delete(f.past, l.group())
	f.out = append(f.out, Event{Joined: l.group()})
	f.start(l, info, pos, false)
}

// left ends a group.
func (f *Follower) left(l *line) {
	if len(f.past) < f.service.limits.UserGroupsMax {
		f.leftAt(l.group(), l.pos) // with its mark: the log may be rolled back before they return
	}
	f.drop(l)
	f.out = append(f.out, Event{Left: l.group()})
}

// readInbox gives the items after the session's position in the inbox.
func (f *Follower) readInbox(ctx context.Context) error {
	limit := f.perInbox
	done, err := f.mayRead(ctx, int64(limit)*messageBytesMax(f.service.limits))
	if err != nil {
		return err
	}
	defer done()
	b, err := f.service.store.InboxPull(ctx, f.by.User, f.inboxPos, limit)
	if err != nil {
		return err
	}
	f.takeInbox(f.fitInbox(b))
	return nil
}

// takeInbox gives the items of b.
func (f *Follower) takeInbox(b chat.InboxBatch) {
	f.inboxDue, f.inboxPos = b.HasMore, b.Position()
	if !b.HasMore {
		f.hub.inboxSeen(f.by.User, chat.InboxEnd{Last: b.To, Mark: f.inboxPos.Mark, Epoch: b.Epoch})
	}
	if len(b.Items) > 0 || !b.Complete {
		f.out = append(f.out, Event{Inbox: &b})
	}
}

// fitInbox cuts b to the size of one round, and estimates from it how many items to ask for next time.
func (f *Follower) fitInbox(b chat.InboxBatch) chat.InboxBatch {
	bytes := 0
	for _, item := range b.Items {
		bytes += len(item.JSON)
	}
	f.perInbox = fillRound(len(b.Items), bytes, f.perInbox, f.service.limits.PageMessages)
	if fit := b.Fit(roundBytesMax); len(fit.Items) < len(b.Items) {
		fit.Items = slices.Clone(fit.Items) // what was cut off must not stay in memory
		return fit
	}
	return b
}

// readGroups serves the lines in todo: from memory if the ring reaches back far enough, the others by one call of the store.
func (f *Follower) readGroups(ctx context.Context) error {
	var behind []*line
	bytes := 0
	waiting := f.todo
	f.todo = nil
	for i, l := range waiting {
		if bytes >= roundBytesMax || len(behind) == roundGroups {
			f.todo = append(f.todo, waiting[i:]...)
			break
		}
		l.queued = false
		if l.gone {
			continue
		}
		n, pull := f.serve(l)
		bytes += n
		if pull {
			behind = append(behind, l)
		}
	}
	behind, err := f.warm(ctx, behind)
	if err != nil || len(behind) == 0 {
		return err
	}
	if f.held = bytes > 0 && !f.held; f.held { // let the session take what it has first: the store may be slow
		for _, l := range behind {
			f.queue(l)
		}
		return nil
	}
	err = f.pull(ctx, behind)
	if err != nil {
		for _, l := range behind {
			f.queue(l)
		}
	}
	return err
}

// warm fills the rings that some of the lines are only a little behind, and queues those lines again. It returns the other lines.
// After an error, it queues all.
func (f *Follower) warm(ctx context.Context, behind []*line) (others []*line, err error) {
	for i, l := range behind {
		again, err := f.hub.warm(ctx, l, f.service.reading)
		if err != nil {
			for _, l := range append(others, behind[i:]...) {
				f.queue(l)
			}
			return nil, err
		}
		if again {
			f.queue(l)
		} else {
			others = append(others, l)
		}
	}
	return others, nil
}

// serveNext puts into out what the ring has for the first line that it has something for. Lines whose turn it is to ask the
// store stay in todo.
func (f *Follower) serveNext() (served bool) {
	behind := 0
	for i := 0; i < len(f.todo) && !served; i++ {
		l := f.todo[i]
		l.queued = false
		if l.gone {
			continue
		}
		_, pull := f.serve(l)
		if served = len(f.out) > 0; pull {
			l.queued = true
			f.todo[behind] = l
			behind++
		}
		if served {
			f.todo = slices.Delete(f.todo, behind, i+1)
		}
	}
	if !served {
		clear(f.todo[behind:])
		if f.todo = f.todo[:behind]; behind == 0 {
			f.todo = emptied(f.todo)
		}
	}
	return served
}

// serve returns what the ring holds after l's position. pull means that the store must be asked instead.
func (f *Follower) serve(l *line) (bytes int, pull bool) {
	b, removed, state := l.fromRing(f.by.User)
	switch state {
	case ringPull:
		return 0, true
	case ringNothing:
		return 0, l.pos.ID < l.last
	}
	for _, m := range b.Messages {
		bytes += len(m.JSON)
	}
	f.out = append(f.out, Event{Messages: b})
	if removed {
		f.left(l)
		f.checkGroup(l.group()) // they may have joined again already
	} else if b.HasMore {
		f.queue(l)
	}
	return bytes, false
}

type ringState int

const (
	ringNothing ringState = iota // the ring has nothing after the position
	ringServed
	ringPull // the ring does not reach back to the position, or the position must be compared with the store
)

// fromRing returns the entries after l's position, up to the notice that ends user's membership, and moves the position.
// The batch is shared with other readers, unless its Shared is nil.
func (l *line) fromRing(user string) (b *chat.Batch, removed bool, state ringState) {
	fd := l.feed
	fd.mu.RLock()
	var s *stretch
	if state = l.lookLocked(); state == ringServed {
		s = fd.stretchLocked(l.pos.ID+1, l.hidden, user)
	}
	fd.mu.RUnlock()
	if state == ringServed && s == nil {
		s, removed, state = l.cut(user)
	}
	if state != ringServed {
		return nil, false, state
	}
	l.pos.ID, l.pos.Mark = s.batch.To, s.mark
	return s.batch, removed, ringServed
}

// cut makes a stretch after l's position.
func (l *line) cut(user string) (s *stretch, removed bool, state ringState) {
	l.feed.mu.Lock()
	defer l.feed.mu.Unlock()
	if state = l.lookLocked(); state != ringServed {
		return nil, false, state
	}
	s, removed = l.feed.cutLocked(l.pos.ID+1, l.hidden, l.last, user)
	return s, removed, ringServed
}

// lookLocked reports whether the ring has what comes after l's position. The caller holds the lock of the feed, or its
// read lock.
func (l *line) lookLocked() ringState {
	fd := l.feed
	switch {
	case l.life != fd.life || l.gapPending || fd.last != unknownLast && l.pos.Epoch != fd.epoch:
		return ringPull
	case fd.last == unknownLast || l.pos.ID >= fd.last:
		return ringNothing
	case l.pos.ID+1 < fd.firstLocked():
		return ringPull
	case fd.sure != fd.cuts: // the ring may be of a log that the store has lost
		return ringPull
	}
	if !l.verified {
		if at := fd.atLocked(l.pos.ID); at == nil || at.Mark != l.pos.Mark {
			return ringPull
		}
		l.verified = true
	}
	return ringServed
}

// advance makes messages the content of b and moves the line's position to their end.
func (l *line) advance(b *chat.Batch, messages []chat.Message) {
	b.Epoch, b.From, b.Messages = l.pos.Epoch, l.pos.ID+1, messages
	if n := len(messages); n > 0 {
		l.pos.ID, l.pos.Mark = messages[n-1].ID, messages[n-1].Mark
	}
	b.To = l.pos.ID
	b.HasMore = b.To < b.Last
	b.Cursor = chat.FormatPosition(b.Epoch, b.To, l.pos.Mark)
	l.gapPending = false
}

// pull reads from the store for lines that are behind: a fair share of what each one still needs.
func (f *Follower) pull(ctx context.Context, behind []*line) error {
	most := f.perRound
	share := int64(min(most, max(roundShare, most/len(behind))))
	readings := make([]chat.Reading, 0, len(behind))
	asking := make([]*chat.Reading, 0, len(behind))
	lives := make([]int, 0, len(behind))
	left := int64(most)
	for i, l := range behind {
		before := l.feed.snapshot()
		owed := max(l.last, before.last) - l.pos.ID
		limit := min(max(owed, 1), share, left)
		if left -= limit; limit <= 0 {
			for _, later := range behind[i:] {
				f.queue(later)
			}
			behind = behind[:i]
			break
		}
		readings = append(readings, chat.NewReading(l.group(), l.pos, 0, int(limit)))
		asking = append(asking, &readings[i])
		lives = append(lives, before.life)
	}
	if err := f.readWithin(ctx, asking, most); err != nil {
		return err
	}
	bytes := 0
	for i, l := range behind {
		n, err := f.take(l, asking[i], lives[i], roundBytesMax-bytes)
		if err != nil {
			return err
		}
		bytes += n
	}
	return nil
}

// readWithin waits for its turn, reads, and estimates from the result how many messages to ask for next time.
func (f *Follower) readWithin(ctx context.Context, asking []*chat.Reading, most int) error {
	limits := f.service.limits
	done, err := f.mayRead(ctx, min(int64(most)*messageBytesMax(limits), int64(2*limits.PageBytesMax))) // see chat.PullStore
	if err != nil {
		return err
	}
	defer done()
	if err := chat.Read(ctx, f.service.store, f.by.User, asking); err != nil {
		return err
	}
	messages, bytes := 0, 0
	for _, r := range asking {
		messages += len(r.Messages)
		for _, m := range r.Messages {
			bytes += len(m.JSON)
		}
	}
	f.perRound = fillRound(messages, bytes, f.perRound, roundMessages)
	return nil
}

// fillRound estimates how many entries fill a round, given that n of them had so many bytes. Without any, the number stays.
func fillRound(n, bytes, now, most int) int {
	if bytes == 0 {
		return now
	}
	return min(max(roundBytesMax*n/bytes+1, roundEntriesMin), most)
}

// take serves what was read for one line. At least one message is served of each line whose turn comes before the round is
// full.
func (f *Follower) take(l *line, r *chat.Reading, life, room int) (bytes int, err error) {
	if r.Err != nil {
		if code := chat.CodeOf(r.Err); code != chat.CodeNotFound && code != chat.CodeForbidden {
			// It does not hold up the others, and is looked at again when it grows, or after the next safety check.
			f.service.log.Error("cannot read a group", "group", l.group(), "error", r.Err)
			l.feed.failed(&l.interest)
			return 0, nil
		}
		f.left(l)
		return 0, nil
	}
	if room <= 0 {
		f.queue(l)
		return 0, nil
	}
	f.learn(l, r.Info)
	l.life, l.verified = life, true
	l.pos = r.Position()
	l.gapPending = l.gapPending || !r.Start.Complete
	if len(r.Messages) == 0 && r.Owed() > 0 {
		f.queue(l)
		if r.Cut {
			return 0, nil
		}
		return 0, fmt.Errorf("the log of %s ends at %d but has nothing right after %d", l.group(), r.Info.Last, l.pos.ID)
	}
	messages, bytes := fitBytes(r.Messages, room)
	if len(messages) < len(r.Messages) {
		messages = slices.Clone(messages) // what does not fit is read again, and must not stay in memory until then
	}
	if len(messages) == 0 && !l.gapPending {
		return 0, nil
	}
	b := &chat.Batch{Group: l.group(), First: r.Info.Visible(), Last: r.Info.Last, Complete: !l.gapPending,
		Cursors: chat.Cursors{Seen: r.Info.Seen, Read: r.Info.Read, Unread: r.Info.Unread}}
	l.advance(b, messages)
	f.out = append(f.out, Event{Messages: b})
	if b.HasMore {
		f.queue(l)
	}
	return bytes, nil
}
