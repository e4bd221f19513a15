package store_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/redis/go-redis/v9"

	"github.com/chatd/chatd/queue"
)

// What no method of a store shows or does: tests reach past it to look at a key, to make something old, and to let one
// step come between two others.

// tag is the beginning of every key in the partition of a group or user.
func (w *fixture) tag(id string) string {
	return fmt.Sprintf("%s:{p%02d}:", w.Prefix(), queue.Partition(id, w.Partitions()))
}

// groupKey is a key of a group, userKey one of a user, as docs/redis.md names them.
func (w *fixture) groupKey(group, name string) string {
	return w.tag(group) + "g:" + group + ":" + name
}
func (w *fixture) userKey(user, name string) string { return w.tag(user) + "u:" + user + ":" + name }

// poke runs one writing command on a key, from within a script because the embedded store takes writes from nowhere else.
func (w *fixture) poke(command, key string, args ...any) {
	w.Helper()
	const text = `return redis.call(table.remove(ARGV, 1), KEYS[1], unpack(ARGV))`
	w.ok(w.Client().Eval(w.ctx, text, []string{key}, append([]any{command}, args...)...).Err())
}

// replicated reports whether the server of a group has a replica. The embedded store has none, and no INFO.
func (w *fixture) replicated(group string) bool {
	text, err := w.Client().Eval(w.ctx, `return redis.call('INFO', 'replication')`, []string{w.tag(group)}).Text()
	return err == nil && !strings.Contains(text, "connected_slaves:0")
}

// sizes are how many members ZSETs have.
func (w *fixture) sizes(keys ...string) (sizes []int64) {
	w.Helper()
	for _, key := range keys {
		n, err := w.Client().ZCard(w.ctx, key).Result()
		w.ok(err)
		sizes = append(sizes, n)
	}
	return sizes
}

// tick returns once the clock of the store has moved on: what was kept before is older than what is kept after.
func (w *fixture) tick() {
	w.Helper()
	for start := w.now(); w.now() == start; {
	}
}

// before has do run once, between the steps of someone else's call: just before the store sends its next command that
// names key. It returns how often that came about.
func (w *fixture) before(key string, do func()) (times *atomic.Int64) {
	h := &interceptor{key: key, do: do}
	w.Client().AddHook(h)
	return &h.times
}

type interceptor struct {
	key   string
	do    func()
	times atomic.Int64
}

func (h *interceptor) look(cmds ...redis.Cmder) {
	for _, cmd := range cmds {
		for _, arg := range cmd.Args() {
			if key, ok := arg.(*string); ok { // of a script
				arg = *key
			}
			if arg == h.key && h.times.CompareAndSwap(0, 1) {
				h.do()
			}
		}
	}
}

func (h *interceptor) DialHook(next redis.DialHook) redis.DialHook { return next }

func (h *interceptor) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		h.look(cmd)
		return next(ctx, cmd)
	}
}

func (h *interceptor) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		h.look(cmds...)
		return next(ctx, cmds)
	}
}
