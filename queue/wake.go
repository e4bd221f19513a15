package queue

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// wakes collects the enqueuers' signals, which say where there is work. Two signals are one reason to look, so it holds
// at most one entry for each queue and partition.
type wakes struct {
	mu        sync.Mutex
	ready     [][]bool      // by partition and queue
	overdueAt []time.Time   // by partition, when something becomes due; zero = no signal
	ch        chan struct{} // has an entry when a signal has come since it was last read
}

func (w *wakes) init(partitions, queues int) {
	w.ready, w.overdueAt = make([][]bool, partitions), make([]time.Time, partitions)
	for p := range w.ready {
		w.ready[p] = make([]bool, queues)
	}
	w.ch = make(chan struct{}, 1)
}

// set notes that tasks of a queue are ready, or will be at the given time (zero = never).
func (w *wakes) set(partition, queue int, ready bool, overdueAt time.Time) {
	w.mu.Lock()
	w.ready[partition][queue] = w.ready[partition][queue] || ready
	w.overdueAt[partition] = sooner(w.overdueAt[partition], overdueAt)
	w.mu.Unlock()
	select {
	case w.ch <- struct{}{}:
	default:
	}
}

// take reads and clears the signals of a partition: it marks the ready queues, and returns when something becomes due.
func (w *wakes) take(partition int, ready []bool) (overdueAt time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for q, signalled := range w.ready[partition] {
		ready[q] = ready[q] || signalled
		w.ready[partition][q] = false
	}
	overdueAt = w.overdueAt[partition]
	w.overdueAt[partition] = time.Time{}
	return overdueAt
}

// sooner returns the earlier of two times; zero means none.
func sooner(a, b time.Time) time.Time {
	if a.IsZero() || (!b.IsZero() && b.Before(a)) {
		return b
	}
	return a
}

// dueInMax is longer than any time between two looks at a partition.
const dueInMax = time.Hour

// dueIn parses the wake-up "delayed <ms>". The wait began when Redis wrote it, so counting from now is late by the
// latency and never early. A payload that cannot be parsed is due now, and what is due later than dueInMax is seen before.
func dueIn(payload string) time.Duration {
	ms, err := strconv.Atoi(strings.TrimPrefix(payload, "delayed "))
	if err != nil || ms < 0 {
		return 0
	}
	return time.Duration(min(ms, int(dueInMax/time.Millisecond))) * time.Millisecond
}

// listen turns published messages into entries of wakes, until ctx ends. go-redis reconnects and subscribes again by
// itself; messages published meanwhile are lost, so a confirmed subscription counts as a wake-up.
func (s *Server) listen(ctx context.Context) {
	type shard struct {
		partition int
		queue     *serverQueue
	}
	shards := make(map[string]shard)
	channels := make([]string, 0, s.set.partitions*len(s.set.queues))
	for _, q := range s.set.queues {
		for p, k := range q.keys {
			shards[k.Wake()] = shard{p, q}
			channels = append(channels, k.Wake())
		}
	}
	sub := s.rdb.(subscriber).Subscribe(ctx, channels...) // NewClient has checked that it is one
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
				if at, ok := shards[event.Channel]; ok {
					s.wakes.set(at.partition, at.queue.index, true, time.Now())
				}
			case *redis.Message:
				if at, ok := shards[event.Channel]; ok {
					s.heard(at.queue, at.partition, event.Payload)
				}
			}
		}
	}
}

// heard handles one message: "ready", "delayed <ms>", or "cancel <id> <token>".
func (s *Server) heard(q *serverQueue, partition int, message string) {
	if message == "ready" {
		s.wakes.set(partition, q.index, true, time.Time{})
		return
	}
	if lease, ok := strings.CutPrefix(message, "cancel "); ok {
		id, token, _ := strings.Cut(lease, " ")
		s.lose(s.held.find(q, partition, id, token), ErrCancelled)
		return
	}
	s.wakes.set(partition, q.index, false, time.Now().Add(dueIn(message)))
}
