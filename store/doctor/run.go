package doctor

import (
	"context"
	"embed"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"

	"github.com/chatd/chatd/queue"
	"github.com/chatd/chatd/queue/script"
)

//go:embed lua
var luaFiles embed.FS

var library = &script.Library{
	Files: luaFiles, Shared: map[string]string{"task_enqueue": queue.EnqueueLua, "task_cancel": queue.CancelLua},
	Groups: queue.KeyNames(),
}

func newScript[K any](name string, names script.Names[K]) *script.Step[K] {
	return script.New(library, name, names)
}

func newReader[K any](name string, names script.Names[K]) *script.Step[K] {
	return script.NewReader(library, name, names)
}

// runner runs scripts, and sends the source of one that the server does not know.
type runner struct{ client queue.Redis }

// do runs one call and returns what follows the OK.
func (r runner) do(ctx context.Context, c script.Call) (script.Reply, error) {
	value, err := c.Send(ctx, r.client).Result()
	if redis.HasErrorPrefix(err, "NOSCRIPT") {
		if err := r.client.ScriptLoad(ctx, c.Script.Text).Err(); err != nil {
			return nil, fmt.Errorf("SCRIPT LOAD: %w", err)
		}
		value, err = c.Send(ctx, r.client).Result()
	}
	if err != nil {
		return nil, fmt.Errorf("script %s: %w", c.Script.Name, err)
	}
	list, _ := value.([]any)
	if len(list) == 0 {
		return nil, fmt.Errorf("script %s: want a list, got %T", c.Script.Name, value)
	}
	return script.Reply(list[1:]), nil
}

// wrongType reports whether err means that a key has another type than the script expects.
func wrongType(err error) bool {
	var answered redis.Error
	return errors.As(err, &answered) && (redis.HasErrorPrefix(answered, "WRONGTYPE"))
}

// types reads the types of keys; "none" means that the key does not exist.
func (d *Doctor) types(ctx context.Context, names []string) ([]string, error) {
	pipe := d.store.Client().Pipeline()
	cmds := make([]*redis.StatusCmd, len(names))
	for i, name := range names {
		cmds[i] = pipe.Type(ctx, name)
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return nil, fmt.Errorf("TYPE: %w", err)
	}
	types := make([]string, len(names))
	for i, cmd := range cmds {
		types[i] = cmd.Val()
	}
	return types, nil
}

// instantTries is how often a server that is full is asked until two answers in a row are the same.
const instantTries = 10

// instant sends reads whose answers are of one instant. A missing key is no error. A full server refuses what is queued in a
// transaction: there, it repeats them until nothing changes between two answers.
func (d *Doctor) instant(ctx context.Context, queue func(redis.Pipeliner)) error {
	queued := func(pipe redis.Pipeliner) error {
		queue(pipe)
		return nil
	}
	client := d.store.Client()
	_, err := client.TxPipelined(ctx, queued)
	if redis.HasErrorPrefix(err, "OOM") || redis.HasErrorPrefix(err, "EXECABORT") {
		last, same := "", false
		for tries := 0; tries < instantTries && !same; tries++ {
			var cmds []redis.Cmder
			if cmds, err = client.Pipelined(ctx, queued); err != nil && !errors.Is(err, redis.Nil) {
				return err
			}
			answers := fmt.Sprint(cmds)
			last, same = answers, answers == last
		}
	}
	if errors.Is(err, redis.Nil) {
		return nil
	}
	return err
}
