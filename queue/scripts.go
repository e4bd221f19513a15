package queue

import (
	"context"
	"embed"

	"github.com/redis/go-redis/v9"

	"github.com/chatd/chatd/queue/script"
)

//go:embed lua option/*/lua
var luaFiles embed.FS

// library holds the scripts of this package. docs/reference.md describes each.
var library = &script.Library{
	Files: luaFiles, Groups: KeyNames(),
	Folders: []string{"option/batch", "option/limit", "option/rate", "option/result", "option/then"},
}

// EnqueueLua defines the Lua function
//
//	task_enqueue(queue, id, kind, payload, priority, due_ms, now_ms, unique, options)
//
// for scripts of the same partition that enqueue a task in the same step as the write that makes it necessary. queue is
// the index in KEYS of the first of the keys that Keys.Enqueue lists; lua/lib/enqueue.lua documents the rest. Put it in
// front of the script.
var EnqueueLua = library.Render("enqueue")

// CancelLua defines the Lua function
//
//	task_cancel(queue, id)
//
// for scripts of the same partition that cancel a waiting task in the same step as the write that makes it pointless.
// queue is the index in KEYS of the first of the keys that Keys.Work lists; lua/lib/cancel.lua documents the rest. Put
// it in front of the script; it may be combined with EnqueueLua.
var CancelLua = library.Render("cancel")

// keyNames are the names that scripts use for the keys that Keys.Enqueue, Keys.Work, and a queueSet list.
var keyNames = script.Names[[]string]{Groups: map[string]func([]string) []string{
	"queue:enqueue": asListed, "queue:work": asListed, "queues:work": asListed,
}}

func asListed(keys []string) []string { return keys }

// queueScript is a script with the names of its keys.
type queueScript = script.Step[[]string]

var (
	enqueueScript      = newScript("enqueue")
	layoutScript       = newFreeing("layout")
	announceScript     = newFreeing("announce")
	countDaysScript    = newFreeing("count_days")
	holdScript         = newScript("hold")
	stepScript         = newFreeing("step")
	settleScript       = newFreeing("settle")
	renewScript        = newFreeing("renew")
	progressScript     = newFreeing("progress")
	retryScript        = newFreeing("retry")
	rewriteScript      = newFreeing("rewrite")
	takeScript         = newFreeing("take")
	cancelScript       = newFreeing("cancel")
	bulkScript         = newFreeing("bulk")
	pauseScript        = newFreeing("pause")
	periodicPutScript  = newScript("periodic_put")
	periodicStopScript = newFreeing("periodic_stop")
	// It must not hold up the outcomes of other tasks, which free memory, and adds a task per occurrence at most.
	periodicFireScript = newFreeing("periodic_fire")
	periodicListScript = newReader("periodic_list")
	statsScript        = newReader("stats")
	servedScript       = newReader("served")
	showScript         = newReader("show")
	batchScript        = newReader("batch")
	resultScript       = newReader("result")
	listScript         = newReader("list")
	limitsScript       = newReader("limits")
	daysScript         = newReader("days")
)

func newScript(name string) *queueScript { return script.New(library, name, keyNames) }

// newFreeing makes a script that runs even if the memory of Redis is full, because it frees memory.
func newFreeing(name string) *queueScript { return script.NewFreeing(library, name, keyNames) }

// newReader makes a script that writes nothing. It is called with EVALSHA_RO, which the embedded store does not write
// to its journal.
func newReader(name string) *queueScript { return script.NewReader(library, name, keyNames) }

// call is one script call of a pipeline; cmd holds its answer afterwards.
type call struct {
	script.Call
	cmd *redis.Cmd
}

// run sends the calls in one round trip (one for each node of a cluster). A server that has restarted has lost its
// scripts and answers NOSCRIPT without running the call: run loads the scripts again and repeats those calls, and only
// those. Each call keeps its own error in cmd; run returns the first of them.
func run(ctx context.Context, rdb Redis, calls []*call) error {
	for _, c := range calls {
		if err := c.Err(); err != nil {
			return err
		}
	}
	pending := calls
	for attempt := 0; ; attempt++ {
		err := send(ctx, rdb, pending)
		if err == nil {
			return firstError(calls)
		}
		var missing []*call
		for _, c := range pending {
			if redis.HasErrorPrefix(c.cmd.Err(), "NOSCRIPT") {
				missing = append(missing, c)
			}
		}
		if len(missing) == 0 || attempt == 2 {
			return err
		}
		if err := loadScripts(ctx, rdb, missing); err != nil {
			return err
		}
		pending = missing
	}
}

// loadScripts loads every script into the cache of each server that some of the calls go to. Other servers of a cluster may
// be down.
func loadScripts(ctx context.Context, rdb Redis, calls []*call) error {
	servers := map[Redis]bool{}
	for _, c := range calls {
		server := rdb
		if cluster, ok := rdb.(interface {
			MasterForKey(ctx context.Context, key string) (*redis.Client, error)
		}); ok {
			master, err := cluster.MasterForKey(ctx, c.Keys[0])
			if err != nil {
				return err
			}
			server = master
		}
		if servers[server] {
			continue
		}
		servers[server] = true
		for _, s := range library.Used() {
			if err := server.ScriptLoad(ctx, s.Text()).Err(); err != nil {
				return err
			}
		}
	}
	return nil
}

func send(ctx context.Context, rdb Redis, calls []*call) error {
	if len(calls) == 1 {
		c := calls[0]
		c.cmd = c.Send(ctx, rdb)
		return c.cmd.Err()
	}
	pipe := rdb.Pipeline()
	for _, c := range calls {
		c.cmd = c.Send(ctx, pipe)
	}
	_, err := pipe.Exec(ctx)
	return err
}

func firstError(calls []*call) error {
	for _, c := range calls {
		if err := c.cmd.Err(); err != nil {
			return err
		}
	}
	return nil
}
