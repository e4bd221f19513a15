package live

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/chatd/chatd/chat"
)

// Bounds of keeping feeds whole.
const (
	followedMax   = 50_000 // if more groups and users are followed, idle ones do not linger
	checkChunk    = 1000   // groups or users compared by one call
	repairWorkers = 4      // fills at once on a node
	listenPause   = 500 * time.Millisecond
	fullChecks    = 251 // safety checks in which each followed inbox is compared at least once, even if it does not seem to have grown
)

// run listens for signals and keeps the feeds whole until ctx ends.
func (h *hub) run(ctx context.Context) error {
	var wg sync.WaitGroup
	wg.Go(func() { h.listen(ctx) })
	wg.Go(func() { h.checks(ctx) })
	wg.Go(func() { h.flushLoop(ctx) })
	wg.Go(func() { h.hereLoop(ctx) })
	wg.Go(func() { h.streamLoop(ctx) })
	for range repairWorkers {
		wg.Go(func() { h.repairLoop(ctx) })
	}
	wg.Wait()
	return nil
}

func (h *hub) listen(ctx context.Context) {
	for ctx.Err() == nil {
		err := h.store.Listen(ctx, h.deliver)
		if ctx.Err() != nil {
			return
		}
		h.log.Error("subscription to the store ended; restarting it", "error", err)
		h.deliver(Signal{Kind: SignalLost})
		if !pause(ctx, listenPause) {
			return
		}
	}
}

// pause waits for d and reports whether ctx still runs.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// jitter shortens d by 5 to 15 %: nodes do not ask in step, and a lost message is found, read and delivered before d is
// over.
func jitter(d time.Duration) time.Duration {
	return d - d/20 - rand.N(d/10+1)
}

func (h *hub) repairLoop(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-h.repairs.More():
		}
		for fd := h.repairs.Next(); fd != nil && ctx.Err() == nil; fd = h.repairs.Next() {
			h.repair(ctx, fd)
		}
	}
}

// repair reads what fd is missing, once for all its readers. It starts with the entry at the feed's end: if that one has
// changed, the log was rolled back. After a failed read, the next safety check tries again.
func (h *hub) repair(ctx context.Context, fd *feed) {
	before := fd.known()
	from := max(before.last, 1)
	messages, end, err := h.store.Range(ctx, fd.group, from, h.limits.RingEntries, 0)
	if err == nil && end.Last-from >= int64(h.limits.RingEntries) {
		messages, end, err = h.store.Range(ctx, fd.group, end.Last-int64(h.limits.RingEntries)+1, 2*h.limits.RingEntries, 0)
	}
	if errors.Is(err, chat.ErrNotFound) {
		messages, end, err = nil, chat.LogEnd{Last: -1}, nil
	}
	fd.mu.Lock()
	fd.repairing = false
	fd.mu.Unlock()
	if err != nil {
		if ctx.Err() == nil {
			h.log.Warn("cannot fill a gap in a log yet", "error", err)
		}
		return
	}
	h.apply(fd, func(r *ring) change { return r.fill(before, messages, end) })
}

// checks compares what is followed with the store periodically, and at once when signals were lost.
func (h *hub) checks(ctx context.Context) {
	for {
		timer := time.NewTimer(jitter(h.limits.SafetyCheck))
		lost := false
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-h.lost:
			timer.Stop()
			lost = true
		case <-timer.C:
		}
		h.evictIdle(time.Now())
		if err := h.check(ctx, lost); err != nil && ctx.Err() == nil {
			h.log.Warn("the safety check failed", "error", err)
			if lost { // try again soon: ordinary checks compare less
				h.deliver(Signal{Kind: SignalLost})
				pause(ctx, listenPause)
			}
		}
	}
}

// check is one comparison. After a loss of signals every feed is due for a fill, because a log that was rolled back and
// rewritten may end at the same id, and readers look for groups whose signal of joining was lost.
func (h *hub) check(ctx context.Context, lost bool) error {
	growth, err := h.store.InboxGrowth(ctx) // before users are listed: what grows from here on is for the next check
	if err != nil {
		return err
	}
	groups, users, readers := h.followed()
	if lost {
		for _, p := range readers {
			p.signalsLost()
		}
	}
	for len(groups) > 0 {
		chunk := groups[:min(len(groups), checkChunk)]
		groups = groups[len(chunk):]
		ids := make([]string, len(chunk))
		before := make([]known, len(chunk))
		for i, fd := range chunk {
			ids[i], before[i] = fd.group, fd.known()
		}
		ends, err := h.store.Lasts(ctx, ids)
		if err != nil {
			return err
		}
		for i, fd := range chunk {
			h.apply(fd, func(r *ring) change { return r.compare(before[i], ends[i]) })
			if ends[i].Streams || fd.writes() {
				h.readStreams(fd)
			}
			for _, in := range fd.takeUnread() {
				in.pending.grew(in)
			}
		}
	}
	users = h.inboxesDue(users, growth, lost)
	for len(users) > 0 {
		chunk := users[:min(len(users), checkChunk)]
		users = users[len(chunk):]
		ends, err := h.store.InboxEnds(ctx, chunk)
		if err != nil {
			return err
		}
		h.compareInboxes(chunk, ends)
	}
	h.growth = growth
	h.checked++
	return nil
}

// inboxesDue returns the users whose inbox has to be compared: those in whose bucket an inbox grew since the last check, all if
// signals were lost, and some others in turn.
func (h *hub) inboxesDue(users []string, growth map[int]int64, lost bool) []string {
	if lost || h.growth == nil {
		return users
	}
	return slices.DeleteFunc(users, func(user string) bool {
		bucket := h.store.InboxBucket(user)
		return growth[bucket] == h.growth[bucket] && bucket%fullChecks != h.checked%fullChecks
	})
}

// followed lists the groups and users with live readers, and the idle ones that are still in memory.
func (h *hub) followed() (groups []*feed, users []string, readers []*pending) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	for _, fd := range h.groups {
		groups = append(groups, fd)
	}
	for id, u := range h.users {
		if len(u.readers) == 0 {
			continue
		}
		users = append(users, id)
		readers = append(readers, u.readers...)
	}
	return groups, users, readers
}

func (h *hub) compareInboxes(users []string, ends []chat.InboxEnd) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i, id := range users {
		u := h.users[id]
		if u == nil || u.inboxEnd == ends[i] {
			continue
		}
		u.inboxEnd = ends[i]
		for _, p := range u.readers {
			p.inboxGrew()
		}
	}
}
