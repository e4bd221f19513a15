package ws

import (
	"runtime"
	"sync"
)

// runQueue hands sessions that have something to do to a few lasting writers, first come first served. A writer never
// waits for a client, so few are enough: a session that has to wait, for its client or for entries from the store, gets a
// goroutine of its own until it need not wait any more. Only profiles and previews that the node does not know yet are
// read by the writer, once for all who get the batch: one round trip, half a second at most.
type runQueue struct {
	begin sync.Once
	wg    sync.WaitGroup

	mu          sync.Mutex
	more        sync.Cond
	first, last *session // linked by session.next
	idle        int      // writers that wait for a session
	closed      bool
}

// writers is how many a node has: half of the processors, because the other half receives and stores what is delivered.
// With fewer, sessions wait a little longer while all writers are busy, and get more at once: a write costs much the same
// whatever its length.
func writers() int { return max(1, runtime.GOMAXPROCS(0)/2) }

func newRunQueue() *runQueue {
	q := &runQueue{}
	q.more.L = &q.mu
	return q
}

// start starts the writers, once.
func (q *runQueue) start() {
	q.begin.Do(func() {
		for range writers() {
			q.wg.Go(q.write)
		}
	})
}

func (q *runQueue) write() {
	for s := q.pop(); s != nil; s = q.pop() {
		s.out.turn()
	}
}

// push adds a session that is not in the queue.
func (q *runQueue) push(s *session) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.last == nil {
		q.first = s
	} else {
		q.last.next = s
	}
	q.last = s
	if q.idle > 0 {
		q.more.Signal()
	}
}

// pop waits for a session; nil: the queue is closed.
func (q *runQueue) pop() *session {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.first == nil {
		if q.closed {
			return nil
		}
		q.idle++
		q.more.Wait()
		q.idle--
	}
	s := q.first
	q.first, s.next = s.next, nil
	if q.first == nil {
		q.last = nil
	}
	return s
}

// close stops the writers and waits for them. There must be no session any more.
func (q *runQueue) close() {
	q.mu.Lock()
	q.closed = true
	q.more.Broadcast()
	q.mu.Unlock()
	q.wg.Wait()
}

// States of a session on its way through the queue. From idle only wake leads on; the others belong to the goroutine
// that writes for the session, which is one at a time.
const (
	stateIdle   int32 = iota // nothing to do, as far as its writer saw
	stateQueued              // in the queue
	stateBusy                // a goroutine writes for it
	stateAgain               // likewise, and something came since it looked
	stateOver                // it ends: nothing is written any more but the goodbye
)

// wake has the session looked at by a writer. It never blocks.
func (s *session) wake() {
	for {
		switch state := s.state.Load(); state {
		case stateIdle:
			if s.state.CompareAndSwap(stateIdle, stateQueued) {
				s.all.queue.push(s)
				return
			}
		case stateBusy:
			if s.state.CompareAndSwap(stateBusy, stateAgain) {
				return
			}
		default:
			return
		}
	}
}

// rest makes the session idle, unless something came since its writer looked.
func (s *session) rest() {
	if !s.state.CompareAndSwap(stateBusy, stateIdle) {
		s.requeue()
	}
}

func (s *session) requeue() {
	s.state.Store(stateQueued)
	s.all.queue.push(s)
}
