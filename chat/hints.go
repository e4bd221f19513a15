package chat

import (
	"context"
	"sync"
	"time"
)

// Bounds of the waiting hints: losing one costs the next pull a few more bytes, never a message.
const (
	hintsMax   = 10_000 // (user, group) pairs on a node
	hintsDelay = time.Second
	hintsLast  = 2 * time.Second // for the last flush, when the node stops
)

// hints collects how far users' indexes lag behind their cursors, and writes that down periodically: many acks in one step,
// and no request waits for it.
type hints struct {
	mu    sync.Mutex
	seen  map[string]map[string]int64 // user -> group -> seen
	pairs int
	wake  chan struct{}
}

func newHints() *hints {
	return &hints{seen: map[string]map[string]int64{}, wake: make(chan struct{}, 1)}
}

// add notes that user has seen group up to id.
func (h *hints) add(user, group string, seen int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	groups := h.seen[user]
	old, known := groups[group]
	switch {
	case known && old >= seen:
		return
	case !known && h.pairs >= hintsMax:
		return
	case groups == nil:
		groups = map[string]int64{}
		h.seen[user] = groups
	}
	if !known {
		h.pairs++
	}
	groups[group] = seen
	select {
	case h.wake <- struct{}{}:
	default:
	}
}

func (h *hints) take() map[string]map[string]int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	taken := h.seen
	h.seen, h.pairs = map[string]map[string]int64{}, 0
	return taken
}

// NoteSeen notes that user has seen group up to id, so that the index learns it soon.
func (s *Service) NoteSeen(user, group string, id int64) { s.hints.add(user, group, id) }

// runHints writes hints until ctx ends, and once more then. An idle node does nothing here.
func (s *Service) runHints(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), hintsLast)
			s.flushHints(last)
			cancel()
			return
		case <-s.hints.wake:
		}
		// Give what arrives in the next moments the chance to go along.
		timer := time.NewTimer(hintsDelay)
		select {
		case <-ctx.Done():
			timer.Stop()
		case <-timer.C:
			s.flushHints(ctx)
		}
	}
}

func (s *Service) flushHints(ctx context.Context) {
	for user, groups := range s.hints.take() {
		list := make([]UserGroup, 0, len(groups))
		for g, seen := range groups {
			list = append(list, UserGroup{Group: g, Seen: seen})
		}
		if err := s.stores.HintSeen(ctx, user, list); err != nil {
			// Hints are derived; the next sync notices the lag again.
			s.opt.Log.DebugContext(ctx, "index hints not written", "error", err)
			return
		}
	}
}
