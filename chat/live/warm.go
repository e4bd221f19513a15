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
	missing, wait := fd.beginWarm(l)
	switch {
	case wait != nil:
		select {
		case <-wait:
			return true, nil
		case <-ctx.Done():
			return false, ctx.Err()
		}
	case missing.from == 0:
		return true, nil
	}
	var messages []chat.Message
	var end chat.LogEnd
	defer func() { again = fd.endWarm(missing, messages, end) }()
	n := missing.to - missing.from + 1
	bytes := min(n*messageBytesMax(h.limits), readingBytesMax)
	if err := reading.Acquire(ctx, bytes); err != nil {
		return false, err
	}
	defer reading.Release(bytes)
	messages, end, err = h.store.Range(ctx, fd.group, missing.from, int(n), 0)
	return false, err
}

// beginWarm returns what has to be read for l; nothing if its plan has changed by now. If another reader is filling the ring, wait
// is closed when that is done.
func (f *feed) beginWarm(l *line) (missing gap, wait chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch p, from := l.plan(&f.ring, len(f.interests)); {
	case p != planWarm:
		return gap{}, nil
	case f.warming != nil:
		return gap{}, f.warming
	default:
		f.warming = make(chan struct{})
		return gap{from, f.ring.first() - 1, f.ring.gen}, nil
	}
}

// endWarm applies what was read. It reports whether the ring was filled.
func (f *feed) endWarm(missing gap, messages []chat.Message, end chat.LogEnd) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	close(f.warming)
	f.warming = nil
	return f.ring.prepend(missing, messages, end)
}
