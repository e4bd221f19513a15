package store

import (
	"context"
	"embed"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/queue"
	"github.com/chatd/chatd/queue/script"
	"github.com/chatd/chatd/store/conn"
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
	InCluster: map[string]string{"PUBLISH": "SPUBLISH"},
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

// run runs a script and returns its reply. A refusal, which a script answers by an array that begins with its name, is
// returned as an error.
func (s *base) run(ctx context.Context, c call) (reply, error) {
	if err := c.Err(); err != nil {
		return nil, broke(c.Script.Name, err)
	}
	value, err := s.conn.Run(ctx, c)
	return replyOf(c, value, err)
}

// replyOf reads what a call got.
func replyOf(c call, value any, err error) (reply, error) {
	if err != nil {
		return nil, fail(c.Script.Name, err)
	}
	return asReply(c.Script.Name, value)
}

// runSafe is run for a step that may run twice: it repeats it once after the connection broke.
func (s *base) runSafe(ctx context.Context, c call) (reply, error) {
	r, err := s.run(ctx, c)
	if conn.Broken(err) && ctx.Err() == nil {
		r, err = s.run(ctx, c)
	}
	return r, err
}

// do is run for a step whose answer says only that it is done, and doSafe is runSafe for one.
func (s *base) do(ctx context.Context, c call) error {
	_, err := s.run(ctx, c)
	return err
}

func (s *base) doSafe(ctx context.Context, c call) error {
	_, err := s.runSafe(ctx, c)
	return err
}

// runAll runs many calls. It returns the replies in order, and the first error; a refusal is the error of its call only,
// in errs.
func (s *base) runAll(ctx context.Context, calls []call) (replies []reply, errs []error, err error) {
	for _, c := range calls {
		if err := c.Err(); err != nil {
			return nil, nil, broke(c.Script.Name, err)
		}
	}
	answers, err := s.conn.RunAll(ctx, calls)
	if err != nil {
		return nil, nil, fail("pipeline", err)
	}
	replies, errs = make([]reply, len(calls)), make([]error, len(calls))
	for i, a := range answers {
		replies[i], errs[i] = replyOf(calls[i], a.Value, a.Err)
	}
	return replies, errs, nil
}

// laneAnswer is the answer to one of the calls of a lane, or why there is none.
type laneAnswer struct {
	reply reply
	err   error
	// The server has done nothing: the caller repeats it outside the lane, which follows redirects. See conn.Answer.
	refused bool
}

// runAt runs calls on one server in one round trip, whether or not it has their keys.
func (s *base) runAt(ctx context.Context, server conn.Server, calls []call) []laneAnswer {
	answers := make([]laneAnswer, len(calls))
	for i, a := range s.conn.RunAt(ctx, server, calls) {
		r, err := replyOf(calls[i], a.Value, a.Err)
		answers[i] = laneAnswer{r, err, a.Refused}
	}
	return answers
}

// runDurable runs a writing script and waits for the durability that was asked for. It returns what was reached; less than
// asked for is no error, because the entry is written. Empty if nothing was asked for.
func (s *base) runDurable(ctx context.Context, c call, want chat.Durability) (reply, chat.Durability, error) {
	if err := c.Err(); err != nil {
		return nil, "", broke(c.Script.Name, err)
	}
	value, reached, err := s.conn.RunDurable(ctx, c, conn.Durability(want))
	r, err := replyOf(c, value, err)
	return r, chat.Durability(reached), err
}
