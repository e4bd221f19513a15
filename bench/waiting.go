package main

import (
	"fmt"
	"time"

	"github.com/chatd/chatd/internal/redistest"
	"github.com/chatd/chatd/queue"
)

// waiting measures what a million delayed tasks cost those that are not delayed: nothing, except for their memory.
func waiting(b *bench) {
	many := scaled(1_000_000)
	b.table.section(fmt.Sprintf("tasks while %d delayed ones wait, beside an empty queue", many))
	server := redistest.Start(b.tb)
	defer server.Kill()
	e := b.ours(server.Addr, "waiting")
	defer e.close()
	hours := queue.Task{Kind: "k", Payload: []byte(taskPayload), Delay: 24 * time.Hour}
	for _, delayed := range []int{0, many} {
		before := server.Field("memory", "used_memory")
		began := time.Now()
		e.putAll(b.ctx, delayed, hours)
		if delayed > 0 {
			b.table.rate(fmt.Sprintf("%d tasks put in, some thousands a call", delayed), float64(delayed)/time.Since(began).Seconds(), 0, "")
			b.table.count(fmt.Sprintf("memory of redis-server a delayed task with a payload of %d bytes", len(taskPayload)), "%.0f B", float64(server.Field("memory", "used_memory")-before)/float64(delayed))
		}
		claiming(b, e, server, delayed)
	}
}

// claiming counts what an idle server costs Redis, and what one task costs that is put in, claimed and completed alone.
func claiming(b *bench, e engine, server *redistest.Server, delayed int) {
	one, stop := alone(b, e)
	defer stop()
	ok(one()) // it is awake and has its scripts
	watch := server.Watch(b.tb)
	window := shorter(5 * time.Second)
	watch.Take(b.tb)
	ok(pause(b.ctx, window))
	idle := float64(len(watch.Take(b.tb))) / window.Seconds()
	watch.Close()
	b.idle = append(b.idle, idle)
	b.table.count(fmt.Sprintf("idle, %d delayed: commands that the engine sends", delayed), "%.1f/s", idle)

	n := scaled(2000)
	server.Do("CONFIG", "RESETSTAT")
	for range n {
		ok(one())
	}
	in, out := server.Stat("total_net_input_bytes"), server.Stat("total_net_output_bytes")
	inner, calls, usec := scriptCost(server)
	b.table.count(fmt.Sprintf("a task alone, %d delayed: put in, claimed, completed", delayed),
		"%.2f script calls of %.1f us, %.1f commands in them, %.0f B in, %.0f B out", calls/float64(n), usec, inner/float64(n),
		float64(in)/float64(n), float64(out)/float64(n))
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
