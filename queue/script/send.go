package script

import (
	"context"

	"github.com/redis/go-redis/v9"
)

// Sender is a client, a pipeline or a transaction.
type Sender interface {
	Process(ctx context.Context, cmd redis.Cmder) error
}

// Send sends the call at once, or adds it to a pipeline or a transaction. A call that cannot be sent is a command with
// that error.
//
// It is what EvalSha of the client does, without an allocation for each key: the arguments of the command are pointers
// to the hash and into Keys, which stay as they are until it has been answered.
func (c Call) Send(ctx context.Context, to Sender) *redis.Cmd {
	if err := c.Err(); err != nil {
		cmd := redis.NewCmd(ctx)
		cmd.SetErr(err)
		return cmd
	}
	args := make([]any, firstKey, firstKey+len(c.Keys)+len(c.Args))
	args[0], args[1], args[2] = "evalsha", &c.Script.made().sha, len(c.Keys)
	if c.Script.ReadOnly {
		args[0] = "evalsha_ro"
	}
	for i := range c.Keys {
		args = append(args, &c.Keys[i])
	}
	cmd := redis.NewCmd(ctx, append(args, c.Args...)...)
	if len(c.Keys) > 0 {
		cmd.SetFirstKeyPos(firstKey)
	}
	_ = to.Process(ctx, cmd) // the command has the error
	return cmd
}

// firstKey is the index of the first key among the arguments of EVALSHA.
const firstKey = 3

// KeyOf returns the first key of a command of Send, and "" of others.
func KeyOf(cmd redis.Cmder) string {
	if args := cmd.Args(); len(args) > firstKey {
		if key, ok := args[firstKey].(*string); ok {
			return *key
		}
	}
	return ""
}
