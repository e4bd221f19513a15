package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/chatd/chatd/internal/redistest"
)

const taskWorkers = 50 // handlers at once, of either engine

// workload is what tasks are like while two engines are compared.
type workload struct {
	name       string
	bytes      int           // per payload
	takes      time.Duration // how long a handler runs
	failing    int           // one of so many tasks fails at its first run; 0: none
	live       bool          // 16 callers enqueue while the workers run; otherwise all tasks are enqueued before
	partitions int           // of chatd
	tasks      int           // of asynq, and oursMore times as many of chatd: a rate is measured over some time
}

const oursMore = 5

var workloads = []workload{
	{name: "40 bytes, no-op handler", bytes: 40, partitions: 1, tasks: 20_000},
	{name: "40 bytes, no-op handler (chatd in 16 partitions)", bytes: 40, partitions: 16, tasks: 20_000},
	{name: "1 KB, no-op handler", bytes: 1024, partitions: 1, tasks: 20_000},
	{name: "a handler of 1 ms", bytes: 40, takes: time.Millisecond, partitions: 1, tasks: 20_000},
	{name: "one of ten fails", bytes: 40, failing: 10, partitions: 1, tasks: 20_000},
	{name: "16 callers enqueue at the same time", bytes: 40, live: true, partitions: 1, tasks: 20_000},
	{name: "16 callers enqueue at the same time (chatd in 16 partitions)", bytes: 40, live: true, partitions: 16, tasks: 20_000},
}

var (
	peerServers = []int{1, 4, 8} // of asynq, with taskWorkers in all: its best counts
	taskRounds  = 3              // fewer in a small run, and of peerServers as well: asynq takes a second to stop
	errOnce     = errors.New("this task fails once")
)

// tasks measures the task engine beside asynq: the same server, payload, number of workers and of connections, in turns.
func tasks(b *bench) error {
	b.table.section(fmt.Sprintf("tasks through %d workers, beside asynq on the same server; the lowest and the highest of %d rounds", taskWorkers, scaled(taskRounds)))
	server := redistest.Start(b.tb)
	defer server.Kill()
	for _, w := range workloads {
		if err := compared(b, server, w); err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
	}
	for _, part := range []func(*bench, *redistest.Server) error{enqueueing, waitingAlone, lateness} {
		if err := part(b, server); err != nil {
			return err
		}
		server.Do("FLUSHALL")
	}
	return nil
}

// pair makes both engines on queues of a name. The caller closes them.
func (b *bench) pair(addr, name string) (a, p engine, err error) {
	a, err = b.ours(addr, name)
	return a, newPeer(addr, name, 1), err
}

// compared runs a workload on each engine in turn, several rounds, and compares chatd with the best result of asynq.
func compared(b *bench, server *redistest.Server, w workload) error {
	var rates, peers, ratios []float64
	for round := range scaled(taskRounds) {
		best := 0.0
		for _, servers := range peerServers[:min(len(peerServers), scaled(len(peerServers)))] {
			rate, err := worked(b, newPeer(server.Addr, fmt.Sprintf("%d-%d", round, servers), servers), w)
			if err != nil {
				return err
			}
			best = max(best, rate)
			server.Do("FLUSHALL")
		}
		e, err := partitioned(b, server.Addr, fmt.Sprint(round), w.partitions)
		if err != nil {
			return err
		}
		more := w
		more.tasks *= oursMore
		rate, err := worked(b, e, more)
		if err != nil {
			return err
		}
		server.Do("FLUSHALL")
		rates, peers, ratios = append(rates, rate), append(peers, best), append(ratios, rate/best)
	}
	b.table.count("asynq, the best of 1, 4 and 8 servers: "+w.name, "%s/s", spanned("%.0f", peers))
	b.table.add(row{"chatd: the same", spanned("%.0f", rates) + "/s", spanned("%.1f", ratios), "asynq"})
	return nil
}

// spanned writes the lowest and the highest of values.
func spanned(format string, values []float64) string {
	low, high := fmt.Sprintf(format, slices.Min(values)), fmt.Sprintf(format, slices.Max(values))
	if low == high {
		return low
	}
	return low + " to " + high
}

// worked returns the rate per second at which an engine completes the tasks of a workload, those that fail aside. It closes the
// engine.
func worked(b *bench, e engine, w workload) (float64, error) {
	defer func() { _ = e.close() }()
	n, payload := scaled(w.tasks), bytes.Repeat([]byte("x"), w.bytes)
	put := func() error {
		_, err := parallel(n, 16, func(int) error { return e.enqueue(b.ctx, payload) })
		return err
	}
	if !w.live {
		if err := e.fill(b.ctx, n, payload); err != nil {
			return 0, err
		}
	}
	var handled, failed atomic.Int64
	all := make(chan struct{})
	began := time.Now()
	stop, err := e.run(taskWorkers, func([]byte) error {
		time.Sleep(w.takes)
		i := handled.Add(1)
		if i == int64(n) {
			close(all)
		}
		if w.failing > 0 && i%int64(w.failing) == 0 && i <= int64(n) {
			failed.Add(1)
			return errOnce
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	defer stop()
	if w.live {
		if err := put(); err != nil {
			return 0, err
		}
	}
	select {
	case <-all:
	case <-b.ctx.Done():
		return 0, b.ctx.Err()
	}
	for {
		done, err := e.done(b.ctx)
		if err != nil || done+failed.Load() >= int64(n) {
			return float64(n) / time.Since(began).Seconds(), err
		}
	}
}

// enqueueing compares single enqueues from many callers.
func enqueueing(b *bench, server *redistest.Server) error {
	for _, shape := range []struct{ callers, partitions int }{{16, 1}, {16, 16}, {64, 1}} {
		name := fmt.Sprintf("enqueue%d", shape.callers)
		a, err := partitioned(b, server.Addr, name, shape.partitions)
		if err != nil {
			return err
		}
		p := newPeer(server.Addr, name, 1)
		var rates, peers, ratios []float64
		for range scaled(taskRounds) {
			var pair [2]float64
			for i, one := range []engine{p, a} {
				pair[i], err = parallel(scaled(50_000), shape.callers, func(int) error { return one.enqueue(b.ctx, []byte(taskPayload)) })
				if err != nil {
					return err
				}
			}
			peers, rates, ratios = append(peers, pair[0]), append(rates, pair[1]), append(ratios, pair[1]/pair[0])
		}
		b.table.count(fmt.Sprintf("asynq: tasks enqueued one by one, %d callers", shape.callers), "%s/s", spanned("%.0f", peers))
		b.table.add(row{fmt.Sprintf("chatd: the same, P = %d", shape.partitions), spanned("%.0f", rates) + "/s", spanned("%.2f", ratios), "asynq; target 1"})
		if err := closeAll(a, p); err != nil {
			return err
		}
		server.Do("FLUSHALL")
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
func waitingAlone(b *bench, server *redistest.Server) error {
	a, p, err := b.pair(server.Addr, "alone")
	if err != nil {
		return err
	}
	var costs []float64
	for _, one := range []struct {
		engine
		name  string
		n     int
		pause time.Duration // the longest between two tasks
	}{{p, "asynq", scaled(30), time.Second}, {a, "chatd", scaled(1000), 20 * time.Millisecond}} {
		begun := make(chan struct{})
		stop, err := one.run(taskWorkers, func([]byte) error { begun <- struct{}{}; return nil })
		if err != nil {
			return err
		}
		waits := make([]time.Duration, 0, one.n)
		server.Do("CONFIG", "RESETSTAT")
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
		costs = append(costs, serverTimeOf(server, &names{})/float64(one.n))
		b.table.spread(one.name+": wait of a single task in an idle queue", waits)
		b.table.count(one.name+": redis-server time in scripts per task", "%.0f us", costs[len(costs)-1])
	}
	b.table.compare(costs[1]/costs[0], "asynq; target 1")
	b.table.count("target", "p99 of chatd at most 3 ms")
	return closeAll(a, p)
}

// lateness measures how long after its time a delayed task begins; both clocks are those of this machine.
func lateness(b *bench, server *redistest.Server) error {
	a, p, err := b.pair(server.Addr, "late")
	if err == nil {
		err = latenessOf(b, "asynq", p)
	}
	if err == nil {
		err = latenessOf(b, "chatd", a)
	}
	if err != nil {
		return err
	}
	return closeAll(a, p)
}

// latenessOf measures it for one engine.
func latenessOf(b *bench, name string, one engine) error {
	n, from, over := scaled(2000), shorter(time.Second), shorter(5*time.Second)
	var mu sync.Mutex
	late := make([]time.Duration, 0, n)
	all := make(chan struct{})
	stop, err := one.run(taskWorkers, func(payload []byte) error {
		by := time.Since(time.Unix(0, int64(binary.BigEndian.Uint64(payload))))
		mu.Lock()
		defer mu.Unlock()
		if late = append(late, by); len(late) == n {
			close(all)
		}
		return nil
	})
	if err != nil {
		return err
	}
	defer stop()
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
	early := 0
	for _, by := range late {
		if by < 0 {
			early++
		}
	}
	b.table.spread(fmt.Sprintf("%s: lateness of %d tasks delayed by %v to %v (early: %d)", name, n, from, from+over, early), late)
	return nil
}
