// Package queued is a list of what a loop has to look at.
package queued

import "sync"

// List holds what a loop has to look at, in order. It may be used from any goroutine. Its lock is a leaf: no other lock is taken while
// it is held. It has no bound of its own: callers of Add see to it that nothing is in it twice.
type List[T any] struct {
	more chan struct{} // capacity 1: there is something

	mu   sync.Mutex
	list []T // guarded by mu
}

// New makes an empty List.
func New[T any]() *List[T] { return &List[T]{more: make(chan struct{}, 1)} }

// More receives when there is something.
func (q *List[T]) More() <-chan struct{} { return q.more }

// Add appends one.
func (q *List[T]) Add(one T) {
	q.mu.Lock()
	q.list = append(q.list, one)
	q.mu.Unlock()
	q.wake()
}

func (q *List[T]) wake() {
	select {
	case q.more <- struct{}{}:
	default:
	}
}

// Next takes one, or the zero value if there is none, and wakes another worker if more are waiting.
func (q *List[T]) Next() (one T) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.list) == 0 {
		return one
	}
	one, q.list[0] = q.list[0], one
	if q.list = q.list[1:]; len(q.list) > 0 {
		q.wake()
	}
	return one
}

// TakeAll takes all there are.
func (q *List[T]) TakeAll() []T {
	q.mu.Lock()
	defer q.mu.Unlock()
	all := q.list
	q.list = nil
	return all
}

// Emptied returns an empty list for reuse. A long one was needed only for a burst, and is dropped.
func Emptied[T any](list []T) []T {
	const kept = 4
	if cap(list) > kept {
		return nil
	}
	return list[:0]
}
