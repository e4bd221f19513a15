package client

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/chatd/chatd/client/internal/clock"
)

const (
	ackJoin   = 300 * time.Millisecond // what is handled within this time is acked together
	ackAgain  = 2 * time.Second        // after a refusal that may pass
	acksAtOne = 20                     // on their way in one session: a first one may bring a thousand groups
)

// acks are what the caller has handled and the server does not know of yet, by group.
type acks struct {
	mu      sync.Mutex
	waiting map[string]Position
	saved   map[string]Position // positions of an earlier run, whose last acks may be lost
	due     chan struct{}       // there are some
}

func newAcks(saved map[string]Position) acks {
	return acks{waiting: map[string]Position{}, saved: saved, due: make(chan struct{}, 1)}
}

func (a *acks) add(group string, at Position) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.waiting[group] = at
	signal(a.due)
}

// welcomed adds the saved positions of groups in which the server lacks an ack.
func (a *acks) welcomed(groups map[string]GroupPosition) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for group, at := range a.saved {
		if g, ok := groups[group]; ok && g.Seen < g.Last && a.waiting[group] == "" {
			a.waiting[group] = at
		}
	}
	a.saved = nil
	if len(a.waiting) > 0 {
		signal(a.due)
	}
}

func (a *acks) take() map[string]Position {
	a.mu.Lock()
	defer a.mu.Unlock()
	taken := a.waiting
	a.waiting = map[string]Position{}
	return taken
}

// restore puts back what was not done, unless a later one has come.
func (a *acks) restore(taken map[string]Position) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for group, at := range taken {
		if a.waiting[group] == "" {
			a.waiting[group] = at
		}
	}
}

// sendAcks sends the acks of one session until ctx ends.
func (s *Stream) sendAcks(ctx context.Context, sock *socket) {
	for clock.Wait(ctx, s.acks.due) == nil && clock.Sleep(ctx, ackJoin) == nil {
		taken := s.acks.take()
		var again time.Duration
		for some := range slices.Chunk(slices.Sorted(maps.Keys(taken)), acksAtOne) {
			answers := make([]error, len(some))
			var all sync.WaitGroup
			for i, group := range some {
				all.Go(func() { _, answers[i] = sock.call(ctx, ackOf(group, taken[group]), s.room) })
			}
			all.Wait()
			for i, group := range some {
				wait, passes := retryable(answers[i], true)
				switch code := CodeOf(answers[i]); {
				case passes || ctx.Err() != nil || errors.Is(answers[i], errLost):
					s.acks.restore(map[string]Position{group: taken[group]})
					again = max(again, wait, ackAgain)
				case code == CodeConflict || code == CodeOutOfRange:
					s.Restart() // the log lost its end: the next session says so
				}
			}
		}
		if again > 0 && clock.Sleep(ctx, again) == nil {
			signal(s.acks.due)
		}
	}
}

// ackOf is the request of an ack.
func ackOf(group string, at Position) request {
	r := request{Op: "ack", Group: group, Cursor: at}
	if at.isID() {
		r.ID, r.Cursor = at.id(), ""
	}
	return r
}
