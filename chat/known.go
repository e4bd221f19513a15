package chat

import (
	"context"
	"sync"
	"time"

	"github.com/chatd/chatd/internal/cache"
)

const (
	knownMax    = 50_000          // users in each of two generations, and waiting to be written: some megabytes each
	knownPause  = 2 * time.Second // after a failure
	knownAtLast = 2 * time.Second // for the last write, when the node stops
)

// KnownStore lists all users that the server has ever known: those who authenticated, became a member, or got an inbox item.
// The steps that write an index or an inbox add their user themselves.
type KnownStore interface {
	// Know puts a user on the list.
	Know(ctx context.Context, user string) error
}

// known remembers which users this node has put on the list, and collects those who are not on it yet: no request waits for
// a write, and only a user's first request causes one. It forgets the users who were not seen for the longest time.
type known struct {
	written *cache.Cache[string, struct{}]
	wake    chan struct{} // capacity 1: a user is waiting to be written

	mu      sync.Mutex
	waiting map[string]struct{} // to be written; at most knownMax, others are noted with their next request

	writing sync.Mutex // held while waiting users are written, so that flush can wait for a running write
}

func newKnown() *known {
	return &known{written: cache.New[string, struct{}](knownMax), wake: make(chan struct{}, 1), waiting: map[string]struct{}{}}
}

// note remembers user, and queues a write if this node has not made one yet.
func (k *known) note(user string) {
	if _, ok := k.written.Get(user); ok {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.waiting) >= knownMax {
		return
	}
	k.waiting[user] = struct{}{}
	k.signal()
}

// again wakes the writer after a pause.
func (k *known) again(after time.Duration) {
	time.AfterFunc(after, k.signal)
}

func (k *known) signal() {
	select {
	case k.wake <- struct{}{}:
	default:
	}
}

// flush writes everyone who was noted before it was called. Users whose write fails keep waiting.
func (k *known) flush(ctx context.Context, write func(ctx context.Context, user string) error) error {
	k.writing.Lock()
	defer k.writing.Unlock()
	k.mu.Lock()
	users := make([]string, 0, len(k.waiting))
	for user := range k.waiting {
		users = append(users, user)
	}
	k.mu.Unlock()
	return Each(ctx, users, func(ctx context.Context, user string) error {
		if err := write(ctx, user); err != nil {
			return err
		}
		k.written.Put(user, struct{}{})
		k.mu.Lock()
		defer k.mu.Unlock()
		delete(k.waiting, user)
		return nil
	})
}

// Know notes that a user authenticated, so that announcements to everyone reach them. It does not wait for the store: Run
// writes it shortly after, and keeps trying if the store does not answer.
func (s *Service) Know(user string) { s.known.note(user) }

// FlushKnown returns once everyone noted by Know on this node is on the store's list.
func (s *Service) FlushKnown(ctx context.Context) error {
	return AsError(s.known.flush(ctx, s.stores.Know))
}

// runKnown writes noted users until ctx ends, and one last time then. It does nothing while idle.
func (s *Service) runKnown(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), knownAtLast)
			defer cancel()
			if err := s.FlushKnown(last); err != nil {
				s.opt.Log.WarnContext(last, "users who were seen for the first time were not noted", "error", err)
			}
			return
		case <-s.known.wake:
		}
		if s.FlushKnown(ctx) != nil {
			s.known.again(knownPause)
		}
	}
}
