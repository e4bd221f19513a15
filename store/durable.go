package store

import (
	"context"

	"github.com/redis/go-redis/v9"

	"github.com/chatd/chatd/chat"
)

// durable tells whether an answer waits for more than the store's memory.
func durable(d chat.Durability) bool { return d == chat.DurabilityDisk || d == chat.DurabilityReplica }

// runDurable runs a writing script and waits for what was asked. What was reached is said truthfully; that it is less
// than was asked is no error, for the entry is written. Empty where nothing was asked.
func (s *Store) runDurable(ctx context.Context, c call, want chat.Durability) (reply, chat.Durability, error) {
	if !durable(want) {
		r, err := s.run(ctx, c)
		return r, want, err
	}
	if s.embedded != nil {
		r, err := s.run(ctx, c)
		if err != nil {
			return r, "", err
		}
		if err := s.embedded.Sync(ctx); err != nil {
			s.log.Warn("cannot sync the journal", "error", err)
			return r, chat.DurabilityMemory, nil
		}
		return r, chat.DurabilityDisk, nil // there is no replica to wait for
	}
	return s.runAndWait(ctx, c, want)
}

// runAndWait sends the script and WAIT, or WAITAOF, in one pipeline: they count what their own connection wrote.
func (s *Store) runAndWait(ctx context.Context, c call, want chat.Durability) (reply, chat.Durability, error) {
	reached := chat.DurabilityMemory
	if s.server.alwaysOnDisk {
		reached = chat.DurabilityDisk
	}
	if want == chat.DurabilityDisk && !s.server.waitsForDisk {
		r, err := s.run(ctx, c)
		return r, reached, err
	}
	var written, waited *redis.Cmd
	for attempt := 0; attempt < 2; attempt++ {
		pipe := s.client.Pipeline()
		written = queueCall(ctx, pipe, c)
		if want == chat.DurabilityReplica {
			waited = pipe.Do(ctx, "WAIT", 1, durableWait.Milliseconds())
		} else {
			waited = pipe.Do(ctx, "WAITAOF", 1, 0, durableWait.Milliseconds())
		}
		_, _ = pipe.Exec(ctx) // each command has its own error
		if !s.again(ctx, written.Err()) {
			break
		}
	}
	if err := written.Err(); err != nil {
		return nil, "", fail(c.Script.Name, err)
	}
	r, err := asReply(c.Script.Name, written.Val())
	if err != nil {
		return r, "", err
	}
	switch answer := waited.Val().(type) {
	case int64: // replicas that have it
		if answer >= 1 {
			reached = chat.DurabilityReplica
		}
	case []any: // disks that have it: here, and at replicas
		if len(answer) > 0 && answer[0] == int64(1) {
			reached = chat.DurabilityDisk
		}
	}
	return r, reached, nil
}
