package live

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/chatd/chatd/chat"
)

// readingBytesMax bounds what all sessions of a node may be reading at the same time, assuming that every message has the
// maximum size. What has been read and waits for slow clients is bounded by Limits.PendingBytesMax: a round reserves its
// share before it reads.
const readingBytesMax = 8 << 20

// ErrFull means that the reader has to wait because Limits.PendingBytesMax is reached. Nothing is lost: it may ask again
// shortly. Closing the slowest sessions helps.
var ErrFull = errors.New("too much is waiting for slow clients")

// budget counts bytes that wait for clients on a node.
type budget struct {
	max  int64
	used atomic.Int64
}

// take reserves n bytes, or nothing if there is not enough room.
func (b *budget) take(n int64) bool {
	if b.used.Add(n) <= b.max {
		return true
	}
	b.used.Add(-n)
	return false
}

// messageBytesMax is roughly the largest size of one stored message: body, data, mentions and the other fields.
func messageBytesMax(l chat.Limits) int64 { return int64(2*l.BodyBytesMax + 4<<10) }

// mayRead waits for the turn of a call that reads at most so many bytes, and reserves what its round may leave waiting; settle
// gives back what it does not leave. done ends the turn.
func (f *Follower) mayRead(ctx context.Context, bytes int64) (done func(), err error) {
	bytes = min(bytes, readingBytesMax)
	if err := f.service.reading.Acquire(ctx, bytes); err != nil {
		return nil, err
	}
	if err := f.reserve(); err != nil { // only now: a session that waits for its turn must hold nothing
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

// settle makes the session's share of the budget exactly the bytes that wait for it.
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

// bytes is how much JSON e holds. One message that all sessions of a group share does not count; a longer shared batch
// counts in full, because its last holder may be one who reads slowly.
func (e Event) bytes() (n int64) {
	switch {
	case e.Messages != nil && (e.Messages.Shared == nil || len(e.Messages.Messages) > 1):
		return int64(bytesOf(e.Messages.Messages))
	case e.Inbox != nil:
		for _, item := range e.Inbox.Items {
			n += int64(len(item.JSON))
		}
	}
	return n
}
