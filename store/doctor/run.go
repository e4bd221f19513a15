package doctor

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

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
		if err := r.client.ScriptLoad(ctx, c.Script.Text()).Err(); err != nil {
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
func (d *exam) types(ctx context.Context, names []string) ([]string, error) {
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
func (d *exam) instant(ctx context.Context, queue func(redis.Pipeliner)) error {
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

// runs is what runs a call, as the fix of a finding.
func (d *exam) runs(c script.Call) func(context.Context) error {
	return func(ctx context.Context) error {
		_, err := d.run.do(ctx, c)
		return err
	}
}

var errMoved = errors.New("it has changed meanwhile")

// corrected runs a script that corrects a sum, unless that has changed.
func (d *exam) corrected(ctx context.Context, c script.Call) error {
	r, err := d.run.do(ctx, c)
	if err == nil && r.Number(0) == 0 {
		err = errMoved
	}
	return err
}

// parts runs a script that examines a part at a time, from where the last one ended: each answer begins with that, 0 at the end.
func (d *exam) parts(ctx context.Context, call func(from int64) script.Call, take func(script.Reply) error) error {
	for from := int64(0); ; {
		r, err := d.run.do(ctx, call(from))
		if err == nil {
			err = take(r)
		}
		if err != nil {
			return err
		}
		if from = r.Number(0); from == 0 {
			return nil
		}
	}
}

// ranges reads a list from its beginning to its end, some entries at a time.
func ranges[T any](read func(from, to int64) ([]T, error), take func([]T) error) error {
	for from := int64(0); ; from += entriesStep {
		some, err := read(from, from+entriesStep-1)
		if err == nil {
			err = take(some)
		}
		if err != nil || len(some) < entriesStep {
			return err
		}
	}
}

// pages goes through the fields of a hash.
func (d *exam) pages(ctx context.Context, key string, do func(fields, values []string) error) error {
	for cursor := uint64(0); ; {
		list, next, err := d.store.Client().HScan(ctx, key, cursor, "", filesStep).Result()
		if err != nil {
			return err
		}
		for some := range slices.Chunk(list, 2*filesStep) {
			var fields, values []string
			for i := 0; i+1 < len(some); i += 2 {
				fields, values = append(fields, some[i]), append(values, some[i+1])
			}
			if err := do(fields, values); err != nil {
				return err
			}
		}
		if cursor = next; cursor == 0 {
			return nil
		}
	}
}

// unlessNil drops the error that a key or field is not there.
func unlessNil(err error) error {
	if errors.Is(err, redis.Nil) {
		return nil
	}
	return err
}

// enqueue enqueues a task of the core queue.
func (d *exam) enqueue(ctx context.Context, t queue.Task, payload any) (err error) {
	if t.Payload, err = json.Marshal(payload); err != nil {
		return err
	}
	_, err = d.core.EnqueueAll(ctx, []queue.Task{t})
	return err
}
