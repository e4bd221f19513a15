package conn

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// subscriptions are those of a chatd node in a Redis Cluster: one to each master, with the channels of its partitions. When a slot
// moves to another master, the channels of its partition move too. Signals published meanwhile are lost; EventLost says so once
// the channels are subscribed again.
type subscriptions struct {
	of      *Deployment
	cluster *cluster

	running sync.WaitGroup // the listen loops of lines

	mu    sync.Mutex
	homes map[string]string // tag of a partition -> address of its master, if known
	lines map[string]*line  // by address of the master; "" holds channels whose master is not known yet
}

var _ follower = (*subscriptions)(nil)

// line is the subscription to one master, while it runs.
type line struct {
	*subscription
	stop context.CancelFunc
}

func newSubscriptions(d *Deployment, c *cluster) *subscriptions {
	f := &subscriptions{of: d, cluster: c, homes: map[string]string{}}
	f.lines = map[string]*line{"": {subscription: f.subscription("")}}
	return f
}

// subscription makes the one to a master; that of address "" never listens.
func (f *subscriptions) subscription(addr string) *subscription {
	one := newSubscription(f.of, func(ctx context.Context) *redis.PubSub { return f.cluster.client(addr).SSubscribe(ctx) })
	one.cluster, one.node = f.cluster, addr
	return one
}

// tagOf returns the tag of a channel: the part in braces.
func tagOf(name string) string {
	_, rest, _ := strings.Cut(name, "{")
	tag, _, _ := strings.Cut(rest, "}")
	return tag
}

func (f *subscriptions) listen(ctx context.Context, deliver func(Event)) error {
	var one sync.Mutex
	inTurn := func(e Event) {
		one.Lock()
		defer one.Unlock()
		deliver(e)
	}
	tick := time.NewTicker(topologyTick)
	defer tick.Stop()
	defer f.end()
	for {
		f.route(ctx, inTurn)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

// route subscribes each channel at the master of its slot, if that is known. Besides end, only route changes homes.
func (f *subscriptions) route(ctx context.Context, deliver func(Event)) {
	moves, cut := f.moves(ctx)
	if len(moves) == 0 {
		return
	}
	if cut {
		deliver(Event{Kind: EventCut})
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for tag, home := range moves {
		if f.lines[home] == nil {
			f.lines[home] = f.begin(ctx, home, deliver)
		}
		f.move(ctx, tag, home)
	}
	for addr, l := range f.lines {
		if addr != "" && !slices.Contains(slices.Collect(maps.Values(f.homes)), addr) {
			l.stop()
			delete(f.lines, addr)
		}
	}
}

// moves returns the new masters of partitions that are followed elsewhere or not yet, by tag, and whether any of them was followed
// at a master before.
func (f *subscriptions) moves(ctx context.Context) (moves map[string]string, cut bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	moves = map[string]string{}
	for _, slot := range f.of.slots {
		tag := tagOf(slot)
		master, err := f.cluster.redis.MasterForKey(ctx, slot)
		if err != nil || master.Options().Addr == f.homes[tag] {
			continue
		}
		moves[tag] = master.Options().Addr
		cut = cut || f.homes[tag] != ""
	}
	return moves, cut
}

// move moves the channels of a partition to another line.
func (f *subscriptions) move(ctx context.Context, tag, home string) {
	channels, lost := f.lines[f.homes[tag]].take(tag)
	f.lines[home].give(ctx, channels, lost)
	f.homes[tag] = home
}

// begin opens a line to a master, without any channels yet.
func (f *subscriptions) begin(ctx context.Context, addr string, deliver func(Event)) *line {
	l := &line{subscription: f.subscription(addr)}
	ctx, l.stop = context.WithCancel(ctx)
	f.running.Go(func() { _ = l.listen(ctx, deliver) })
	return l
}

// end stops all lines, and keeps their channels for the next listen.
func (f *subscriptions) end() {
	f.mu.Lock()
	for tag := range f.homes {
		f.move(context.Background(), tag, "")
	}
	clear(f.homes)
	for addr, l := range f.lines {
		if addr != "" {
			l.stop()
			delete(f.lines, addr)
		}
	}
	f.mu.Unlock()
	f.running.Wait()
}

func (f *subscriptions) add(ctx context.Context, names []string) (wait []chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for addr, some := range f.byLine(names) {
		wait = append(wait, f.lines[addr].add(ctx, some)...)
	}
	return wait
}

func (f *subscriptions) remove(names []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for addr, some := range f.byLine(names) {
		f.lines[addr].remove(some)
	}
}

func (f *subscriptions) byLine(names []string) map[string][]string {
	lines := map[string][]string{}
	for _, name := range names {
		addr := f.homes[tagOf(name)]
		lines[addr] = append(lines[addr], name)
	}
	return lines
}

// take stops following the channels of a partition on this connection, and returns them for another one. lost means that signals
// on them may have been lost.
func (f *subscription) take(tag string) (channels map[string]*channel, lost bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	channels = map[string]*channel{}
	var names []string
	for name, c := range f.want {
		if tagOf(name) != tag {
			continue
		}
		channels[name], names = c, append(names, name)
		delete(f.want, name)
		if c.asked = 0; c.isConfirmed() {
			c.confirmed, lost = make(chan struct{}), true
		}
	}
	if f.ps != nil && f.unsubscribe(f.ps, names) != nil {
		_ = f.ps.Close()
	}
	return channels, len(channels) > 0 && (lost || f.lost)
}

// give follows channels that take removed from another connection.
func (f *subscription) give(ctx context.Context, channels map[string]*channel, lost bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lost = f.lost || lost
	names := make([]string, 0, len(channels))
	for name, c := range channels {
		f.want[name], names = c, append(names, name)
		if f.ps != nil {
			c.asked = 1
		}
	}
	if f.ps != nil && f.subscribe(ctx, f.ps, names) != nil {
		_ = f.ps.Close()
	}
}
