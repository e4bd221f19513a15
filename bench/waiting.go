package main

import (
	"fmt"
	"time"

	"github.com/chatd/chatd/internal/redistest"
	"github.com/chatd/chatd/queue"
)

// waiting measures what a million delayed tasks cost those that are not delayed: nothing, except for their memory.
func waiting(b *bench) error {
	many := scaled(1_000_000)
	b.table.section(fmt.Sprintf("tasks while %d delayed ones wait, beside an empty queue", many))
	server := redistest.Start(b.tb)
	defer server.Kill()
	e, err := b.ours(server.Addr, "waiting")
	if err != nil {
		return err
	}
	defer func() { _ = e.close() }()
	hours := queue.Task{Kind: "k", Payload: []byte(taskPayload), Delay: 24 * time.Hour}
	for _, delayed := range []int{0, many} {
		before := infoOf(server, "used_memory")
		began := time.Now()
		if err := e.(*ours).putAll(b.ctx, delayed, hours); err != nil {
			return err
		}
		if delayed > 0 {
			b.table.rate(fmt.Sprintf("%d tasks put in, some thousands a call", delayed), float64(delayed)/time.Since(began).Seconds(), 0, "")
			b.table.count(fmt.Sprintf("memory of redis-server a delayed task with a payload of %d bytes", len(taskPayload)), "%.0f B", float64(infoOf(server, "used_memory")-before)/float64(delayed))
		}
		if err := claiming(b, e, server, delayed); err != nil {
			return err
		}
	}
	return nil
}

// claiming counts what an idle server costs Redis, and what one task costs that is put in, claimed and completed alone.
func claiming(b *bench, e engine, server *redistest.Server, delayed int) error {
	begun := make(chan struct{})
	stop, err := e.run(taskWorkers, func([]byte) error { begun <- struct{}{}; return nil })
	if err != nil {
		return err
	}
	defer stop()
	one := func() error {
		if err := e.enqueue(b.ctx, []byte(taskPayload)); err != nil {
			return err
		}
		select {
		case <-begun:
			return nil
		case <-b.ctx.Done():
			return b.ctx.Err()
		}
	}
	if err := one(); err != nil { // it is awake and has its scripts
		return err
	}
	watch := server.Watch(b.tb)
	window := shorter(5 * time.Second)
	watch.Take(b.tb)
	if err := pause(b.ctx, window); err != nil {
		return err
	}
	idle := float64(len(watch.Take(b.tb))) / window.Seconds()
	watch.Close()
	b.idle = append(b.idle, idle)
	b.table.count(fmt.Sprintf("idle, %d delayed: commands that the engine sends", delayed), "%.1f/s", idle)

	n := scaled(2000)
	server.Do("CONFIG", "RESETSTAT")
	for range n {
		if err := one(); err != nil {
			return err
		}
	}
	in, out := infoOf(server, "total_net_input_bytes"), infoOf(server, "total_net_output_bytes")
	inner, calls, usec := scriptCost(server)
	b.table.count(fmt.Sprintf("a task alone, %d delayed: put in, claimed, completed", delayed),
		"%.2f script calls of %.1f us, %.1f commands in them, %.0f B in, %.0f B out", calls/float64(n), usec, inner/float64(n),
		float64(in)/float64(n), float64(out)/float64(n))
	return nil
}

// scriptCost reads, since CONFIG RESETSTAT, how many commands scripts ran, how many script calls there were and how long
// one took in us.
func scriptCost(server *redistest.Server) (inner, calls, usec float64) {
	for name, s := range commandStats(server) {
		switch name {
		case "evalsha", "evalsha_ro":
			calls, usec = calls+s.calls, usec+s.us
		case "info", "config|resetstat", "subscribe", "ping":
		default:
			inner += s.calls
		}
	}
	return inner, calls, usec / max(calls, 1)
}
