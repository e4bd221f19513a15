package storetest

import (
	"fmt"

	"github.com/chatd/chatd/store/queue"
)

// What no method of a store shows or does: tests reach past it to look at a key and to make something old.

// tag is the beginning of every key in the partition of a group or user.
func (w *world) tag(id string) string {
	return fmt.Sprintf("%s:{p%02d}:", w.Prefix(), queue.Partition(id, w.Partitions()))
}

// userKey is a key of a user, as docs/redis.md names it.
func (w *world) userKey(user, name string) string { return w.tag(user) + "u:" + user + ":" + name }

// poke runs one writing command on a key, from within a script because the embedded store takes writes from nowhere else.
func (w *world) poke(command, key string, args ...any) {
	w.Helper()
	const text = `return redis.call(table.remove(ARGV, 1), KEYS[1], unpack(ARGV))`
	w.ok(w.Client().Eval(w.ctx, text, []string{key}, append([]any{command}, args...)...).Err())
}

// tick returns once the clock of the store has moved on: what was kept before is older than what is kept after.
func (w *world) tick() {
	w.Helper()
	for start := w.now(); w.now() == start; {
	}
}
