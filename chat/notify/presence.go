package notify

import (
	"context"
	"crypto/rand"
	"maps"
	"slices"
	"sync"
	"time"
)

// A node vouches for the sessions that it has. When it dies, they count as live for vouchFor at most; while it lives, it
// says so every heartbeat, which costs one step a partition however many sessions there are.
const (
	heartbeat    = 5 * time.Second
	presenceKept = 15 * time.Second // two heartbeats may be lost
	farewellTime = 2 * time.Second  // to say that all sessions are over, when the node stops
)

// presence is who has a live session on this node. One loop tells the store, so that it hears of what happened to a user
// in the order in which it happened.
type presence struct {
	node string
	wake chan struct{}

	mu      sync.Mutex
	live    map[string]bool // users with a session here
	changed map[string]bool // users of whom the store has to be told
}

func newPresence() *presence {
	return &presence{node: rand.Text(), wake: make(chan struct{}, 1), live: map[string]bool{}, changed: map[string]bool{}}
}

// SessionsBegan says that a user has the first live session on this node. It never waits.
func (s *Service) SessionsBegan(user string) { s.presence.set(user, true) }

// SessionsEnded says that a user's last session on this node is over. It never waits.
func (s *Service) SessionsEnded(user string) { s.presence.set(user, false) }

func (p *presence) set(user string, live bool) {
	p.mu.Lock()
	if live {
		p.live[user] = true
	} else {
		delete(p.live, user)
	}
	p.changed[user] = true
	p.mu.Unlock()
	select {
	case p.wake <- struct{}{}:
	default: // the loop has not looked yet: it will see this too
	}
}

// take gives what the store has to be told, and forgets it.
func (p *presence) take() (arrived, departed []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for user := range p.changed {
		if p.live[user] {
			arrived = append(arrived, user)
		} else {
			departed = append(departed, user)
		}
	}
	clear(p.changed)
	return arrived, departed
}

// putBack remembers what could not be told.
func (p *presence) putBack(users []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, user := range users {
		p.changed[user] = true
	}
}

func (p *presence) users() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Collect(maps.Keys(p.live))
}

// runPresence tells the store who is live here, at once when that changes, and that the node lives, until ctx ends. A
// node without sessions says nothing.
func (s *Service) runPresence(ctx context.Context) {
	ticks := time.NewTicker(heartbeat)
	defer ticks.Stop()
	for {
		select {
		case <-ctx.Done():
			s.farewell(ctx)
			return
		case <-s.presence.wake:
			s.tellPresence(ctx)
		case <-ticks.C:
			s.tellPresence(ctx)
			if users := s.presence.users(); len(users) > 0 {
				if err := s.store.Vouch(ctx, s.presence.node, users, presenceKept); err != nil {
					s.opt.Log.WarnContext(ctx, "the store was not told that this node lives; it will be", "error", err)
				}
			}
		}
	}
}

// tellPresence tells the store what changed. What cannot be told now is told with the next heartbeat.
func (s *Service) tellPresence(ctx context.Context) {
	arrived, departed := s.presence.take()
	for _, told := range []struct {
		users []string
		err   error
	}{
		{departed, s.depart(ctx, departed)},
		{arrived, s.arrive(ctx, arrived)},
	} {
		if told.err != nil && ctx.Err() == nil {
			s.opt.Log.WarnContext(ctx, "the store was not told who is live; it will be", "error", told.err)
		}
		if told.err != nil {
			s.presence.putBack(told.users)
		}
	}
}

func (s *Service) arrive(ctx context.Context, users []string) error {
	if len(users) == 0 {
		return nil
	}
	return s.store.Arrive(ctx, s.presence.node, users, presenceKept)
}

func (s *Service) depart(ctx context.Context, users []string) error {
	if len(users) == 0 {
		return nil
	}
	return s.store.Depart(ctx, s.presence.node, users)
}

// farewell takes back what the node vouched for. If it fails, that ends by itself after vouchFor.
func (s *Service) farewell(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), farewellTime)
	defer cancel()
	_, departed := s.presence.take()
	users := append(departed, s.presence.users()...)
	if err := s.depart(ctx, users); err != nil {
		s.opt.Log.WarnContext(ctx, "the store was not told that the sessions are over; it finds out", "error", err)
	}
}
