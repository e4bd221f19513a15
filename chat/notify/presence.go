package notify

import (
	"context"
	"crypto/rand"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/chatd/chatd/chat/presence"
)

// A node that has sessions sends a heartbeat, which costs one step per partition however many sessions there are. After the
// node dies, its sessions count as live for presenceKept at most.
const (
	heartbeatEvery = 5 * time.Second
	reportEvery    = 100 * time.Millisecond // at most, however many sessions come and go
	presenceKept   = 13 * time.Second       // two heartbeats may be lost
	farewellTime   = 2 * time.Second        // for reporting that all sessions have ended when the node stops
)

// sessions holds who has a live session on this node. One loop reports changes to the store, so that they arrive in order.
type sessions struct {
	node string
	wake chan struct{}

	mu      sync.Mutex
	live    map[string]bool // users with a session here
	changed map[string]bool // users whose change the store does not have yet
	away    map[string]bool // of live: those who say that nothing is open
	moved   map[string]bool // users whose state the store does not have yet
}

func newSessions() *sessions {
	return &sessions{node: rand.Text(), wake: make(chan struct{}, 1), live: map[string]bool{}, changed: map[string]bool{}, away: map[string]bool{}, moved: map[string]bool{}}
}

// SessionsBegan says that a user has the first live session on this node. It never waits.
func (s *Service) SessionsBegan(user string) { s.presence.set(user, true) }

// SessionsEnded says that a user's last session on this node is over. It never waits.
func (s *Service) SessionsEnded(user string) { s.presence.set(user, false) }

// SetAway says whether all sessions of a user on this node say that nothing is open. It never waits.
func (s *Service) SetAway(user string, away bool) { s.presence.setAway(user, away) }

func (p *sessions) setAway(user string, away bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.away[user] == away {
		return
	}
	if away {
		p.away[user] = true
	} else {
		delete(p.away, user)
	}
	p.moved[user] = true
	p.wakeUp()
}

func (p *sessions) wakeUp() {
	select {
	case p.wake <- struct{}{}:
	default: // the loop has not run yet: it will see this too
	}
}

// takeMoved returns whose state changed, by state, and forgets it.
func (p *sessions) takeMoved() map[presence.State][]string {
	p.mu.Lock()
	defer p.mu.Unlock()
	moved := map[presence.State][]string{}
	for user := range p.moved {
		switch {
		case !p.live[user]:
		case p.away[user]:
			moved[presence.Away] = append(moved[presence.Away], user)
		default:
			moved[presence.Online] = append(moved[presence.Online], user)
		}
	}
	clear(p.moved)
	return moved
}

func (p *sessions) set(user string, live bool) {
	p.mu.Lock()
	if live {
		p.live[user] = true
	} else {
		delete(p.live, user)
		delete(p.away, user)
	}
	p.changed[user] = true
	p.mu.Unlock()
	p.wakeUp()
}

// take returns the changes to report, and clears them.
func (p *sessions) take() (arrived, departed []string) {
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
func (p *sessions) putBack(users []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, user := range users {
		p.changed[user] = true
	}
}

// putMovedBack keeps whose state could not be reported.
func (p *sessions) putMovedBack(users []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, user := range users {
		p.moved[user] = true
	}
}

func (p *sessions) users() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Collect(maps.Keys(p.live))
}

// runPresence reports changes of presence to the store, at once where none was reported just before, and sends heartbeats, until ctx
// ends. A node without sessions sends none.
func (s *Service) runPresence(ctx context.Context) {
	ticks := time.NewTicker(heartbeatEvery)
	defer ticks.Stop()
	for {
		select {
		case <-ctx.Done():
			s.farewell(ctx)
			return
		case <-s.presence.wake:
			s.reportPresence(ctx)
			select {
			case <-ctx.Done():
			case <-time.After(reportEvery):
			}
		case <-ticks.C:
			s.reportPresence(ctx)
			s.heartbeat(ctx)
		}
	}
}

// heartbeat renews what the store has of this node, if there is anything.
func (s *Service) heartbeat(ctx context.Context) {
	users := s.presence.users()
	var groups []string
	if s.opened != nil {
		groups = s.opened.Opened()
	}
	if len(users)+len(groups) == 0 {
		return
	}
	alive, err := s.store.Heartbeat(ctx, s.presence.node, users, groups, presenceKept)
	if err != nil {
		s.opt.Log.WarnContext(ctx, "presence heartbeat failed; it will be retried", "error", err)
		return
	}
	if len(groups) > 0 {
		s.opened.Alive(groups, alive)
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
	for state, users := range s.presence.takeMoved() {
		if err := s.store.SetState(ctx, s.presence.node, state, users); err != nil {
			s.opt.Log.WarnContext(ctx, "who is away could not be stored; it will be retried", "error", err)
			s.presence.putMovedBack(users)
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
