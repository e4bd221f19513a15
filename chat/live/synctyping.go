package live

import (
	"context"
	"slices"
	"time"
)

// Who types is given to long polls that ask for it as it is to sessions: while it is fresh or not at all.
const (
	// A poll is not answered for typing alone before it has waited for so long: each answer has the client come again.
	typingEvery = time.Second
	// Whoever is in more groups gets no typing by polling: their next call costs more than typing is worth.
	typingGroupsMax = 500
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
		var heard <-chan struct{}
		if c.held {
			heard = w.pending.heard
		}
		select {
		case <-w.C():
			return true
		case <-c.over.C:
			c.addTyping(ctx, w, now, a)
			return false
		case <-ctx.Done():
			return false
		case <-c.hold:
			c.held = true
		case <-heard:
			if c.addTyping(ctx, w, now, a); len(a.Typing) > 0 {
				return false
			}
		}
	}
}

// addTyping adds to an answer who has typed in the caller's groups of up to typingMembersMax. now are the groups, sorted.
func (c *syncCall) addTyping(ctx context.Context, w *watch, now []string, a *SyncAnswer) {
	if w.pending.heard == nil {
		return
	}
	events := slices.DeleteFunc(w.pending.takeTyping(), func(e TypingEvent) bool {
		_, in := slices.BinarySearch(now, e.Group)
		return !in || c.lagged[e.Group] || slices.Contains(a.Left, e.Group)
	})
	small := c.small(ctx, events)
	a.Typing = append(a.Typing, slices.DeleteFunc(events, func(e TypingEvent) bool { return !small[e.Group] })...)
}

// small says which groups of events are small enough for all members to see who types. Nobody who polls reads how many members there
// are, so the store is asked where no session of this node has; from then on the log says who comes and goes.
func (c *syncCall) small(ctx context.Context, events []TypingEvent) map[string]bool {
	feeds := map[string]*feed{}
	var unknown []string
	for _, e := range events {
		if _, has := feeds[e.Group]; has {
			continue
		}
		fd := c.s.hub.group(e.Group)
		if feeds[e.Group] = fd; fd != nil && fd.members() == 0 {
			unknown = append(unknown, e.Group)
		}
	}
	infos, err := c.s.infos(ctx, c.by.User, unknown)
	for i := range infos {
		if err == nil && isMember(infos[i]) {
			c.s.hub.apply(feeds[unknown[i]], func(r *ring) change { return r.observe(infos[i]) })
		}
	}
	small := make(map[string]bool, len(feeds))
	for group, fd := range feeds {
		if fd != nil {
			n := fd.members()
			small[group] = n > 0 && n <= typingMembersMax
		}
	}
	return small
}
