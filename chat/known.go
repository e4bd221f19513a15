package chat

import (
	"context"
	"sync"
	"time"
)

const (
	knownMax   = 50_000          // users in each of two generations: some megabytes
	knowWithin = time.Second     // how long a request waits for it at most
	knowPause  = 2 * time.Second // after a failure: a store that hangs holds up one request, not each
)

// KnownStore keeps the users whom the server has ever known: whoever signed a request, was made a member, or got an inbox
// item. The steps that write an index or an inbox put their user there themselves.
type KnownStore interface {
	// Know puts a user on the list.
	Know(ctx context.Context, user string) error
}

// known remembers whom this node has put on the list, so that only the first request of a user writes. It forgets those
// who were not seen for the longest: each generation that is full replaces the one before.
type known struct {
	mu         sync.Mutex
	young, old map[string]struct{}
	pause      time.Time // nobody is written before
}

// asks tells whether user has to be written.
func (k *known) asks(user string, now time.Time) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if _, ok := k.young[user]; ok {
		return false
	}
	if _, ok := k.old[user]; ok {
		k.keep(user)
		return false
	}
	return !now.Before(k.pause)
}

// wrote takes note of how the write went.
func (k *known) wrote(user string, err error, now time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if err != nil {
		k.pause = now.Add(knowPause)
		return
	}
	k.keep(user)
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

// Know notes that a user signed a request or a hello, so that announcements to everyone reach them. Only the first one on
// this node costs the store a step. A failure is no reason to refuse the request: the next one tries again.
func (s *Service) Know(ctx context.Context, user string) {
	if !s.known.asks(user, time.Now()) {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), knowWithin)
	defer cancel()
	err := s.stores.Know(ctx, user)
	s.known.wrote(user, err, time.Now())
	if err != nil {
		s.opt.Log.WarnContext(ctx, "a user was not noted", "error", err)
	}
}
