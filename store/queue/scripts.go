package queue

import (
	"context"
	"embed"
	"fmt"
	"strings"

	"github.com/redis/go-redis/v9"
)

// EnqueueLua defines the Lua function
//
//	task_enqueue(qk, id, kind, payload, priority, due_ms, now_ms, unique, options)
//
// for scripts of the same partition that enqueue a task in the step that makes it
// necessary. qk is a Lua array of the keys that Keys.Enqueue lists; the file itself says
// the rest. Join it in front of the script.
//
//go:embed enqueue_func.lua
var EnqueueLua string

// CancelLua defines the Lua function
//
//	task_cancel(wk, id)
//
// for scripts of the same partition that take a waiting task away in the step that makes it
// pointless. wk is a Lua array of the keys that Keys.Work lists; the file itself says the
// rest. Join it in front of the script; it may stand beside EnqueueLua.
//
//go:embed cancel_func.lua
var CancelLua string

//go:embed *.lua
var luaFiles embed.FS

// allScripts holds every script: a server that has lost its cache gets all of them.
var allScripts []*redis.Script

// The scripts, each with what it shares in front of it.
var (
	enqueueScript  = newScript("enqueue", EnqueueLua)
	stepScript     = newScript("step", EnqueueLua, luaText("common"))
	settleScript   = newScript("settle", EnqueueLua, luaText("common"))
	renewScript    = newScript("renew", EnqueueLua, luaText("common"))
	progressScript = newScript("progress", EnqueueLua, luaText("common"))
	retryScript    = newScript("retry", EnqueueLua, luaText("common"))
	cancelScript   = newScript("cancel", EnqueueLua, luaText("common"), CancelLua)
	pauseScript    = newScript("pause", EnqueueLua, luaText("common"))
	statsScript    = newScript("stats", EnqueueLua, luaText("common"))
	showScript     = newScript("show", EnqueueLua, luaText("common"))
	listScript     = newScript("list", EnqueueLua, luaText("common"))
)

func newScript(name string, shared ...string) *redis.Script {
	s := redis.NewScript(strings.Join(shared, "\n") + "\n" + luaText(name))
	allScripts = append(allScripts, s)
	return s
}

// luaText returns the text of a file. It panics where the file is missing: the scripts are
// part of the binary.
func luaText(name string) string {
	text, err := luaFiles.ReadFile(name + ".lua")
	if err != nil {
		panic(fmt.Sprintf("queue: no script %s", name)) //nolint:forbidigo // the binary was built from a broken tree
	}
	return string(text)
}

// call is one script call of a pipeline; cmd holds its answer afterwards.
type call struct {
	script *redis.Script
	keys   []string
	args   []any
	cmd    *redis.Cmd
	// readOnly says that the script writes nothing. It is called as EVALSHA_RO, which the
	// embedded store does not write to its journal.
	readOnly bool
}

// run sends the calls in one round trip (one for each node of a cluster). A server that
// has restarted has lost its scripts and ran none of the calls that say NOSCRIPT: they are
// loaded again and those calls, and only those, are repeated. Each call keeps its own
// error in cmd; what is returned is the first of them.
func run(ctx context.Context, rdb redis.UniversalClient, calls []*call) error {
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
		for _, s := range allScripts {
			if err := s.Load(ctx, rdb).Err(); err != nil {
				return err
			}
		}
		pending = missing
	}
}

func send(ctx context.Context, rdb redis.UniversalClient, calls []*call) error {
	if len(calls) == 1 {
		c := calls[0]
		c.cmd = evalSha(ctx, rdb, c)
		return c.cmd.Err()
	}
	pipe := rdb.Pipeline()
	for _, c := range calls {
		c.cmd = evalSha(ctx, pipe, c)
	}
	_, err := pipe.Exec(ctx)
	return err
}

func evalSha(ctx context.Context, to redis.Scripter, c *call) *redis.Cmd {
	if c.readOnly {
		return to.EvalShaRO(ctx, c.script.Hash(), c.keys, c.args...)
	}
	return to.EvalSha(ctx, c.script.Hash(), c.keys, c.args...)
}

func firstError(calls []*call) error {
	for _, c := range calls {
		if err := c.cmd.Err(); err != nil {
			return err
		}
	}
	return nil
}
