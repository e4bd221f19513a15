package chat

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/chatd/chatd/internal/later"
)

// Bounds of the waiting hints: losing one costs the next pull a few more bytes, never a message.
const (
	hintsMax   = 10_000 // pairs of user and group on a node
	hintsDelay = time.Second
)

// hints collects how far users' indexes lag behind their cursors, and writes that down periodically.
type hints struct {
	store IndexStore
	log   *slog.Logger
	later later.Writer

	mu    sync.Mutex
	seen  map[string]map[string]int64 // user -> group -> seen
	pairs int
}

func newHints(store IndexStore, log *slog.Logger) *hints {
	h := &hints{store: store, log: log, seen: map[string]map[string]int64{}}
	h.later = later.New(hintsDelay, h.flush)
	return h
}

// NoteSeen notes that user has seen group up to id, so that the index learns it soon.
func (h *hints) NoteSeen(user, group string, id int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	groups := h.seen[user]
	old, known := groups[group]
	switch {
	case known && old >= id:
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
	groups[group] = id
	h.later.Signal()
}

func (h *hints) take() map[string]map[string]int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	taken := h.seen
	h.seen, h.pairs = map[string]map[string]int64{}, 0
	return taken
}

// flush writes the hints. Those that cannot be written are lost: they are derived, and the next sync notices the lag again.
func (h *hints) flush(ctx context.Context) error {
	for user, groups := range h.take() {
		list := make([]UserGroup, 0, len(groups))
		for g, seen := range groups {
			list = append(list, UserGroup{Group: g, Seen: seen})
		}
		if err := h.store.HintSeen(ctx, user, list); err != nil {
			h.log.DebugContext(ctx, "index hints not written", "error", err)
			return nil
		}
	}
	return nil
}
