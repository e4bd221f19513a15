package live

import "sync"

// feedQueue holds feeds that a loop has to look at. Its lock is a leaf: no other lock is taken while it is held.
type feedQueue struct {
	more chan struct{} // capacity 1: there is something

	mu    sync.Mutex
	feeds []*feed // guarded by mu. Invariant: each feed at most once; callers of add ensure it
}

func newFeedQueue() *feedQueue { return &feedQueue{more: make(chan struct{}, 1)} }

func (q *feedQueue) add(fd *feed) {
	q.mu.Lock()
	q.feeds = append(q.feeds, fd)
	q.mu.Unlock()
	q.wake()
}

func (q *feedQueue) wake() {
	select {
	case q.more <- struct{}{}:
	default:
	}
}

// next takes a feed, or nil if there is none, and wakes another worker if more are waiting.
func (q *feedQueue) next() *feed {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.feeds) == 0 {
		return nil
	}
	fd := q.feeds[0]
	q.feeds[0] = nil
	q.feeds = q.feeds[1:]
	if len(q.feeds) > 0 {
		q.wake()
	}
	return fd
}

func (q *feedQueue) takeAll() []*feed {
	q.mu.Lock()
	defer q.mu.Unlock()
	all := q.feeds
	q.feeds = nil
	return all
}

// emptied returns an empty list for reuse. A long one was needed only for a burst, and is dropped.
func emptied[T any](list []T) []T {
	const kept = 4
	if cap(list) > kept {
		return nil
	}
	return list[:0]
}
