package chat

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/chatd/chatd/internal/cache"
	"github.com/chatd/chatd/internal/later"
)

// knownMax is how many users each of two generations holds, and how many wait to be written: some megabytes each.
const knownMax = 50_000

// known remembers which users this node has put on the store's list of all that it has ever known, and collects those who are not on
// it yet: no request waits for a write, and only a user's first request causes one. It forgets the users who were not seen for
// the longest time.
type known struct {
	store   IndexStore
	written *cache.Cache[string, struct{}]
	later   later.Writer

	mu      sync.Mutex
	waiting map[string]struct{} // to be written; at most knownMax, others are noted with their next request

	writing sync.Mutex // held while waiting users are written, so that FlushKnown can wait for a running write
}

func newKnown(store IndexStore) *known {
	k := &known{store: store, written: cache.New[string, struct{}](knownMax), waiting: map[string]struct{}{}}
	k.later = later.New(0, k.FlushKnown) // whoever comes while it writes goes along with the next one
	return k
}

// Know notes that a user authenticated, so that announcements to everyone reach them. It does not wait for the store: Run
// writes it shortly after, and keeps trying if the store does not answer.
func (k *known) Know(user string) {
	if _, ok := k.written.Get(user); ok {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.waiting) >= knownMax {
		return
	}
	k.waiting[user] = struct{}{}
	k.later.Signal()
}

// FlushKnown returns once everyone noted by Know on this node is on the store's list. Users whose write fails keep waiting.
func (k *known) FlushKnown(ctx context.Context) error {
	k.writing.Lock()
	defer k.writing.Unlock()
	k.mu.Lock()
	users := slices.Collect(maps.Keys(k.waiting))
	k.mu.Unlock()
	if len(users) == 0 {
		return nil
	}
	written, err := k.store.KnowAll(ctx, users)
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, user := range written {
		k.written.Put(user, struct{}{})
		delete(k.waiting, user)
	}
	return AsError(err)
}
