package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
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
func tasks(b *bench) {
	b.table.section(fmt.Sprintf("tasks through %d workers, beside asynq on the same server; the lowest and the highest of %d rounds", taskWorkers, scaled(taskRounds)))
	server := redistest.Start(b.tb)
	defer server.Kill()
	for _, w := range workloads {
		versus(b, server, rated{"asynq, the best of 1, 4 and 8 servers: " + w.name, func(name string) float64 {
			return best(server, peerServers, func(servers int) float64 {
				return worked(b, newPeer(server.Addr, fmt.Sprint(name, "-", servers), servers), w)
			})
		}}, "%.1f", "asynq", rated{"chatd: the same", func(name string) float64 { return workedByUs(b, server, name, w) }})
	}
	enqueueing(b, server)
	waitingAlone(b, server)
	latenessOf(b, "asynq", newPeer(server.Addr, "late", 1))
	latenessOf(b, "chatd", b.ours(server.Addr, "late"))
}

// rated is what is compared: the name of its row, and what it does in a second. The server is empty; name is another one in each round.
type rated struct {
	row  string
	rate func(name string) float64
}

// versus measures a peer and chatd in turns, several rounds, and adds a row of each. format is of the ratio.
func versus(b *bench, server *redistest.Server, peer rated, format, against string, ours ...rated) {
	var peers []float64
	rates, ratios := make([][]float64, len(ours)), make([][]float64, len(ours))
	for round := range scaled(taskRounds) {
		most := peer.rate(fmt.Sprint(round))
		server.Do("FLUSHALL")
		peers = append(peers, most)
		for i, r := range ours {
			rate := r.rate(fmt.Sprint(round))
			server.Do("FLUSHALL")
			rates[i], ratios[i] = append(rates[i], rate), append(ratios[i], rate/most)
		}
	}
	b.table.count(peer.row, "%s/s", spanned("%.0f", peers))
	for i, r := range ours {
		b.table.add(row{r.row, spanned("%.0f", rates[i]) + "/s", spanned(format, ratios[i]), against})
	}
}

// best is the highest rate that a peer reaches with these numbers of servers, or with some of them in a small run.
func best(server *redistest.Server, numbers []int, rate func(n int) float64) (most float64) {
	for _, n := range numbers[:min(len(numbers), scaled(len(numbers)))] {
		most = max(most, rate(n))
		server.Do("FLUSHALL")
	}
	return most
}

// workedByUs is worked for chatd, which gets more tasks.
func workedByUs(b *bench, server *redistest.Server, name string, w workload) float64 {
	w.tasks *= oursMore
	return worked(b, partitioned(b, server.Addr, name, w.partitions), w)
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
func worked(b *bench, e engine, w workload) float64 {
	defer e.close()
	n, payload := scaled(w.tasks), bytes.Repeat([]byte("x"), w.bytes)
	if !w.live {
		e.fill(b.ctx, n, payload)
	}
	handled := newCounted(n)
	var failed atomic.Int64
	began := time.Now()
	defer e.run(taskWorkers, func([]byte) error {
		time.Sleep(w.takes)
		if i := handled.add(1); w.failing > 0 && i%int64(w.failing) == 0 && i <= int64(n) {
			failed.Add(1)
			return errOnce
		}
		return nil
	})()
	if w.live {
		parallel(n, 16, func(int) error { return e.enqueue(b.ctx, payload) })
	}
	handled.wait(b.ctx)
	for e.done(b.ctx)+failed.Load() < int64(n) {
	}
	return float64(n) / time.Since(began).Seconds()
}

// enqueueing compares single enqueues from many callers.
func enqueueing(b *bench, server *redistest.Server) {
	for _, shape := range []struct{ callers, partitions int }{{16, 1}, {16, 16}, {64, 1}} {
		rate := func(e engine) float64 {
			defer e.close()
			return parallel(scaled(50_000), shape.callers, func(int) error { return e.enqueue(b.ctx, []byte(taskPayload)) })
		}
		versus(b, server, rated{
			fmt.Sprintf("asynq: tasks enqueued one by one, %d callers", shape.callers),
			func(name string) float64 { return rate(newPeer(server.Addr, name, 1)) },
		}, "%.2f", "asynq; target 1", rated{
			fmt.Sprintf("chatd: the same, P = %d", shape.partitions),
			func(name string) float64 { return rate(partitioned(b, server.Addr, name, shape.partitions)) },
		})
	}
}

// alone starts an engine. Each call of one enqueues a task and waits until it begins.
func alone(b *bench, e engine) (one func() error, stop func()) {
	begun := make(chan struct{})
	stop = e.run(taskWorkers, func([]byte) error { begun <- struct{}{}; return nil })
	return func() error {
		if err := e.enqueue(b.ctx, []byte(taskPayload)); err != nil {
			return err
		}
		select {
		case <-begun:
			return nil
		case <-b.ctx.Done():
			return b.ctx.Err()
		}
	}, stop
}

// waitingAlone measures how long single tasks wait in a queue that has been idle for some time, from the call that
// enqueues one to its handler.
func waitingAlone(b *bench, server *redistest.Server) {
	defer server.Do("FLUSHALL")
	var costs []float64
	for _, e := range []struct {
		engine
		name  string
		n     int
		pause time.Duration // the longest between two tasks
	}{
		{newPeer(server.Addr, "alone", 1), "asynq", scaled(30), time.Second},
		{b.ours(server.Addr, "alone"), "chatd", scaled(1000), 20 * time.Millisecond},
	} {
		one, stop := alone(b, e.engine)
		waits := make([]time.Duration, 0, e.n)
		server.Do("CONFIG", "RESETSTAT")
		for range e.n {
			ok(pause(b.ctx, rand.N(e.pause)))
			began := time.Now()
			ok(one())
			waits = append(waits, time.Since(began))
		}
		stop()
		costs = append(costs, serverTimeOf(server, &names{})/float64(e.n))
		b.table.spread(e.name+": wait of a single task in an idle queue", waits)
		b.table.count(e.name+": redis-server time in scripts per task", "%.0f us", costs[len(costs)-1])
		e.close()
	}
	b.table.compare(costs[1]/costs[0], "asynq; target 1")
	b.table.count("target", "p99 of chatd at most 3 ms")
}

// latenessOf measures how long after its time a delayed task begins; both clocks are those of this machine. It closes the engine.
func latenessOf(b *bench, name string, e engine) {
	defer e.close()
	n, from, over := scaled(2000), shorter(time.Second), shorter(5*time.Second)
	late := newLateness(n)
	defer e.run(taskWorkers, late.stamped)()
	for range n {
		due := time.Now().Add(from + rand.N(over))
		ok(e.enqueueAt(b.ctx, due, stamp(due)))
	}
	late.wait(b.ctx)
	early := 0
	for _, by := range late.by {
		if by < 0 {
			early++
		}
	}
	b.table.spread(fmt.Sprintf("%s: lateness of %d tasks delayed by %v to %v (early: %d)", name, n, from, from+over, early), late.by)
}

// stamp is the payload of a task that says when it is due; sinceStamp is how long that was ago.
func stamp(due time.Time) []byte { return binary.BigEndian.AppendUint64(nil, uint64(due.UnixNano())) }

func sinceStamp(payload []byte) time.Duration {
	return time.Since(time.Unix(0, int64(binary.BigEndian.Uint64(payload))))
}
