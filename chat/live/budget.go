package live

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/chatd/chatd/chat"
)

// readingBytesMax bounds what the sessions of a node read at one time, as if every message had its greatest length. What was
// read and waits for slow clients is bounded by Limits.PendingBytesMax: a round takes its share before it reads.
const readingBytesMax = 8 << 20

// ErrFull is the error of a reader that has to wait because Limits.PendingBytesMax is reached. Nothing is lost: it may ask
// again soon. It helps to close the slowest sessions.
var ErrFull = errors.New("too much is waiting for slow clients")

// budget counts bytes that wait for clients on a node.
type budget struct {
	max  int64
	used atomic.Int64
}

// take takes n bytes, or none where there is no room for all of them.
func (b *budget) take(n int64) bool {
	if b.used.Add(n) <= b.max {
		return true
	}
	b.used.Add(-n)
	return false
}

// messageBytesMax is about what one message takes that a store answers with: body, data, mentions and the fields around.
func messageBytesMax(l chat.Limits) int64 { return int64(2*l.BodyBytesMax + 4<<10) }

// mayRead waits for the turn of a call that reads so many bytes at most, and takes what its round may leave behind, of which
// settle gives back what it does not. done ends the turn.
func (f *Follower) mayRead(ctx context.Context, bytes int64) (done func(), err error) {
	bytes = min(bytes, readingBytesMax)
	if err := f.service.reading.Acquire(ctx, bytes); err != nil {
		return nil, err
	}
	if err := f.reserve(); err != nil { // not before: whoever waits holds nothing
		f.service.reading.Release(bytes)
		return nil, err
	}
	return func() { f.service.reading.Release(bytes) }, nil
}

func (f *Follower) reserve() error {
	share := roundBytesMax + messageBytesMax(f.service.limits)
	kept := f.kept.Load()
	if kept >= share {
		return nil
	}
	if !f.service.pending.take(share - kept) {
		return ErrFull
	}
	f.kept.Store(share)
	return nil
}

// settle counts what waits for the session, no more and no less.
func (f *Follower) settle() {
	now := int64(0)
	for _, e := range f.out {
		now += e.bytes()
	}
	if before := f.kept.Load(); now != before {
		f.service.pending.used.Add(now - before)
		f.kept.Store(now)
	}
}

// Held is how many bytes wait for the session. It may be called from any goroutine.
func (f *Follower) Held() int64 { return f.kept.Load() }

// bytes is how much JSON e holds of its own: one message may be shared by all the sessions of a group.
func (e Event) bytes() (n int64) {
	switch {
	case e.Messages != nil && e.Messages.Shared == nil:
		for _, m := range e.Messages.Messages {
			n += int64(len(m.JSON))
		}
	case e.Inbox != nil:
		for _, item := range e.Inbox.Items {
			n += int64(len(item.JSON))
		}
	}
	return n
}
