package accounts

import (
	"context"
	"fmt"
	"net/netip"
	"sync"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/internal/cache"
)

// Bounds of guessing a password.
const (
	failuresMax    = 5
	failuresWithin = time.Minute
	throttlesMax   = 1 << 16 // accounts and addresses that each of two generations holds; CHATD_RATE_IP is far from filling them in a minute
)

// throttle slows down guesses: of one account from one address, so that nobody can lock out anybody else.
type throttle struct {
	now func() time.Time

	mu  sync.Mutex // guards the making of entries
	all *cache.Cache[guesser, *guesses]
}

type guesser struct {
	user string
	from netip.Prefix
}

// guesses are the newest wrong guesses. Its lock is held while one is being checked: guesses at the same time count, too.
type guesses struct {
	turn   chan struct{} // has room for the one that is being checked
	failed []time.Time   // within the last minute, the oldest first
}

func newThrottle(now func() time.Time) *throttle {
	return &throttle{now: now, all: cache.New[guesser, *guesses](throttlesMax)}
}

// guess runs check, which tells whether a password is right, unless too many were wrong lately: ErrRateLimited, with the time
// until the next is allowed. A right one makes up for those before.
func (t *throttle) guess(ctx context.Context, user string, from netip.Addr, check func() (bool, error)) (right bool, err error) {
	g := t.of(guesser{user, addressKey(from)})
	select {
	case g.turn <- struct{}{}:
		defer func() { <-g.turn }()
	case <-ctx.Done():
		return false, ctx.Err()
	}
	now := t.now()
	for len(g.failed) > 0 && now.Sub(g.failed[0]) >= failuresWithin {
		g.failed = g.failed[1:]
	}
	if len(g.failed) >= failuresMax {
		wait := failuresWithin - now.Sub(g.failed[0])
		return false, &chat.Error{Code: chat.CodeRateLimited, RetryAfter: wait,
			Message: fmt.Sprintf("%d wrong passwords within a minute; try again later", failuresMax)}
	}
	right, err = check()
	switch {
	case err != nil:
	case right:
		g.failed = nil
	default:
		g.failed = append(g.failed, now)
	}
	return right, err
}

func (t *throttle) of(who guesser) *guesses {
	t.mu.Lock()
	defer t.mu.Unlock()
	g, ok := t.all.Get(who)
	if !ok {
		g = &guesses{turn: make(chan struct{}, 1)}
		t.all.Put(who, g)
	}
	return g
}

// addressKey is what counts as one address: see limit.AddressKey.
func addressKey(from netip.Addr) netip.Prefix {
	from = from.Unmap().WithZone("")
	bits := 32
	if from.Is6() {
		bits = 64
	}
	key, _ := from.Prefix(bits)
	return key
}
