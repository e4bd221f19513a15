package chat

import (
	"context"
	"sync"
	"time"
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
// for a write and only the first one of a user causes one. It forgets those who were not seen for the longest: each
// generation that is full replaces the one before.
type known struct {
	mu         sync.Mutex
	young, old map[string]struct{}
	waiting    map[string]struct{} // to be written; at most knownMax, whoever is over that is noted with the next request
	wake       chan struct{}       // capacity 1: somebody is waiting

	writing sync.Mutex // held while waiting users are written, so that flush can wait for a write that runs
}

func newKnown() *known { return &known{wake: make(chan struct{}, 1)} }

// note remembers user, and queues a write where this node has not made one.
func (k *known) note(user string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if _, ok := k.young[user]; ok {
		return
	}
	if _, ok := k.old[user]; ok {
		k.keep(user)
		return
	}
	if len(k.waiting) >= knownMax {
		return
	}
	if k.waiting == nil {
		k.waiting = map[string]struct{}{}
	}
	k.waiting[user] = struct{}{}
	k.signal()
}

// keep puts user into the young generation. The lock is held.
func (k *known) keep(user string) {
	if len(k.young) >= knownMax {
		k.old, k.young = k.young, nil
	}
	if k.young == nil {
		k.young = map[string]struct{}{}
	}
	k.young[user] = struct{}{}
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
		k.mu.Lock()
		defer k.mu.Unlock()
		delete(k.waiting, user)
		k.keep(user)
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
