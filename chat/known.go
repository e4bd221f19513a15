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

// KnownStore keeps the users whom the server has ever known: whoever signed a request, was made a member, or got an inbox
// item. The steps that write an index or an inbox put their user there themselves.
type KnownStore interface {
	// Know puts a user on the list.
	Know(ctx context.Context, user string) error
}

// known remembers whom this node has put on the list, and collects those who are not on it yet, so that no request waits
// for a write and only the first one of a user causes one. It forgets those who were not seen for the longest.
type known struct {
	written *cache.Cache[string, struct{}]
	wake    chan struct{} // capacity 1: somebody is waiting

	mu      sync.Mutex
	waiting map[string]struct{} // to be written; at most knownMax, whoever is over that is noted with the next request

	writing sync.Mutex // held while waiting users are written, so that flush can wait for a write that runs
}

func newKnown() *known {
	return &known{written: cache.New[string, struct{}](knownMax), wake: make(chan struct{}, 1), waiting: map[string]struct{}{}}
}

// note remembers user, and queues a write where this node has not made one.
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

// flush writes everyone who was noted before it was called. Users whose write fails go on waiting.
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

// Know notes that a user signed a request or a hello, so that announcements to everyone reach them. It does not wait for
// the store: Run writes it within moments, and goes on trying where the store does not answer.
func (s *Service) Know(user string) { s.known.note(user) }

// FlushKnown returns when everyone noted by Know on this node is on the list of the store.
func (s *Service) FlushKnown(ctx context.Context) error {
	return AsError(s.known.flush(ctx, s.stores.Know))
}

// runKnown writes those who were noted until ctx ends, and once more then. An idle node does nothing here.
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
