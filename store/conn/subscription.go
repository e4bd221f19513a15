package conn

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/chatd/chatd/queue/backoff"
)

// EventKind says what a node learns from its subscriptions.
type EventKind int

// The kinds of events.
const (
	EventMessage EventKind = iota // a message on a channel that is followed
	EventCut                      // a connection was lost: messages may be missed from now on
	EventLost                     // everything that is followed is confirmed again; messages may have been missed before
)

// Event is what Listen delivers.
type Event struct {
	Kind             EventKind
	Channel, Payload string // of a message
}

// follower holds the subscriptions of a node.
type follower interface {
	// listen delivers events, one at a time, until ctx ends.
	listen(ctx context.Context, deliver func(Event)) error
	// add follows channels that are not followed yet and returns what to wait for.
	add(ctx context.Context, names []string) []chan struct{}
	// remove stops following channels.
	remove(names []string)
}

// subscription is the one subscription of a node, or in a cluster the one to a master. listen owns the connection and renews
// it; add and remove change what is subscribed. go-redis reconnects silently, which would hide that signals were missed. So
// after any error the PubSub is replaced by a new one, and a confirmation that nobody asked for reveals a silent reconnect.
type subscription struct {
	of   *Deployment
	open func(ctx context.Context) *redis.PubSub // a connection, without subscribing to anything

	cluster *cluster // nil without one
	node    string   // address of the master in it

	mu      sync.Mutex
	ps      *redis.PubSub       // nil while disconnected
	want    map[string]*channel // everything followed
	leaving map[string]int      // SUNSUBSCRIBE commands on this connection that are not confirmed yet
	lost    bool                // a connection was lost and EventLost not delivered yet
	fences  fences
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

func newSubscription(d *Deployment, open func(context.Context) *redis.PubSub) *subscription {
	return &subscription{of: d, open: open, want: map[string]*channel{}, leaving: map[string]int{}}
}

// Listen starts the node's subscriptions and delivers what arrives there, one event at a time, until ctx ends.
func (d *Deployment) Listen(ctx context.Context, deliver func(Event)) error {
	return d.follows.listen(ctx, deliver)
}

func (f *subscription) listen(ctx context.Context, deliver func(Event)) error {
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
		deliver(Event{Kind: EventCut})
		f.of.log.Warn("subscription to Redis lost", "error", err)
		if f.cluster != nil {
			f.cluster.redis.ReloadState(ctx)
		}
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
	b := f.of.breaker
	if f.cluster != nil {
		b = f.cluster.node(f.node).breaker
	}
	if b == nil || b.state().Err() == nil {
		return false
	}
	select {
	case <-ctx.Done():
	case <-b.closed():
	}
	return true
}

// subscribe subscribes to channels, in a cluster with a command for each slot.
func (f *subscription) subscribe(ctx context.Context, ps *redis.PubSub, names []string) error {
	return f.ask(names, func(some []string) error {
		if f.cluster == nil {
			return ps.Subscribe(ctx, some...)
		}
		return ps.SSubscribe(ctx, some...)
	})
}

// unsubscribe drops channels.
func (f *subscription) unsubscribe(ps *redis.PubSub, names []string) error {
	return f.ask(names, func(some []string) error {
		if f.cluster == nil {
			return ps.Unsubscribe(context.Background(), some...)
		}
		for _, name := range some {
			f.leaving[name]++
		}
		return ps.SUnsubscribe(context.Background(), some...)
	})
}

func (f *subscription) ask(names []string, command func(some []string) error) error {
	bySlot := map[string][]string{"": names}
	if f.cluster != nil {
		bySlot = map[string][]string{}
		for _, name := range names {
			bySlot[tagOf(name)] = append(bySlot[tagOf(name)], name)
		}
	}
	for _, names := range bySlot {
		for chunk := range slices.Chunk(names, subscribeMax) {
			if err := command(chunk); err != nil {
				return err
			}
		}
	}
	return nil
}

// connect opens a connection and subscribes to everything that is followed.
func (f *subscription) connect(ctx context.Context) (*redis.PubSub, error) {
	ps := f.open(ctx)
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
	if f.cluster == nil && f.of.embedded == nil && len(f.of.slots) > 0 {
		names = append(names, f.fences.begin(f.of.slots[0]))
	}
	return ps, f.subscribe(ctx, ps, names)
}

// drop discards the connection. Everything that is followed has to be confirmed again on the next one.
func (f *subscription) drop() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ps != nil {
		_ = f.ps.Close()
		f.ps = nil
	}
	f.lost, f.fences = true, fences{}
	clear(f.leaving)
	for _, c := range f.want {
		c.asked = 0
		if c.isConfirmed() {
			c.confirmed = make(chan struct{})
		}
	}
}

// errMoved ends a subscription to a master that no longer serves one of its slots.
var errMoved = errors.New("the server ended a subscription: its slot has moved")

var errSilent = errors.New("the server did not answer a ping")

// receive delivers what arrives on one connection until it fails. A ping every few seconds ensures that something arrives,
// so silence means a dead connection.
func (f *subscription) receive(ctx context.Context, ps *redis.PubSub, deliver func(Event)) error {
	pings, stop := context.WithCancel(ctx)
	var pinging sync.WaitGroup
	pinging.Go(func() { f.ping(pings, ps) })
	defer pinging.Wait()
	defer stop()

	silence := silenceMax
	if f.of.embedded != nil {
		silence = 0 // no limit: within a process silence means a slow machine, not a dead peer
	}
	f.deliverLost(deliver)
	for ctx.Err() == nil {
		value, err := ps.ReceiveTimeout(ctx, silence)
		if Refused(err) {
			return err
		}
		if err != nil {
			return errors.Join(errSilent, err)
		}
		switch v := value.(type) {
		case *redis.Message:
			if f.pass(v) {
				continue
			}
			deliver(Event{EventMessage, v.Channel, v.Payload})
		case *redis.Subscription:
			switch v.Kind {
			case "subscribe", "ssubscribe":
				f.confirm(v.Channel)
				f.deliverLost(deliver)
			case "sunsubscribe":
				if f.ended(v.Channel) {
					return errMoved
				}
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
	if f.confirmFence(name) || c == nil {
		return
	}
	if c.asked > 0 {
		c.asked--
	} else {
		f.lost, f.fences = true, fences{}
	}
	if c.asked == 0 && !c.isConfirmed() {
		close(c.confirmed)
	}
}

// ended notes that the server ended a subscription to a sharded channel, and reports whether it did so unasked.
func (f *subscription) ended(name string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.leaving[name] == 0 {
		return f.want[name] != nil
	}
	if f.leaving[name]--; f.leaving[name] == 0 {
		delete(f.leaving, name)
	}
	return false
}

// deliverLost delivers EventLost once everything that is followed is confirmed again: readers that compare then miss nothing
// that comes after.
func (f *subscription) deliverLost(deliver func(Event)) {
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
		deliver(Event{Kind: EventLost})
	}
}

// Follow subscribes to channels, and waits until the servers have confirmed all of them or ctx ends. Calls at the same time share a
// command, except in a cluster: there, a master that hangs would delay those for the others.
func (d *Deployment) Follow(ctx context.Context, channels []string) error {
	if d.IsCluster() {
		return confirmed(ctx, d.follows.add(ctx, channels))
	}
	// The end of ctx must not leave a call behind that follows the channels later, when nobody wants them any more.
	wait, err := d.joined.Ask(context.WithoutCancel(ctx), channels)
	if err != nil {
		return err
	}
	return confirmed(ctx, wait)
}

// followTogether follows the channels of many calls, and returns what each of them waits for.
func followTogether(ctx context.Context, all follower, calls [][]string) ([][]chan struct{}, error) {
	wait := all.add(ctx, slices.Concat(calls...))
	each := make([][]chan struct{}, len(calls))
	for i, channels := range calls {
		each[i], wait = wait[:len(channels)], wait[len(channels):]
	}
	return each, nil
}

func confirmed(ctx context.Context, wait []chan struct{}) error {
	for _, c := range wait {
		select {
		case <-c:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
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
	if f.ps != nil && f.subscribe(context.WithoutCancel(ctx), f.ps, fresh) != nil {
		_ = f.ps.Close()
	}
	return wait
}

// Unfollow drops subscriptions.
func (d *Deployment) Unfollow(channels []string) { d.follows.remove(channels) }

func (f *subscription) remove(names []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var gone []string
	for _, name := range names {
		if c := f.want[name]; c != nil {
			if !c.isConfirmed() {
				close(c.confirmed) // nobody may wait for what is no longer followed
			}
			delete(f.want, name)
			gone = append(gone, name)
		}
	}
	if f.ps != nil && f.unsubscribe(f.ps, gone) != nil {
		_ = f.ps.Close()
	}
}
