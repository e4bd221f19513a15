package live

import (
	"context"
	"slices"
	"sync"
)

// watch waits for anything new for one user: the time of a long poll between two pulls.
type watch struct {
	hub       *hub
	pending   *pending
	interests []*interest
	once      sync.Once
}

// watch subscribes to user and groups and returns once the store has confirmed it: what is appended after that wakes the
// watch. The caller pulls once afterwards, then waits on C and pulls again. Close it when done.
func (h *hub) watch(ctx context.Context, user string, groups []string) (*watch, error) {
	return h.watchWith(ctx, newPending(user, true), groups)
}

// watchCursors is watch for one group, which every move of a member's cursor wakes, too.
func (h *hub) watchCursors(ctx context.Context, user, group string) (*watch, error) {
	p := newPending(user, true)
	p.every = true
	return h.watchWith(ctx, p, []string{group})
}

func (h *hub) watchWith(ctx context.Context, p *pending, groups []string) (*watch, error) {
	w := &watch{hub: h, pending: p}
	var err error
	if w.interests, err = h.subscribe(ctx, p, groups, func() *interest { return &interest{} }); err != nil {
		w.Close()
		return nil, err
	}
	return w, nil
}

// C receives when there may be something new: a message in one of the groups, an inbox item, a group joined or left. Spurious
// wake-ups are possible.
func (w *watch) C() <-chan struct{} { return w.pending.c }

// grown takes those of mine, which are sorted, that have grown since it was called last; none: anything may be new. Call it
// after C has received: what comes later lets C receive again.
func (w *watch) grown(mine []string) []string {
	groups, all := w.pending.takeGrown()
	if all {
		return nil
	}
	slices.Sort(groups)
	return slices.DeleteFunc(groups, func(g string) bool { // the user may have left it: only the index says whether to read it
		_, in := slices.BinarySearch(mine, g)
		return !in
	})
}

// Close ends the watch. It may be called more than once.
func (w *watch) Close() {
	w.once.Do(func() {
		for _, in := range w.interests {
			in.feed.remove(in)
		}
		w.hub.leave(w.pending)
	})
}
