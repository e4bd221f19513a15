package live

import (
	"context"
	"slices"
	"time"
)

// Who types is given to long polls that ask for it as it is to sessions: while it is fresh or not at all.
const (
	typingEvery     = time.Second // how long a poll waits at least that is answered for it alone: the client then comes again
	typingGroupsMax = 500         // whoever is in more gets none: their next call costs more than it is worth
)

// pending is what the call waits with.
func (c *syncCall) pending(groups []string) *pending {
	p := newPending(c.by.User, true)
	if c.hears && len(groups) <= typingGroupsMax {
		p.heard = make(chan struct{}, 1)
	}
	return p
}

// grows waits until there may be something new in the store. It returns false if the call is to be answered with what there is: the
// time is up, the client is gone, or somebody has typed.
func (c *syncCall) grows(ctx context.Context, w *watch, now []string, a *SyncAnswer) bool {
	for {
		heard := w.pending.heard
		if c.hold != nil {
			heard = nil
		}
		select {
		case <-w.C():
			return true
		case <-c.over.C:
			c.addTyping(w, now, a)
			return false
		case <-ctx.Done():
			return false
		case <-c.hold:
			c.hold = nil
		case <-heard:
			if c.addTyping(w, now, a); len(a.Typing) > 0 {
				return false
			}
		}
	}
}

// addTyping adds to an answer who has typed in the caller's groups. now are the groups, sorted.
func (c *syncCall) addTyping(w *watch, now []string, a *SyncAnswer) {
	for _, e := range w.pending.takeTyping() {
		if _, in := slices.BinarySearch(now, e.Group); in && !c.lagged[e.Group] && !slices.Contains(a.Left, e.Group) {
			a.Typing = append(a.Typing, e)
		}
	}
}
