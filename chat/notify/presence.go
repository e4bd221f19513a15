package notify

import (
	"context"
	"crypto/rand"
	"maps"
	"slices"
	"sync"
	"time"
)

// A node that has sessions sends a heartbeat, which costs one step per partition however many sessions there are. After the
// node dies, its sessions count as live for presenceKept at most.
const (
	heartbeat    = 5 * time.Second
	presenceKept = 15 * time.Second // two heartbeats may be lost
	farewellTime = 2 * time.Second  // for reporting that all sessions have ended when the node stops
)

// presence holds who has a live session on this node. One loop reports changes to the store, so that they arrive in order.
type presence struct {
	node string
	wake chan struct{}

	mu      sync.Mutex
	live    map[string]bool // users with a session here
	changed map[string]bool // users whose change the store does not have yet
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
	default: // the loop has not run yet: it will see this too
	}
}

// take returns the changes to report, and clears them.
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

// putBack keeps changes that could not be reported.
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

// runPresence reports changes of presence to the store at once, and sends heartbeats, until ctx ends. A node without
// sessions sends none.
func (s *Service) runPresence(ctx context.Context) {
	ticks := time.NewTicker(heartbeat)
	defer ticks.Stop()
	for {
		select {
		case <-ctx.Done():
			s.farewell(ctx)
			return
		case <-s.presence.wake:
			s.reportPresence(ctx)
		case <-ticks.C:
			s.reportPresence(ctx)
			if users := s.presence.users(); len(users) > 0 {
				if err := s.store.Heartbeat(ctx, s.presence.node, users, presenceKept); err != nil {
					s.opt.Log.WarnContext(ctx, "presence heartbeat failed; it will be retried", "error", err)
				}
			}
		}
	}
}

// reportPresence reports what changed. What fails is reported again with the next heartbeat.
func (s *Service) reportPresence(ctx context.Context) {
	arrived, departed := s.presence.take()
	for _, change := range []struct {
		users []string
		err   error
	}{
		{departed, s.depart(ctx, departed)},
		{arrived, s.arrive(ctx, arrived)},
	} {
		if change.err != nil && ctx.Err() == nil {
			s.opt.Log.WarnContext(ctx, "presence could not be stored; it will be retried", "error", change.err)
		}
		if change.err != nil {
			s.presence.putBack(change.users)
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

// farewell removes the sessions of this node from the store. If it fails, they expire after presenceKept.
func (s *Service) farewell(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), farewellTime)
	defer cancel()
	_, departed := s.presence.take()
	users := append(departed, s.presence.users()...)
	if err := s.depart(ctx, users); err != nil {
		s.opt.Log.WarnContext(ctx, "the end of the sessions could not be stored; they will expire", "error", err)
	}
}
