package live

import (
	"context"

	"golang.org/x/sync/semaphore"

	"github.com/chatd/chatd/chat"
)

// warmReaders is how many readers a feed must have for its ring to be filled backwards: if only a few read a log, each reads
// what it lacks, and the node keeps none of it.
const warmReaders = 4

// warm fills the ring of l's feed backwards as far as l is behind it, once for all readers that are behind: after a node has
// started, or after everybody has reconnected, they all lack the same entries. It reports whether l should look again.
func (h *hub) warm(ctx context.Context, l *line, reading *semaphore.Weighted) (again bool, err error) {
	fd := l.feed
	from, before, wait := fd.beginWarm(l)
	switch {
	case wait != nil:
		select {
		case <-wait:
			return true, nil
		case <-ctx.Done():
			return false, ctx.Err()
		}
	case from == 0:
		return false, nil
	}
	var messages []chat.Message
	var end chat.LogEnd
	defer func() { again = fd.endWarm(before, from, messages, end) }()
	n := before.first - from
	bytes := min(n*messageBytesMax(h.limits), readingBytesMax)
	if err := reading.Acquire(ctx, bytes); err != nil {
		return false, err
	}
	defer reading.Release(bytes)
	messages, end, err = h.store.Range(ctx, fd.group, from, int(n), 0)
	return false, err
}

// warmth is the state of a ring before the entries below it were read.
type warmth struct {
	snapshot
	first   int64
	changes int
}

// beginWarm returns the entry from which the ring has to be filled for l; 0: it must not be filled. If another reader is filling
// it, wait is closed when that is done.
func (f *feed) beginWarm(l *line) (from int64, before warmth, wait chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.interests) < warmReaders || f.last == unknownLast || f.sure != f.cuts ||
		l.life != f.life || l.gapPending || l.pos.Epoch != f.epoch || l.pos.ID >= f.last {
		return 0, warmth{}, nil
	}
	from = l.pos.ID + 1
	if !l.verified {
		from-- // the entry at the position has to be compared
	}
	first := f.firstLocked()
	switch {
	case from < 1 || from >= first || f.last-from >= int64(f.entries) || from < f.coldest:
		return 0, warmth{}, nil
	case f.warming != nil:
		return 0, warmth{}, f.warming
	}
	f.warming = make(chan struct{})
	return from, warmth{snapshot{f.epoch, f.last, f.want, f.life, f.cuts}, first, f.changes}, nil
}

// endWarm puts the entries from..before.first-1 before the ring, unless the ring, or what they are like, may have changed since
// they were read. It reports whether it did.
func (f *feed) endWarm(before warmth, from int64, messages []chat.Message, end chat.LogEnd) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	close(f.warming)
	f.warming = nil
	if f.life != before.life || f.epoch != before.epoch || f.cuts != before.cuts || f.changes != before.changes ||
		f.firstLocked() != before.first || end.Epoch != f.epoch {
		return false
	}
	n := int(before.first - from)
	fits := len(messages) == n
	for i := 0; i < n && fits; i++ {
		fits = messages[i].ID == from+int64(i)
	}
	bytes := 0
	for i := 0; i < n && fits; i++ {
		bytes += len(messages[i].JSON)
	}
	if !fits || f.bytes+bytes > ringBytesMax || len(f.ring)+n > f.entries {
		f.coldest = before.first // missing or too large: readers that far behind read for themselves
		return false
	}
	ring := make([]ringEntry, 0, n+len(f.ring))
	for _, m := range messages {
		e, _ := newRingEntry(m)
		ring = append(ring, e)
	}
	f.ring = append(ring, f.ring...)
	f.used = true
	f.bytes += bytes
	return true
}
