package main

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/chatd/chatd/chat"
)

// bareSend is what every store of messages does at least, in one script.
const bareSend = `local id = redis.call('INCR', KEYS[1])
redis.call('ZADD', KEYS[2], id, id .. ARGV[1])
redis.call('PUBLISH', ARGV[2], ARGV[1])
return id`

// neededSend is what a send does in chatd, without any decision. Each command has its use: the settings of the group; whether
// someone wants to know of entries, and whether the sender is known; whether the sender is a member, and has read all; the id;
// the entry; that it is the sender's own, so that it counts as read; the end of the log, by which a rollback is noticed; and those
// who follow.
const neededSend = `local call = redis.call
call('HMGET', KEYS[3], 'epoch', 'post', 'overflow', 'events')
call('EXISTS', KEYS[4], KEYS[4], KEYS[5])
call('ZSCORE', KEYS[6], ARGV[3])
local id = call('INCR', KEYS[1])
call('ZADD', KEYS[2], id, id .. ARGV[1])
call('ZADD', KEYS[5], id, id)
call('PUBLISH', ARGV[2], ARGV[1])
call('HSET', KEYS[3], 'mark', 'AbCdEf', 'active_ms', '1800000000000', 'newest', id)
return id`

// sendingCosts compares the time that the server takes for a send with that of a bare script.
func (b *bench) sendingCosts() {
	n := scaled(20_000)
	text := strings.Repeat("x", 320) // what a message of 200 bytes is, stored
	script := func(source string, keys ...string) (us float64) {
		client := b.store.Client()
		sha := must(client.ScriptLoad(b.ctx, source).Result())
		us, _ = serverTime(b, n, func(int) error { return client.EvalSha(b.ctx, sha, keys, text, "bare:{p00}", "user-0").Err() })
		return us
	}
	bare := script(bareSend, "bare:{p00}:id", "bare:{p00}:msgs")
	b.table.count("server time of INCR, ZADD and PUBLISH in one script", "%.1f us", bare)
	needed := script(neededSend, "need:{p00}:id", "need:{p00}:msgs", "need:{p00}:meta", "need:{p00}:wants", "need:{p00}:by", "need:{p00}:seen")
	b.table.count("server time of the eight commands of a send, without its logic", "%.1f us", needed)
	b.table.compare(needed/bare, "the bare script")
	for _, keyed := range []bool{false, true} {
		what := "server time of a send"
		if keyed {
			what += " with a retry key"
		}
		us, commands := serverTime(b, n, func(i int) error {
			c := chat.Content{Body: body}
			if keyed {
				c.ClientID = fmt.Sprint("key-", i)
			}
			_, err := b.service.Send(b.ctx, chat.Caller{User: "user-0"}, "send", c, "")
			return err
		})
		b.table.count(what, "%.1f us, %.1f commands", us, commands)
		b.table.compare(us/bare, "the bare script")
		commandParts(b, n)
	}
}

// commandParts says what each command in the script calls since the last reset of the statistics took of the server, for one of n
// operations. What they leave of the whole is the script itself: its arguments, the interpreter, and how it calls commands.
func commandParts(b *bench, n int) {
	stats := commandStats(b.redis)
	for _, name := range slices.Collect(maps.Keys(stats)) {
		switch {
		case stats[name].calls < float64(n)/2, name == "evalsha", name == "evalsha_ro":
			delete(stats, name)
		}
	}
	order := slices.SortedFunc(maps.Keys(stats), func(x, y string) int { return cmp.Compare(stats[y].us, stats[x].us) })
	parts, all := []string{}, 0.0
	for _, name := range order {
		each := stats[name].us / float64(n)
		all += each
		parts = append(parts, fmt.Sprintf("%s %.1f", strings.ToUpper(name), each))
	}
	b.table.count("  of it in commands", "%.1f us: %s", all, strings.Join(parts, ", "))
}

// serverTime is how long a script call of do keeps the server busy, in us, and how many commands it runs.
func serverTime(b *bench, n int, do func(i int) error) (us, commands float64) {
	ok(b.store.Client().ConfigResetStat(b.ctx).Err())
	for i := range n {
		ok(do(i))
	}
	inner, calls, each := scriptCost(b.redis)
	if calls == 0 {
		ok(errors.New("no script ran"))
	}
	return each * calls / float64(n), inner / float64(n)
}
