package live

import (
	"sync"
	"time"
)

// feed is the ring of one group with its readers on this node.
type feed struct {
	group string
	nowMs func() int64           // by the clock of the store
	hides func(user string) bool // nil: nobody does
	tide  *tide

	mu        sync.RWMutex // guards all below
	ring      ring
	repairing bool          // queued for a fill, or being filled
	warming   chan struct{} // closed when the fill backwards under way has ended; nil: there is none

	interests      []*interest
	unread         []*interest           // of readers that could not read the log, each once, until the next safety check
	waiters        map[*pending]struct{} // the interests that every cursor move wakes
	throttles      map[string]*throttle  // by member
	readingStreams bool                  // queued to be read
	confirmed      bool                  // the store has confirmed the subscription
	writing        *writing              // nil: no message is being written, as far as the node knows
	idleSince      time.Time             // when the last reader left
}

func newFeed(group string, entries int) *feed {
	return &feed{group: group, tide: &tide{}, ring: newRing(entries), idleSince: time.Now()}
}

// apply changes fd's ring, then wakes its readers if it grew and queues a fill if it has a hole. A fill that is queued or running
// already checks again when it is done.
func (h *hub) apply(fd *feed, do func(*ring) change) {
	fd.mu.Lock()
	c := do(&fd.ring)
	queue := c.hole && !fd.repairing
	fd.repairing = fd.repairing || c.hole
	fd.mu.Unlock()
	if c.grew || c.hole {
		fd.tide.move() // by a signal, or by a check for lost ones
	}
	if c.grew {
		fd.each(func(in *interest) { in.pending.grew(in) })
	}
	if queue {
		h.repairs.Add(fd)
	}
}

// known returns what is known of the log now.
func (f *feed) known() known {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.ring.known
}

// crowded reports whether others are likely to be behind as well.
func (f *feed) crowded() bool {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return len(f.interests) >= warmReaders
}

// shared returns the feed's copies of an epoch and a mark if they are equal: readers keep them for as long as they follow.
func (f *feed) shared(epoch, mark string) (string, string) {
	known := f.known()
	if epoch == known.epoch {
		epoch = known.epoch
	}
	if mark == known.mark {
		mark = known.mark
	}
	return epoch, mark
}

// add registers in and reports whether the store has already confirmed the subscription.
func (f *feed) add(in *interest) (confirmed bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	in.at = int32(len(f.interests))
	f.interests = append(f.interests, in)
	if in.pending.every {
		if f.waiters == nil {
			f.waiters = map[*pending]struct{}{}
		}
		f.waiters[in.pending] = struct{}{}
	}
	return f.confirmed
}

func (f *feed) confirm() {
	f.mu.Lock()
	f.confirmed = true
	f.mu.Unlock()
}

func (f *feed) isConfirmed() bool {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.confirmed
}

// remove ends an interest. The feed lingers for the next reader.
func (f *feed) remove(in *interest) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if int(in.at) >= len(f.interests) || f.interests[in.at] != in {
		return
	}
	delete(f.waiters, in.pending)
	end := len(f.interests) - 1
	moved := f.interests[end]
	f.interests[in.at], moved.at = moved, in.at
	f.interests[end] = nil
	f.interests = f.interests[:end]
	if end == 0 {
		f.idleSince = time.Now()
	}
}

// each calls do for every interest in the feed. do must not block or lock feed.mu. Readers take what is new while others are
// still being woken.
func (f *feed) each(do func(*interest)) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	for _, in := range f.interests {
		do(in)
	}
}

func (f *feed) idle(now time.Time, linger time.Duration, crowded bool) bool {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return len(f.interests) == 0 && (crowded || f.tide.idle(f.idleSince, now, linger))
}

// failed notes that a reader could not read the log.
func (f *feed) failed(in *interest) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !in.failed {
		in.failed = true
		f.unread = append(f.unread, in)
	}
}

// takeUnread returns the readers that have to try again.
func (f *feed) takeUnread() []*interest {
	f.mu.Lock()
	defer f.mu.Unlock()
	list := f.unread
	f.unread = nil
	for _, in := range list {
		in.failed = false
	}
	return list
}
