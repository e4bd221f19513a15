package store

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/chatd/chatd/chat/live"
	"github.com/chatd/chatd/internal/backoff"
)

var _ live.Store = (*Store)(nil)

// subscription is the one subscription of a node. Listen owns the connection and renews it; Follow and Unfollow change what
// is subscribed. go-redis reconnects silently, which would hide that signals were missed. So after any error the PubSub is
// replaced by a new one, and a confirmation that nobody asked for reveals a silent reconnect.
type subscription struct {
	store *Store

	mu   sync.Mutex
	ps   *redis.PubSub       // nil while disconnected
	want map[string]*channel // everything followed
	lost bool                // a connection was lost and SignalLost not delivered yet
}

// channel is one followed channel.
type channel struct {
	asked     int           // SUBSCRIBE commands on this connection that are not confirmed yet
	confirmed chan struct{} // closed once the server has confirmed; replaced when the connection is lost
}

func (c *channel) isConfirmed() bool {
	select {
	case <-c.confirmed:
		return true
	default:
		return false
	}
}

func newSubscription(s *Store) *subscription {
	return &subscription{store: s, want: map[string]*channel{}}
}

// Listen starts the node's subscription and delivers signals until ctx ends.
func (s *Store) Listen(ctx context.Context, deliver func(live.Signal)) error {
	return s.follows.listen(ctx, deliver)
}

func (f *subscription) listen(ctx context.Context, deliver func(live.Signal)) error {
	again := backoff.Backoff{Min: renewDelay, Max: renewDelays}
	for ctx.Err() == nil {
		ps, err := f.connect(ctx)
		if err == nil {
			again.Reset()
			err = f.receive(ctx, ps, deliver)
		}
		f.drop()
		if ctx.Err() != nil {
			break
		}
		deliver(live.Signal{Kind: live.SignalCut})
		f.store.log.Warn("subscription to Redis lost", "error", err)
		if f.awaitReturn(ctx) {
			again.Reset()
		}
		select {
		case <-ctx.Done():
		case <-time.After(again.Next()):
		}
	}
	return ctx.Err()
}

// awaitReturn waits while the server is known to be down, and reports whether it was.
func (f *subscription) awaitReturn(ctx context.Context) bool {
	if f.store.breaker == nil || f.store.breaker.state().Err() == nil {
		return false
	}
	select {
	case <-ctx.Done():
	case <-f.store.breaker.closed():
	}
	return true
}

// connect opens a connection and subscribes to everything that is followed.
func (f *subscription) connect(ctx context.Context) (*redis.PubSub, error) {
	ps := f.store.client.Subscribe(ctx)
	if err := ps.Ping(ctx); err != nil {
		_ = ps.Close()
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	names := make([]string, 0, len(f.want))
	for name, c := range f.want {
		c.asked = 1
		names = append(names, name)
	}
	f.ps = ps
	for chunk := range slices.Chunk(names, subscribeMax) {
		if err := ps.Subscribe(ctx, chunk...); err != nil {
			return nil, err
		}
	}
	return ps, nil
}

// drop discards the connection. Everything that is followed has to be confirmed again on the next one.
func (f *subscription) drop() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ps != nil {
		_ = f.ps.Close()
		f.ps = nil
	}
	f.lost = true
	for _, c := range f.want {
		c.asked = 0
		if c.isConfirmed() {
			c.confirmed = make(chan struct{})
		}
	}
}

var errSilent = errors.New("the server did not answer a ping")

// receive delivers what arrives on one connection until it fails. A ping every few seconds ensures that something arrives,
// so silence means a dead connection.
func (f *subscription) receive(ctx context.Context, ps *redis.PubSub, deliver func(live.Signal)) error {
	pings, stop := context.WithCancel(ctx)
	var pinging sync.WaitGroup
	pinging.Go(func() { f.ping(pings, ps) })
	defer pinging.Wait()
	defer stop()

	silence := silenceMax
	if f.store.embedded != nil {
		silence = 0 // no limit: within a process silence means a slow machine, not a dead peer
	}
	f.deliverLost(deliver)
	for ctx.Err() == nil {
		value, err := ps.ReceiveTimeout(ctx, silence)
		if err != nil {
			return errors.Join(errSilent, err)
		}
		switch v := value.(type) {
		case *redis.Message:
			if sig, ok := f.store.keys.decodeSignal(v.Channel, v.Payload); ok {
				deliver(sig)
			} else {
				f.store.log.Debug("ignored an unknown signal", "channel", v.Channel)
			}
		case *redis.Subscription:
			if v.Kind == "subscribe" {
				f.confirm(v.Channel)
				f.deliverLost(deliver)
			}
		}
	}
	return ctx.Err()
}

// ping writes a ping every pingEvery. If that fails or ctx ends, it closes the connection, which ends receive.
func (f *subscription) ping(ctx context.Context, ps *redis.PubSub) {
	tick := time.NewTicker(pingEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			_ = ps.Close()
			return
		case <-tick.C:
			if ps.Ping(ctx) != nil {
				_ = ps.Close()
				return
			}
		}
	}
}

// confirm notes that the server subscribed to a channel. A confirmation that nobody asked for comes from a connection that
// go-redis opened by itself: signals may have been missed.
func (f *subscription) confirm(name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := f.want[name]
	if c == nil {
		return
	}
	if c.asked > 0 {
		c.asked--
	} else {
		f.lost = true
	}
	if c.asked == 0 && !c.isConfirmed() {
		close(c.confirmed)
	}
}

// deliverLost delivers SignalLost once everything that is followed is confirmed again: readers that compare then miss nothing
// that comes after.
func (f *subscription) deliverLost(deliver func(live.Signal)) {
	f.mu.Lock()
	due := f.lost
	for _, c := range f.want {
		if !due {
			break
		}
		due = c.isConfirmed()
	}
	if due {
		f.lost = false
	}
	f.mu.Unlock()
	if due {
		deliver(live.Signal{Kind: live.SignalLost})
	}
}

// Follow subscribes to groups and users and waits until the store has confirmed all of them.
func (s *Store) Follow(ctx context.Context, groups, users []string) error {
	wait := s.follows.add(ctx, s.channels(groups, users))
	for _, c := range wait {
		select {
		case <-c:
		case <-ctx.Done():
			return unavailable("follow", ctx.Err())
		}
	}
	return nil
}

func (s *Store) channels(groups, users []string) []string {
	names := make([]string, 0, len(groups)+len(users))
	for _, g := range groups {
		names = append(names, s.keys.group(g).channel())
	}
	for _, u := range users {
		names = append(names, s.keys.user(u).channel())
	}
	return names
}

// add subscribes to names that are not followed yet and returns what to wait for. A write that fails closes the connection:
// Listen opens another one and subscribes there.
func (f *subscription) add(ctx context.Context, names []string) []chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	var fresh []string
	wait := make([]chan struct{}, 0, len(names))
	for _, name := range names {
		c := f.want[name]
		if c == nil {
			c = &channel{confirmed: make(chan struct{})}
			f.want[name] = c
			fresh = append(fresh, name)
			if f.ps != nil {
				c.asked = 1
			}
		}
		wait = append(wait, c.confirmed)
	}
	for chunk := range slices.Chunk(fresh, subscribeMax) {
		if f.ps == nil {
			break
		}
		if err := f.ps.Subscribe(context.WithoutCancel(ctx), chunk...); err != nil {
			_ = f.ps.Close()
			break
		}
	}
	return wait
}

// Unfollow drops subscriptions.
func (s *Store) Unfollow(groups, users []string) {
	f := s.follows
	f.mu.Lock()
	defer f.mu.Unlock()
	var gone []string
	for _, name := range s.channels(groups, users) {
		if c := f.want[name]; c != nil {
			if !c.isConfirmed() {
				close(c.confirmed) // nobody must wait for what is no longer followed
			}
			delete(f.want, name)
			gone = append(gone, name)
		}
	}
	for chunk := range slices.Chunk(gone, subscribeMax) {
		if f.ps == nil {
			return
		}
		if err := f.ps.Unsubscribe(context.Background(), chunk...); err != nil {
			_ = f.ps.Close()
			return
		}
	}
}
