package live

import (
	"sync/atomic"
	"time"
)

// tide counts what may have changed a log, or which groups a user is in: each signal of it, each moment at which signals may have been
// missed, and the end of the subscription. While it stands still, nothing has changed of which the store has sent a signal.
type tide struct {
	moves atomic.Uint64
	used  atomic.Int64 // when a sync last relied on it, in ns: it keeps the subscription
}

func (t *tide) move() { t.moves.Add(1) }

// idle reports whether nobody has needed it for so long, given that the last reader left then.
func (t *tide) idle(left, now time.Time, linger time.Duration) bool {
	if used := time.Unix(0, t.used.Load()); used.After(left) {
		left = used
	}
	return now.Sub(left) > linger
}

// level is where a tide stood.
type level struct {
	tide *tide // nil: what it is about is not followed
	at   uint64
}

func (t *tide) level() level { return level{t, t.moves.Load()} }

// stands reports whether the tide has not moved since.
func (l level) stands() bool { return l.tide != nil && l.tide.moves.Load() == l.at }

// levels returns where the tides of groups stand, in order.
func (h *hub) levels(groups []string) []level {
	levels := make([]level, len(groups))
	h.mu.RLock()
	defer h.mu.RUnlock()
	for i, id := range groups {
		if fd := h.groups[id]; fd != nil && fd.isConfirmed() {
			levels[i] = fd.tide.level()
		}
	}
	return levels
}

// levelOf returns where the tide of a user stands.
func (h *hub) levelOf(user string) level {
	h.mu.RLock()
	defer h.mu.RUnlock()
	if u := h.users[user]; u != nil && u.confirmed {
		return u.tide.level()
	}
	return level{}
}

// moved notes that what is known of a group or a user may have changed; "": of none.
func (h *hub) moved(group, user string) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	if fd := h.groups[group]; fd != nil {
		fd.tide.move()
	}
	if u := h.users[user]; u != nil {
		u.tide.move()
	}
}
