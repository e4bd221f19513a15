package queue

import (
	"context"
	_ "embed"

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

var (
	//go:embed common.lua
	commonLua string
	//go:embed enqueue.lua
	enqueueLua string
	//go:embed step.lua
	stepLua string
	//go:embed settle.lua
	settleLua string
	//go:embed renew.lua
	renewLua string
	//go:embed stats.lua
	statsLua string
)

// The scripts, each with what it shares in front of it.
var (
	enqueueScript = redis.NewScript(EnqueueLua + enqueueLua)
	stepScript    = redis.NewScript(EnqueueLua + commonLua + stepLua)
	settleScript  = redis.NewScript(EnqueueLua + commonLua + settleLua)
	renewScript   = redis.NewScript(EnqueueLua + commonLua + renewLua)
	statsScript   = redis.NewScript(EnqueueLua + commonLua + statsLua)

	allScripts = []*redis.Script{enqueueScript, stepScript, settleScript, renewScript, statsScript}
)

// call is one script call of a pipeline; cmd holds its answer afterwards.
type call struct {
	script *redis.Script
	keys   []string
	args   []any
	cmd    *redis.Cmd
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
	if c.script == statsScript {
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
