package main

import (
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
func priorities(b *bench) {
	low := scaled(10_000)
	b.table.section(fmt.Sprintf("%d low tasks under high ones at %.0f %% of capacity (%d workers, %v each)", low, 100*loadShare, loadWorkers, loadTakes))
	server := redistest.Start(b.tb)
	defer server.Kill()
	capacity := b.capacity(server.Addr, max(low, 2*loadWorkers))
	b.table.rate("capacity: high tasks alone, from a full queue", capacity, 0, "")

	e := b.ours(server.Addr, "load")
	defer e.close()
	e.putAll(b.ctx, low, queue.Task{Kind: "k", Priority: queue.Low})
	lows := newCounted(low)
	var highs atomic.Int64
	var mu sync.Mutex
	var waits []time.Duration
	defer e.run(loadWorkers, func(payload []byte) error {
		if len(payload) == 0 {
			_ = pause(b.ctx, loadTakes)
			lows.add(1)
			return nil
		}
		wait := sinceStamp(payload)
		mu.Lock()
		waits = append(waits, wait)
		mu.Unlock()
		_ = pause(b.ctx, loadTakes)
		highs.Add(1)
		return nil
	})()
	began := time.Now()
	offer(b, e, loadShare*capacity, lows.all)
	took := time.Since(began).Seconds()
	done := lows.n.Load() + highs.Load()
	b.table.rate("high tasks done meanwhile", float64(highs.Load())/took, capacity, "capacity")
	b.table.rate("low tasks done meanwhile", float64(lows.n.Load())/took, capacity, "capacity")
	b.table.count("share of the low ones among all that was done (their weight beside high ones: 0.20)", "%.2f", float64(lows.n.Load())/float64(done))
	mu.Lock()
	defer mu.Unlock()
	b.table.spread("wait of a high task, from its enqueue to its handler", waits)
}

// capacity is the rate at which a full queue of high tasks is emptied.
func (b *bench) capacity(addr string, n int) float64 {
	e := b.ours(addr, "capacity")
	defer e.close()
	e.putAll(b.ctx, n, queue.Task{Kind: "k", Priority: queue.High})
	done := newCounted(n)
	began := time.Now()
	defer e.run(loadWorkers, func([]byte) error {
		_ = pause(b.ctx, loadTakes)
		done.add(1)
		return nil
	})()
	done.wait(b.ctx)
	return float64(n) / time.Since(began).Seconds()
}

// offer enqueues high tasks at a steady rate, each with the time of its enqueue, until enough.
func offer(b *bench, e *ours, perSecond float64, enough <-chan struct{}) {
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	began, offered := time.Now(), 0
	for {
		select {
		case <-enough:
			return
		case <-b.ctx.Done():
			ok(b.ctx.Err())
		case <-tick.C:
		}
		due := int(time.Since(began).Seconds() * perSecond)
		if due == offered {
			continue
		}
		batch := make([]queue.Task, due-offered)
		now := stamp(time.Now())
		for i := range batch {
			batch[i] = queue.Task{Kind: "k", Priority: queue.High, Payload: now}
		}
		must(e.EnqueueAll(b.ctx, batch))
		offered = due
	}
}
