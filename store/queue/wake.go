package queue

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// wakes holds what the enqueuers have told: in which partitions there is something to do.
// Told twice is one reason to look, so it holds no more than one entry for each.
type wakes struct {
	mu      sync.Mutex
	ready   []bool
	sweepAt []time.Time   // when something is due; zero = nothing was told
	ch      chan struct{} // has an entry when something was told since it was last read
}

func (w *wakes) init(partitions int) {
	w.ready, w.sweepAt = make([]bool, partitions), make([]time.Time, partitions)
	w.ch = make(chan struct{}, 1)
}

// set notes that tasks of a partition are ready, or will be at a time (zero = never).
func (w *wakes) set(partition int, ready bool, sweepAt time.Time) {
	w.mu.Lock()
	w.ready[partition] = w.ready[partition] || ready
	w.sweepAt[partition] = sooner(w.sweepAt[partition], sweepAt)
	w.mu.Unlock()
	select {
	case w.ch <- struct{}{}:
	default:
	}
}

// take reads and clears what was told of a partition.
func (w *wakes) take(partition int) (ready bool, sweepAt time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	ready, sweepAt = w.ready[partition], w.sweepAt[partition]
	w.ready[partition], w.sweepAt[partition] = false, time.Time{}
	return ready, sweepAt
}

// sooner returns the earlier of two times, of which zero is none.
func sooner(a, b time.Time) time.Time {
	if a.IsZero() || (!b.IsZero() && b.Before(a)) {
		return b
	}
	return a
}

// dueIn reads the wake-up "delayed <ms>". The wait began when Redis wrote it, so counting
// it from now is late by the way here and never early. What cannot be read is due now.
func dueIn(payload string) time.Duration {
	ms, err := strconv.Atoi(strings.TrimPrefix(payload, "delayed "))
	if err != nil || ms < 0 {
		return 0
	}
	return time.Duration(ms) * time.Millisecond
}

// listen turns what is published into entries of wakes, until ctx ends. go-redis reconnects and
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
	defer func() { _ = sub.Close() }()
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
				s.wakes.set(partitions[event.Channel], true, time.Now())
			case *redis.Message:
				if event.Payload == "ready" {
					s.wakes.set(partitions[event.Channel], true, time.Time{})
				} else {
					s.wakes.set(partitions[event.Channel], false, time.Now().Add(dueIn(event.Payload)))
				}
			}
		}
	}
}
