package store

import (
	"context"
	"embed"
	"errors"
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/chatd/chatd/store/queue"
	"github.com/chatd/chatd/store/script"
)

//go:embed lua
var luaFiles embed.FS

// library is where the scripts lie: lua/<noun>/, each run by the Go file of that noun, and lua/lib/ for what they include.
// "How to add a script" in docs/redis.md says the rest. Open loads those that the server's cache lacks, and so does a call
// that meets an unknown one: a restart and a failover empty the cache.
var library = &script.Library{
	Files:  luaFiles,
	Shared: map[string]string{"task_enqueue": queue.EnqueueLua, "task_cancel": queue.CancelLua},
	Groups: queue.KeyNames(),
	// In a cluster, PUBLISH goes to every node; SPUBLISH stays within the shard of the slot.
	Sharded: strings.NewReplacer("'PUBLISH', channel", "'SPUBLISH', channel").Replace,
}

func newScript[K any](name string, names script.Names[K]) *script.Step[K] {
	return script.New(library, name, names)
}

func newFreeing[K any](name string, names script.Names[K]) *script.Step[K] {
	return script.NewFreeing(library, name, names)
}

func newReader[K any](name string, names script.Names[K]) *script.Step[K] {
	return script.NewReader(library, name, names)
}

// call is one run of a script.
type call = script.Call

// here returns the variant of a call for this kind of server.
func (s *Store) here(c call) call {
	if s.cluster != nil {
		c.Script = c.Script.ForCluster()
	}
	return c
}

// loadScripts puts every script into the cache of each server.
func (s *Store) loadScripts(ctx context.Context) error {
	masters, err := s.masters(ctx)
	for _, one := range masters {
		err = errors.Join(err, loadScripts(ctx, one.Client, s.cluster != nil))
	}
	return err
}

// loadScriptsAt puts every script into the cache of the server that has a key.
func (s *Store) loadScriptsAt(ctx context.Context, key string) error {
	one, err := s.masterOf(ctx, key)
	if err != nil {
		return err
	}
	return loadScripts(ctx, one.Client, s.cluster != nil)
}

// loadScripts loads what a server does not know. It has most of what it is asked for from other nodes, or from before: to
// ask is cheaper than to send all of it. A user without the right to ask sends all.
func loadScripts(ctx context.Context, client queue.Redis, sharded bool) error {
	scripts := slices.Clone(library.Used())
	hashes := make([]string, len(scripts))
	for i, script := range scripts {
		if sharded {
			scripts[i] = script.ForCluster()
		}
		hashes[i] = scripts[i].SHA
	}
	known, _ := client.ScriptExists(ctx, hashes...).Result()
	pipe := client.Pipeline()
	for i, script := range scripts {
		if i >= len(known) || !known[i] {
			pipe.ScriptLoad(ctx, script.Text)
		}
	}
	if pipe.Len() == 0 {
		return nil
	}
	_, err := pipe.Exec(ctx)
	return err
}

// again tells whether a call on a key has to be repeated, having loaded the scripts: nothing ran where the server did not
// know the script.
func (s *Store) again(ctx context.Context, err error, key string) bool {
	return redis.HasErrorPrefix(err, "NOSCRIPT") && s.loadScriptsAt(ctx, key) == nil
}

// loadScriptsFor puts every script into the cache of each server that some of the calls go to.
func (s *Store) loadScriptsFor(ctx context.Context, calls []call, some []int) error {
	loaded := map[string]bool{} // by address
	for _, i := range some {
		one, err := s.masterOf(ctx, calls[i].Keys[0])
		if err == nil && !loaded[one.Addr] {
			loaded[one.Addr] = true
			err = loadScripts(ctx, one.Client, s.cluster != nil)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// run runs a script and returns its reply. A refusal, which a script answers by an array that begins with its name, is
// returned as an error.
func (s *Store) run(ctx context.Context, c call) (reply, error) {
	if err := c.Err(); err != nil {
		return nil, broke(c.Script.Name, err)
	}
	c = s.here(c)
	value, err := c.Send(ctx, s.client).Result()
	if s.again(ctx, err, c.Keys[0]) {
		value, err = c.Send(ctx, s.client).Result()
	}
	if err != nil {
		return nil, fail(c.Script.Name, err)
	}
	return asReply(c.Script.Name, value)
}

// runSafe is run for a step that does no harm when it is done twice: once more after a connection that broke.
func (s *Store) runSafe(ctx context.Context, c call) (reply, error) {
	r, err := s.run(ctx, c)
	if broken(err) && ctx.Err() == nil {
		r, err = s.run(ctx, c)
	}
	return r, err
}

// runAll runs many calls, at most pipelineMax of them in a round trip. It returns the replies in order, and the first
// error; a refusal is the error of its own call only and stands in errs.
func (s *Store) runAll(ctx context.Context, calls []call) (replies []reply, errs []error, err error) {
	replies = make([]reply, 0, len(calls))
	errs = make([]error, 0, len(calls))
	for chunk := range slices.Chunk(calls, pipelineMax) {
		cmds, err := s.pipeline(ctx, chunk)
		if err != nil {
			return nil, nil, err
		}
		for i, cmd := range cmds {
			var r reply
			value, err := cmd.Result()
			if err != nil {
				err = fail(chunk[i].Script.Name, err)
			} else {
				r, err = asReply(chunk[i].Script.Name, value)
			}
			replies, errs = append(replies, r), append(errs, err)
		}
	}
	return replies, errs, nil
}

// pipeline runs calls in one round trip. Where the server did not know the scripts, those calls are sent again.
func (s *Store) pipeline(ctx context.Context, calls []call) ([]*redis.Cmd, error) {
	cmds := make([]*redis.Cmd, len(calls))
	missing := make([]int, len(calls))
	for i, c := range calls {
		if err := c.Err(); err != nil {
			return nil, broke(c.Script.Name, err)
		}
		missing[i] = i
	}
	for attempt := 0; attempt < 2 && len(missing) > 0; attempt++ {
		pipe := s.client.Pipeline()
		for _, i := range missing {
			cmds[i] = s.here(calls[i]).Send(ctx, pipe)
		}
		_, execErr := pipe.Exec(ctx)
		var unknown []int
		for _, i := range missing {
			err := cmds[i].Err()
			if err != nil && !refusedByServer(err) {
				return nil, fail("pipeline", execErr)
			}
			if redis.HasErrorPrefix(err, "NOSCRIPT") {
				unknown = append(unknown, i)
			}
		}
		missing = unknown
		if err := s.loadScriptsFor(ctx, calls, missing); err != nil {
			return nil, fail("scripts", err)
		}
	}
	return cmds, nil
}
