package queue

import (
	"context"
	"sync"

	"github.com/redis/go-redis/v9"
)

// wakes holds what the enqueuers have told: in which partitions there is something to do.
// A flag that is set twice is one reason to look, so it holds no more than P of them.
type wakes struct {
	mu      sync.Mutex
	ready   []bool
	delayed []bool
	ch      chan struct{} // has an entry when a flag was set since they were last read
}

func (w *wakes) init(partitions int) {
	w.ready, w.delayed = make([]bool, partitions), make([]bool, partitions)
	w.ch = make(chan struct{}, 1)
}

func (w *wakes) set(partition int, ready, delayed bool) {
	w.mu.Lock()
	w.ready[partition] = w.ready[partition] || ready
	w.delayed[partition] = w.delayed[partition] || delayed
	w.mu.Unlock()
	select {
	case w.ch <- struct{}{}:
	default:
	}
}

// take reads and clears the flags of a partition.
func (w *wakes) take(partition int) (ready, delayed bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	ready, delayed = w.ready[partition], w.delayed[partition]
	w.ready[partition], w.delayed[partition] = false, false
	return ready, delayed
}

// listen turns what is published into flags, until ctx ends. go-redis reconnects and
// subscribes again by itself; what was published meanwhile is lost, so a confirmed
// subscription counts as a wake-up.
func (s *Server) listen(ctx context.Context) {
	partitions := make(map[string]int, len(s.keys))
	channels := make([]string, len(s.keys))
	for p, k := range s.keys {
		partitions[k.Wake()] = p
		channels[p] = k.Wake()
	}
	sub := s.rdb.Subscribe(ctx, channels...)
	defer sub.Close()
	events := sub.ChannelWithSubscriptions()
	for {
		select {
		case <-ctx.Done():
			return
		case event, ok := <-events:
			if !ok {
				return
			}
			switch event := event.(type) {
			case *redis.Subscription:
				s.wakes.set(partitions[event.Channel], true, true)
			case *redis.Message:
				ready := event.Payload == "ready"
				s.wakes.set(partitions[event.Channel], ready, !ready)
			}
		}
	}
}
