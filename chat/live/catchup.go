package live

import (
	"context"
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
	sharedLines      = 8        // groups that are read together with others who are behind in them: with more, one call for all of them costs less
	sharedBytes      = 32 << 10 // what one reader of such a group is counted as: what is read is in memory once for all of them
	batchMessagesMax = 128      // messages of one batch from memory
	batchBytesMax    = 64 << 10 // JSON bytes of it
)

// Catching up alternates: Ready gives the session what is in memory. When that is used up, plan says what to read from the store
// in one round, read reads it, and the result is applied. Neither planning nor applying does any I/O.

// round is what to read next: the index, the groups, the inbox, or the lines of warm and ask; if all are empty, nothing.
type round struct {
	index  bool     // the user's index
	groups []string // the user's membership in them
	inbox  bool     // items of the inbox
	warm   []*line  // their rings are filled backwards
	ask    []*line  // their messages are read
}

// plan decides what to read next. Membership comes first. The inbox takes turns with the groups, so at most one round waits.
func (f *Follower) plan() (r round) {
	switch {
	case f.index:
		r.index = true
	case len(f.check) > 0:
		for g := range f.check {
			if r.groups = append(r.groups, g); len(r.groups) == roundGroups {
				break
			}
		}
	case f.inboxDue && (f.turn <= 0 || len(f.todo) == 0):
		r.inbox = true
	default:
		f.turn = 0
		r.warm, r.ask = f.planLines()
	}
	return r
}

// planLines takes from todo the lines that are behind the rings, at most roundGroups.
func (f *Follower) planLines() (warm, ask []*line) {
	waiting := f.todo
	f.todo = nil
	for i, l := range waiting {
		if len(warm)+len(ask) == roundGroups {
			f.todo = append(f.todo, waiting[i:]...)
			break
		}
		l.queued = false
		switch l.now() {
		case planWarm:
			warm = append(warm, l)
		case planAsk:
			ask = append(ask, l)
		case planServe:
			f.queue(l) // since Ready has looked
		}
	}
	return warm, ask
}

// page is what a round reads for one line.
type page struct {
	line *line
	of   chat.Reading
	gen  int // of the ring before
}

// planPages asks for a fair share of what each line lacks, at most so many messages in all. later are lines that have to wait.
func planPages(lines []*line, most int) (pages []page, later []*line) {
	share, left := min(most, max(roundShare, most/len(lines))), most
	shared := readTogether(lines)
	pages = make([]page, 0, len(lines))
	for i, l := range lines {
		if left <= 0 {
			return pages, lines[i:]
		}
		known := l.feed.known()
		owed := max(l.last, known.last) - l.pos.ID
		limit := int(min(max(owed, 1), int64(share), int64(left)))
		left -= limit
		of := chat.NewReading(l.group(), l.pos, 0, limit)
		if shared {
			of.Share()
		}
		pages = append(pages, page{l, of, known.gen})
	}
	return pages, nil
}

// readTogether reports whether lines are read together with others who are behind in the same groups.
func readTogether(lines []*line) bool {
	return len(lines) <= sharedLines && !slices.ContainsFunc(lines, func(l *line) bool { return !l.feed.crowded() })
}

// read makes one round. After an error, all of it has to be read again.
func (f *Follower) read(ctx context.Context) error {
	defer f.settle()
	store := f.service.store
	switch r := f.plan(); {
	case r.index:
		index, err := store.UserGroups(ctx, f.by.User)
		if err != nil {
			return err
		}
		f.applyIndex(index)
	case len(r.groups) > 0:
		infos, err := f.look(ctx, r.groups)
		if err != nil {
			return err
		}
		f.applyMembership(r.groups, infos)
	case r.inbox:
		done, err := f.mayRead(ctx, int64(f.perInbox)*messageBytesMax(f.service.limits))
		if err != nil {
			return err
		}
		defer done()
		b, err := store.InboxPull(ctx, f.by.User, f.inboxPos, f.perInbox)
		if err != nil {
			return err
		}
		f.applyInbox(b)
	default:
		err := f.readLines(ctx, r.warm, r.ask)
		for _, l := range slices.Concat(r.warm, r.ask) {
			if err != nil {
				f.queue(l)
			}
		}
		return err
	}
	return nil
}

// readLines fills the rings of warm, and reads for the other lines and those whose rings cannot be filled.
func (f *Follower) readLines(ctx context.Context, warm, ask []*line) error {
	for _, l := range warm {
		again, err := f.service.hub.warm(ctx, l, f.service.reading)
		if err != nil {
			return err
		}
		if again {
			f.queue(l)
		} else {
			ask = append(ask, l)
		}
	}
	if len(ask) == 0 {
		return nil
	}
	pages, later := planPages(ask, f.perRound)
	for _, l := range later {
		f.queue(l)
	}
	readings := make([]*chat.Reading, len(pages))
	for i := range pages {
		readings[i] = &pages[i].of
	}
	limits := f.service.limits
	bytes := min(int64(f.perRound)*messageBytesMax(limits), int64(2*limits.PageBytesMax)) // see chat.PullStore
	if readTogether(ask) {
		bytes = int64(len(ask)) * sharedBytes
	}
	done, err := f.mayRead(ctx, bytes)
	if err != nil {
		return err
	}
	defer done()
	if err := chat.Read(ctx, f.service.store, f.by.User, readings); err != nil {
		return err
	}
	return f.applyPages(pages)
}

// applyIndex requests a check of groups for which a signal of joining or leaving was lost.
func (f *Follower) applyIndex(index []chat.UserGroup) {
	listed := make(map[string]struct{}, len(index))
	for _, g := range index {
		listed[g.Group] = struct{}{}
		if f.lines.of(g.Group) == nil {
			f.checkGroup(g.Group)
		}
	}
	for _, l := range f.lines {
		if _, ok := listed[l.group()]; !ok {
			f.checkGroup(l.group())
		}
	}
	f.index = false
}

// applyMembership applies what the groups themselves say. New ones have lines without a position.
func (f *Follower) applyMembership(groups []string, infos []chat.Info) {
	for i, g := range groups {
		delete(f.check, g)
		switch l := f.lines.of(g); {
		case l == nil: // neither followed nor a member
		case !isMember(infos[i]):
			f.left(l)
		case !l.pos.Set:
			f.join(l, infos[i])
		default:
			if l.pos.Epoch != infos[i].Epoch {
				l.restart(infos[i])
			}
			f.queue(l)
		}
	}
}

// join adds a group in the middle of a session. It starts at the member's seen, but never repeats what this session got.
func (f *Follower) join(l *line, info chat.Info) {
	var pos chat.Position
	if p, ok := f.past[l.group()]; ok && p.Epoch == info.Epoch && p.ID >= info.Seen { // also where they are equal: p has the mark
		pos = p
	}
	delete(f.past, l.group())
	f.out = append(f.out, Event{Joined: l.group()})
	if l.start(info, pos, 0) || info.Streams {
		f.queue(l)
	}
}

// left ends the line of a group.
func (f *Follower) left(l *line) {
	if len(f.past) < f.service.limits.UserGroupsMax {
		f.leftAt(l.group(), l.pos) // with its mark: the log may be rolled back before they return
	}
	f.drop(l)
	f.service.hub.opens.leave(f.pending, l.group())
	f.out = append(f.out, Event{Left: l.group()})
}

// applyInbox gives the items of b, as far as they fit into a round, and estimates from them how many to ask for next time.
func (f *Follower) applyInbox(b chat.InboxBatch) {
	bytes := 0
	for _, item := range b.Items {
		bytes += len(item.JSON)
	}
	f.perInbox = fillRound(len(b.Items), bytes, f.perInbox, f.service.limits.PageMessages)
	if fit := b.Fit(roundBytesMax); len(fit.Items) < len(b.Items) {
		b = fit
		b.Items = slices.Clone(fit.Items) // what was cut off must not stay in memory
	}
	f.inboxDue, f.inboxPos, f.turn = b.HasMore, b.Position(), roundBytesMax
	if !b.HasMore {
		f.service.hub.inboxSeen(f.by.User, chat.InboxEnd{Last: b.To, Mark: f.inboxPos.Mark, Epoch: b.Epoch})
	}
	if len(b.Items) > 0 || !b.Complete {
		f.out = append(f.out, Event{Inbox: &b})
	}
}

// applyPages gives what was read, as far as it fits into a round but at least one message of each line whose turn comes
// before that is full, and estimates from it how many to ask for next time.
func (f *Follower) applyPages(pages []page) error {
	messages, bytes, room := 0, 0, roundBytesMax
	for i := range pages {
		messages += len(pages[i].of.Messages)
		bytes += bytesOf(pages[i].of.Messages)
	}
	f.perRound = fillRound(messages, bytes, f.perRound, roundMessages)
	for i := range pages {
		l, r := pages[i].line, &pages[i].of
		switch code := chat.CodeOf(r.Err); {
		case code == chat.CodeNotFound, code == chat.CodeForbidden:
			f.left(l)
			continue
		case r.Err != nil:
			// It does not hold up the others, and is tried again when it grows, or after the next safety check.
			f.service.log.Error("cannot read a group", "group", l.group(), "error", r.Err)
			l.feed.failed(&l.interest)
			continue
		case room <= 0:
			f.queue(l)
			continue
		}
		f.learn(l, r.Info)
		b, more, err := l.apply(r, pages[i].gen, room)
		if more || l.feed.writes() {
			f.queue(l)
		}
		if err != nil {
			return err
		}
		if b != nil {
			room -= bytesOf(b.Messages)
			f.out = append(f.out, Event{Messages: b})
		}
	}
	return nil
}

// fillRound estimates how many entries fill a round, given that n of them had so many bytes. With n 0 the estimate stays.
func fillRound(n, bytes, now, most int) int {
	if bytes == 0 {
		return now
	}
	return min(max(roundBytesMax*n/bytes+1, roundEntriesMin), most)
}
