package live

import (
	"fmt"
	"slices"
	"strings"

	"github.com/chatd/chatd/chat"
)

// line is one group of a Follower: how far the session has read it. A node has one for each group of each session, so its
// size matters. All but the interest is owned by the goroutine of the Follower.
type line struct {
	interest
	// Invariant: everything up to pos was given to the session, or the session knows that it is gone, or will learn so from
	// the next batch (gapPending).
	pos        chat.Position // Set once it is known that the user is a member; Epoch and Mark as far as they are known
	gen        int           // of the ring before pos was last compared with the store
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

// plan says where a line gets the entries after its position.
type plan int

const (
	planNothing plan = iota // the session has everything
	planServe               // from the ring
	planWarm                // from the ring, once that is filled backwards
	planAsk                 // from the store, which compares the position as well
)

// plan decides from l's position and the ring of its feed, which has so many readers. from is the first id to fill or to serve.
func (l *line) plan(r *ring, readers int) (p plan, from int64) {
	from = l.pos.ID + 1
	switch {
	case l.gone:
		return planNothing, from
	case l.gen < r.life, l.gapPending, r.last != unknownLast && l.pos.Epoch != r.epoch:
		return planAsk, from
	case r.last == unknownLast || l.pos.ID >= r.last:
		if l.pos.ID < l.last {
			return planAsk, from
		}
		return planNothing, from
	case r.unsure: // the ring may be of a log that the store has lost
		return planAsk, from
	}
	first := from
	if !l.verified {
		first-- // the entry at the position has to be compared
	}
	switch at := r.at(first); {
	case at == nil && readers >= warmReaders && r.reaches(first):
		return planWarm, first
	case at == nil, !l.verified && at.Mark != l.pos.Mark:
		return planAsk, from
	}
	return planServe, from
}

// now is the plan of l at this moment.
func (l *line) now() plan {
	l.feed.mu.RLock()
	defer l.feed.mu.RUnlock()
	p, _ := l.plan(&l.feed.ring, len(l.feed.interests))
	return p
}

// serve takes what the ring has after l's position, up to the notice that ends user's membership, and moves the position.
// The batch is shared with other readers, unless its Shared is nil.
func (l *line) serve(user string) (b *chat.Batch, removed bool, p plan) {
	fd := l.feed
	var s *stretch
	fd.mu.RLock()
	p, from := l.plan(&fd.ring, len(fd.interests))
	if p == planServe {
		s = fd.ring.stretch(from, l.hidden, user)
	}
	fd.mu.RUnlock()
	if p == planServe && s == nil {
		fd.mu.Lock()
		if p, from = l.plan(&fd.ring, len(fd.interests)); p == planServe {
			s, removed = fd.ring.newStretch(fd.group, from, l.hidden, l.last, user)
		}
		fd.mu.Unlock()
	}
	if p != planServe {
		return nil, false, p
	}
	l.verified = true
	l.pos.ID, l.pos.Mark = s.batch.To, s.batch.Messages[len(s.batch.Messages)-1].Mark
	return s.served(fd.nowMs), removed, p
}

// start sets l to pos, and reports whether the session has work with it. newest is where it begins at the earliest if pos is not
// set.
func (l *line) start(info chat.Info, pos chat.Position, newest int64) (behind bool) {
	skipped := !pos.Set && newest > info.Seen
	if skipped {
		pos = chat.At(newest)
	}
	begin := chat.Resolve(info, pos, "")
	l.pos = begin.Before(info, pos, "")
	l.gapPending = !begin.Complete || skipped
	// Only the entry itself can show whether the client's cursor belongs to this log: the first read compares it.
	l.verified = !l.pos.HasMark() || info.MarkAt(l.pos.ID, "") != ""
	return l.gapPending || l.pos.ID < l.last
}

// restart sets l to the oldest available entry, because its position does not belong to this log.
func (l *line) restart(info chat.Info) {
	l.pos = chat.Position{Set: true, ID: info.Visible() - 1, Epoch: info.Epoch}
	l.verified, l.gapPending = true, true
}

// apply takes what was read after l's position, and returns what the session gets of it: at most room bytes of messages, but at
// least one. gen is the ring's generation before the read. b is nil if there is nothing to give; more: there is more to read.
func (l *line) apply(r *chat.Reading, gen, room int) (b *chat.Batch, more bool, err error) {
	l.gen, l.verified = gen, true
	l.pos = r.Position()
	l.gapPending = l.gapPending || !r.Start.Complete
	switch {
	case len(r.Messages) > 0:
	case r.Owed() > 0 && r.Cut:
		return nil, true, nil
	case r.Owed() > 0:
		return nil, true, fmt.Errorf("the log of %s ends at %d but has nothing right after %d", l.group(), r.Info.Last, l.pos.ID)
	case !l.gapPending:
		return nil, false, nil
	}
	messages := fitBytes(r.Messages, room)
	if len(messages) < len(r.Messages) {
		messages = slices.Clone(messages) // the rest is read again, and must not stay in memory until then
	}
	batch := r.Batch(messages)
	batch.Complete, l.gapPending = !l.gapPending, false
	if n := len(messages); n > 0 {
		batch.Shared = r.Shared(&batch)
		l.pos.ID, l.pos.Mark = messages[n-1].ID, messages[n-1].Mark
	}
	return &batch, batch.HasMore, nil
}

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
