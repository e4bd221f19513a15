package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/chatd/chatd/chat"
)

// bareSend is what every store of messages does at least, in one script.
const bareSend = `local id = redis.call('INCR', KEYS[1])
redis.call('ZADD', KEYS[2], id, id .. ARGV[1])
redis.call('PUBLISH', ARGV[2], ARGV[1])
return id`

// sendingCosts compares the time that the server takes for a send with that of a bare script.
func (b *bench) sendingCosts() error {
	client := b.store.Client()
	sha, err := client.ScriptLoad(b.ctx, bareSend).Result()
	if err != nil {
		return err
	}
	n := scaled(20_000)
	text := strings.Repeat("x", 320) // what a message of 200 bytes is, stored
	bare, _, err := b.serverTime(n, func(int) error {
		return client.EvalSha(b.ctx, sha, []string{"bare:{p00}:id", "bare:{p00}:msgs"}, text, "bare:{p00}").Err()
	})
	if err != nil {
		return err
	}
	b.table.count("server time of INCR, ZADD and PUBLISH in one script", "%.1f us", bare)
	for _, keyed := range []bool{false, true} {
		what := "server time of a send"
		if keyed {
			what += " with a retry key"
		}
		us, commands, err := b.serverTime(n, func(i int) error {
			c := chat.Content{Body: body}
			if keyed {
				c.ClientID = fmt.Sprint("key-", i)
			}
			_, err := b.service.Send(b.ctx, chat.Caller{User: "user-0"}, "send", c, "")
			return err
		})
		if err != nil {
			return err
		}
		b.table.count(what, "%.1f us, %.1f commands", us, commands)
		b.table.compare(us/bare, "the bare script")
	}
	return nil
}

// serverTime is how long a script call of do keeps the server busy, in us, and how many commands it runs.
func (b *bench) serverTime(n int, do func(i int) error) (us, commands float64, err error) {
	if err := b.store.Client().ConfigResetStat(b.ctx).Err(); err != nil {
		return 0, 0, err
	}
	for i := range n {
		if err := do(i); err != nil {
			return 0, 0, err
		}
	}
	inner, calls, each := scriptCost(b.redis)
	if calls == 0 {
		return 0, 0, errors.New("no script ran")
	}
	return each * calls / float64(n), inner / float64(n), nil
}
