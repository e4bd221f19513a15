package main

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/chatd/chatd/internal/redistest"
)

const taskWorkers = 50 // handlers at once, of either engine

// tasks measures the task engine beside asynq with its defaults: the same server, payload, number of hands and of
// connections, handlers that do nothing, in turns.
func tasks(b *bench) error {
	b.table.section("tasks, beside asynq with its defaults on the same server")
	server := redistest.Start(b.tb)
	defer server.Kill()
	for _, part := range []func(*bench, string) error{processing, enqueueing, waitingAlone, lateness} {
		if err := part(b, server.Addr); err != nil {
			return err
		}
		server.Do("FLUSHALL")
	}
	return nil
}

// pair makes both engines on queues of a name. Whoever gets them closes them.
func (b *bench) pair(addr, name string) (a, p engine, err error) {
	a, err = b.ours(addr, name)
	return a, newPeer(addr, name), err
}

// processing has a full queue emptied by no-op handlers, three times by each engine in turn: the median of each.
func processing(b *bench, addr string) error {
	var rates, peers []float64
	for round := range 3 {
		a, p, err := b.pair(addr, fmt.Sprintf("process%d", round))
		if err != nil {
			return err
		}
		rate, err := b.emptied(a, scaled(300_000))
		if err != nil {
			return err
		}
		other, err := b.emptied(p, scaled(60_000))
		if err != nil {
			return err
		}
		rates, peers = append(rates, rate), append(peers, other)
	}
	slices.Sort(rates)
	slices.Sort(peers)
	b.table.rate("asynq: tasks processed, 50 workers, no-op handler", peers[1], 0, "")
	b.table.rate("chatd: the same", rates[1], peers[1], "asynq; target 12")
	return nil
}

// emptied fills a queue and returns at what rate its tasks are completed. It closes the engine.
func (b *bench) emptied(e engine, n int) (float64, error) {
	defer func() { _ = e.close() }()
	if err := e.fill(b.ctx, n); err != nil {
		return 0, err
	}
	var handled atomic.Int64
	all := make(chan struct{})
	began := time.Now()
	stop, err := e.run(taskWorkers, func([]byte) {
		if handled.Add(1) == int64(n) {
			close(all)
		}
	})
	if err != nil {
		return 0, err
	}
	defer stop()
	select {
	case <-all:
	case <-b.ctx.Done():
		return 0, b.ctx.Err()
	}
	for {
		done, err := e.done(b.ctx)
		if err != nil || done >= int64(n) {
			return float64(n) / time.Since(began).Seconds(), err
		}
	}
}

// enqueueing compares single enqueues from many callers.
func enqueueing(b *bench, addr string) error {
	for _, callers := range []int{16, 64} {
		a, p, err := b.pair(addr, fmt.Sprintf("enqueue%d", callers))
		if err != nil {
			return err
		}
		var rates, peers []float64
		for range 3 {
			for _, one := range []struct {
				engine
				rates *[]float64
			}{{p, &peers}, {a, &rates}} {
				rate, err := parallel(scaled(50_000), callers, func(int) error { return one.enqueue(b.ctx, []byte(taskPayload)) })
				if err != nil {
					return err
				}
				*one.rates = append(*one.rates, rate)
			}
		}
		slices.Sort(rates)
		slices.Sort(peers)
		b.table.rate(fmt.Sprintf("asynq: tasks enqueued one by one, %d callers", callers), peers[1], 0, "")
		b.table.rate("chatd: the same", rates[1], peers[1], "asynq; target 1")
		if err := closeAll(a, p); err != nil {
			return err
		}
	}
	return nil
}

func closeAll(engines ...engine) error {
	for _, e := range engines {
		if err := e.close(); err != nil {
			return err
		}
	}
	return nil
}

// waitingAlone measures how long single tasks wait in a queue that has been idle for some time, from the call that
// enqueues one to its handler.
func waitingAlone(b *bench, addr string) error {
	a, p, err := b.pair(addr, "alone")
	if err != nil {
		return err
	}
	for _, one := range []struct {
		engine
		name  string
		n     int
		pause time.Duration // the longest between two tasks
	}{{p, "asynq", scaled(30), time.Second}, {a, "chatd", scaled(1000), 20 * time.Millisecond}} {
		begun := make(chan struct{})
		stop, err := one.run(taskWorkers, func([]byte) { begun <- struct{}{} })
		if err != nil {
			return err
		}
		waits := make([]time.Duration, 0, one.n)
		for range one.n {
			if err := pause(b.ctx, rand.N(one.pause)); err != nil {
				return err
			}
			began := time.Now()
			if err := one.enqueue(b.ctx, []byte(taskPayload)); err != nil {
				return err
			}
			select {
			case <-begun:
			case <-b.ctx.Done():
				return b.ctx.Err()
			}
			waits = append(waits, time.Since(began))
		}
		stop()
		b.table.spread(one.name+": wait of a single task in an idle queue", waits)
	}
	b.table.count("target", "p99 of chatd at most 3 ms")
	return closeAll(a, p)
}

// lateness measures how long after its time a delayed task begins; both clocks are those of this machine.
func lateness(b *bench, addr string) error {
	a, p, err := b.pair(addr, "late")
	if err != nil {
		return err
	}
	n, from, over := scaled(2000), shorter(time.Second), shorter(5*time.Second)
	for _, one := range []struct {
		engine
		name string
	}{{p, "asynq"}, {a, "chatd"}} {
		var mu sync.Mutex
		late := make([]time.Duration, 0, n)
		all := make(chan struct{})
		stop, err := one.run(taskWorkers, func(payload []byte) {
			by := time.Since(time.Unix(0, int64(binary.BigEndian.Uint64(payload))))
			mu.Lock()
			defer mu.Unlock()
			if late = append(late, by); len(late) == n {
				close(all)
			}
		})
		if err != nil {
			return err
		}
		for range n {
			due := time.Now().Add(from + rand.N(over))
			if err := one.enqueueAt(b.ctx, due, binary.BigEndian.AppendUint64(nil, uint64(due.UnixNano()))); err != nil {
				return err
			}
		}
		select {
		case <-all:
		case <-b.ctx.Done():
			return b.ctx.Err()
		}
		stop()
		early := 0
		for _, by := range late {
			if by < 0 {
				early++
			}
		}
		b.table.spread(fmt.Sprintf("%s: lateness of %d tasks delayed by %v to %v (early: %d)", one.name, n, from, from+over, early), late)
	}
	return closeAll(a, p)
}
