package store

import (
	"context"
	"crypto/sha1"
	"embed"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/chatd/chatd/store/queue"
)

//go:embed lua
var luaFiles embed.FS

// script is one atomic step. It is called by the hash of its text; the text is loaded when a store is opened, and again
// whenever the server says that it does not know it (a restart and a failover empty its cache).
type script struct {
	name     string
	text     string
	sha      string
	readOnly bool
}

// scripts holds every script of this package: open loads all of them.
var scripts []*script

func newScript(name string) *script { return addScript(name, false) }

// newReader makes a script that the server runs as EVALSHA_RO: it may stand in a transaction, and the embedded store
// does not write it to its journal.
func newReader(name string) *script { return addScript(name, true) }

func addScript(name string, readOnly bool) *script {
	text := luaText("lua/"+name+".lua", map[string]bool{})
	sum := sha1.Sum([]byte(text)) // the name that Redis gives to a script, not a matter of security
	s := &script{name: name, text: text, sha: hex.EncodeToString(sum[:]), readOnly: readOnly}
	scripts = append(scripts, s)
	return s
}

// luaText returns the text of a script with the files that it names in `-- include:` lines joined in front of it, each
// once. It panics where a file is missing: the scripts are part of the binary.
func luaText(file string, done map[string]bool) string {
	if done[file] {
		return ""
	}
	done[file] = true
	switch file {
	case "lua/lib/task_enqueue.lua":
		return queue.EnqueueLua + "\n"
	case "lua/lib/task_cancel.lua":
		return queue.CancelLua + "\n"
	}
	text, err := luaFiles.ReadFile(file)
	if err != nil {
		panic(fmt.Sprintf("store: no script %s", file)) //nolint:forbidigo // the binary was built from a broken tree
	}
	var joined strings.Builder
	for line := range strings.Lines(string(text)) {
		if name, ok := strings.CutPrefix(line, "-- include: "); ok {
			joined.WriteString(luaText("lua/lib/"+strings.TrimSpace(name), done))
		}
	}
	return joined.String() + string(text)
}

// call is one run of a script.
type call struct {
	script *script
	keys   []string
	args   []any
}

// queueOn adds the call to a pipeline or a transaction.
func (c call) queueOn(ctx context.Context, to redis.Cmdable) *redis.Cmd {
	if c.script.readOnly {
		return to.EvalShaRO(ctx, c.script.sha, c.keys, c.args...)
	}
	return to.EvalSha(ctx, c.script.sha, c.keys, c.args...)
}

// loadScripts puts every script into the server's cache.
func (s *Store) loadScripts(ctx context.Context) error {
	pipe := s.client.Pipeline()
	for _, script := range scripts {
		pipe.ScriptLoad(ctx, script.text)
	}
	_, err := pipe.Exec(ctx)
	return err
}

// again tells whether a call has to be repeated, having loaded the scripts: nothing ran where the server did not know
// the script.
func (s *Store) again(ctx context.Context, err error) bool {
	return redis.HasErrorPrefix(err, "NOSCRIPT") && s.loadScripts(ctx) == nil
}

// run runs a script and returns its reply. A refusal, which a script answers by an array that begins with its name, is
// returned as an error.
func (s *Store) run(ctx context.Context, c call) (reply, error) {
	value, err := c.queueOn(ctx, s.client).Result()
	if s.again(ctx, err) {
		value, err = c.queueOn(ctx, s.client).Result()
	}
	if err != nil {
		return nil, fail(c.script.name, err)
	}
	return asReply(c.script.name, value)
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
				err = fail(chunk[i].script.name, err)
			} else {
				r, err = asReply(chunk[i].script.name, value)
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
	for i := range calls {
		missing[i] = i
	}
	for attempt := 0; attempt < 2 && len(missing) > 0; attempt++ {
		pipe := s.client.Pipeline()
		for _, i := range missing {
			cmds[i] = calls[i].queueOn(ctx, pipe)
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
		if missing = unknown; len(missing) > 0 {
			if err := s.loadScripts(ctx); err != nil {
				return nil, fail("scripts", err)
			}
		}
	}
	return cmds, nil
}
