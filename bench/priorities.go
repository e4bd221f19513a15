package main

import (
	"encoding/binary"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/chatd/chatd/internal/redistest"
	"github.com/chatd/chatd/queue"
)

const (
	loadWorkers = 16
	loadTakes   = 4 * time.Millisecond // of each handler
	loadShare   = 0.8                  // of the capacity, offered as high tasks
)

// priorities queues many low tasks under a steady load of high ones: the low ones get what is left over and at least
// their weight, and the high ones hardly wait.
func priorities(b *bench) error {
	low := scaled(10_000)
	b.table.section(fmt.Sprintf("%d low tasks under high ones at %.0f %% of capacity (%d workers, %v each)", low, 100*loadShare, loadWorkers, loadTakes))
	server := redistest.Start(b.tb)
	defer server.Kill()
	capacity, err := b.capacity(server.Addr, max(low, 2*loadWorkers))
	if err != nil {
		return err
	}
	b.table.rate("capacity: high tasks alone, from a full queue", capacity, 0, "")

	e, err := b.ours(server.Addr, "load")
	if err != nil {
		return err
	}
	defer func() { _ = e.close() }()
	if err := e.(*ours).putAll(b.ctx, low, queue.Task{Kind: "k", Priority: queue.Low}); err != nil {
		return err
	}
	var lows, highs atomic.Int64
	var mu sync.Mutex
	var waits []time.Duration
	allLow := make(chan struct{})
	stop, err := e.run(loadWorkers, func(payload []byte) error {
		if len(payload) == 0 {
			_ = pause(b.ctx, loadTakes)
			if lows.Add(1) == int64(low) {
				close(allLow)
			}
			return nil
		}
		wait := time.Since(time.Unix(0, int64(binary.BigEndian.Uint64(payload))))
		mu.Lock()
		waits = append(waits, wait)
		mu.Unlock()
		_ = pause(b.ctx, loadTakes)
		highs.Add(1)
		return nil
	})
	if err != nil {
		return err
	}
	defer stop()
	began := time.Now()
	if err := offer(b, e.(*ours), loadShare*capacity, allLow); err != nil {
		return err
	}
	took := time.Since(began).Seconds()
	done := lows.Load() + highs.Load()
	b.table.rate("high tasks done meanwhile", float64(highs.Load())/took, capacity, "capacity")
	b.table.rate("low tasks done meanwhile", float64(lows.Load())/took, capacity, "capacity")
	b.table.count("share of the low ones among all that was done (their weight beside high ones: 0.20)", "%.2f", float64(lows.Load())/float64(done))
	mu.Lock()
	defer mu.Unlock()
	b.table.spread("wait of a high task, from its enqueue to its handler", waits)
	return nil
}

// capacity is the rate at which a full queue of high tasks is emptied.
func (b *bench) capacity(addr string, n int) (float64, error) {
	e, err := b.ours(addr, "capacity")
	if err != nil {
		return 0, err
	}
	defer func() { _ = e.close() }()
	if err := e.(*ours).putAll(b.ctx, n, queue.Task{Kind: "k", Priority: queue.High}); err != nil {
		return 0, err
	}
	var done atomic.Int64
	all := make(chan struct{})
	began := time.Now()
	stop, err := e.run(loadWorkers, func([]byte) error {
		_ = pause(b.ctx, loadTakes)
		if done.Add(1) == int64(n) {
			close(all)
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	defer stop()
	select {
	case <-all:
		return float64(n) / time.Since(began).Seconds(), nil
	case <-b.ctx.Done():
		return 0, b.ctx.Err()
	}
}

// offer enqueues high tasks at a steady rate, each with the time of its enqueue, until enough.
func offer(b *bench, e *ours, perSecond float64, enough <-chan struct{}) error {
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	began, offered := time.Now(), 0
	for {
		select {
		case <-enough:
			return nil
		case <-b.ctx.Done():
			return b.ctx.Err()
		case <-tick.C:
		}
		due := int(time.Since(began).Seconds() * perSecond)
		if due == offered {
			continue
		}
		batch := make([]queue.Task, due-offered)
		stamp := binary.BigEndian.AppendUint64(nil, uint64(time.Now().UnixNano()))
		for i := range batch {
			batch[i] = queue.Task{Kind: "k", Priority: queue.High, Payload: stamp}
		}
		if _, err := e.EnqueueAll(b.ctx, batch); err != nil {
			return err
		}
		offered = due
	}
}
