package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/redis/go-redis/v9"

	"github.com/chatd/chatd/chat"
)

var (
	appendScript = newScript("log/append")
	trimScript   = newScript("log/trim")
	forgetScript = newScript("log/forget")
	lastsScript  = newReader("log/lasts")
)

// Append appends an entry, or gives the first answer again when the key is known. With a key it is repeated once after
// a connection that broke; without one an unknown outcome stays unknown: 0 or 1 copies, never 2.
func (s *Store) Append(ctx context.Context, a chat.Append) (chat.Appended, error) {
	keys, args := s.appendArgs(a)
	if !s.wanted.Load() && len(a.Mentions) == 0 {
		// Eight keys cost Redis a tenth of a send: without devices and webhooks they are of no use.
		done, err := s.append(ctx, call{appendScript, keys[:appendKeys], args}, a)
		if err != error(errWants) { //nolint:errorlint // the code is shared with other errors, the value is not
			return done, err
		}
		s.wanted.Store(true)
	}
	return s.append(ctx, call{appendScript, keys, args}, a)
}

// appendKeys is how many keys of lib/append_args.lua stand before those of the queue.
const appendKeys = 14

// appendArgs are the keys and arguments that lib/append_args.lua binds.
func (s *Store) appendArgs(a chat.Append) (keys []string, args []any) {
	k := s.keys.group(a.Group)
	keys = make([]string, 0, 22+len(a.Mentions))
	keys = append(keys, k.id(), k.meta(), k.members(), k.msgs(), k.seen(), k.read(), k.skip(), k.senders(), k.sent(a.From),
		k.by(a.From), k.reactions(), k.reacted(), k.joined(), s.keys.wants(k.partition))
	keys = append(keys, k.enqueue()...)
	task := ""
	if len(a.Mentions) > 0 {
		task = k.taskID()
	}
	args = make([]any, 0, 17+len(a.Mentions))
	args = append(args, a.From, string(a.Kind), a.Mark, a.Rest, a.SentAtMs, shortHash(a.Key), shortHash(a.Content),
		a.ReplyTo, a.Target, a.Emoji, flag(a.Removed), flag(durable(a.Durability)), k.channel(), s.limits.KeysMax,
		s.limits.EmojisMax, a.Group, task)
	for _, user := range a.Mentions {
		keys = append(keys, k.at(user))
		args = append(args, user)
	}
	return keys, args
}

// append runs a script that appends, waiting for what the caller asked for.
func (s *Store) append(ctx context.Context, c call, a chat.Append) (chat.Appended, error) {
	r, reached, err := s.runDurable(ctx, c, a.Durability)
	if broken(err) && a.Key != "" && ctx.Err() == nil {
		r, reached, err = s.runDurable(ctx, c, a.Durability)
	}
	if err != nil {
		return chat.Appended{}, err
	}
	done := chat.Appended{ID: r.number(1), Epoch: r.text(2), Mark: r.text(3), SentAtMs: r.number(4),
		Duplicate: r.number(5) == 1, Durability: reached}
	if stored := r.text(6); stored != "" {
		done.SentAtMs = sentAtMs(stored, done.SentAtMs)
	}
	s.afterAppend(ctx, a.Group, r)
	return done, nil
}

// afterAppend does what append_entry leaves to other steps.
func (s *Store) afterAppend(ctx context.Context, group string, r reply) {
	if idle := r.text(7); idle != "" {
		s.forget(ctx, group, idle)
	}
	if r.number(8) == 1 {
		// A send has no keys of the queue with it, so the rest becomes a task by another step. The 64th send from here
		// on finds it too, if this fails.
		if _, err := s.trim(ctx, group, s.keys.group(group).taskID()); err != nil {
			s.log.Debug("a group was not trimmed to the end", "group", group, "error", err)
		}
	}
}

// forget drops what is kept of a sender who was idle for a day. The next sends find the sender again if it fails.
func (s *Store) forget(ctx context.Context, group, user string) {
	k := s.keys.group(group)
	_, err := s.run(ctx, call{forgetScript, []string{k.id(), k.meta(), k.senders(), k.sent(user), k.by(user)}, []any{user}})
	if err != nil {
		s.log.Debug("an idle sender was not forgotten", "group", group, "error", err)
	}
}

// Range reads entries for the node itself, with the end of the log at the same instant.
func (s *Store) Range(ctx context.Context, group string, from int64, limit int) ([]chat.Message, chat.LogEnd, error) {
	k := s.keys.group(group)
	var end *redis.Cmd
	var members *redis.StringSliceCmd
	err := s.transaction(ctx, func(pipe redis.Pipeliner) {
		end = call{lastsScript, []string{k.id(), k.meta()}, nil}.queueOn(ctx, pipe)
		members = pipe.ZRangeByScore(ctx, k.msgs(), &redis.ZRangeBy{Min: strconv.FormatInt(from, 10), Max: "+inf",
			Count: int64(limit)})
	})
	if err != nil {
		return nil, chat.LogEnd{}, err
	}
	r, err := asReply("lasts", end.Val())
	if err != nil {
		return nil, chat.LogEnd{}, err
	}
	messages, err := decodeMessages(group, members.Val())
	return messages, chat.LogEnd{Last: r.number(1), Epoch: r.text(2)}, err
}

// Entries reads single messages by id; absent ones are left out.
func (s *Store) Entries(ctx context.Context, group string, ids []int64) ([]chat.Message, error) {
	k := s.keys.group(group)
	entries := make([]chat.Message, 0, len(ids))
	for chunk := range slices.Chunk(ids, rangeBatch) {
		var found []*redis.StringSliceCmd
		err := s.reads(ctx, func(pipe redis.Pipeliner) {
			found = found[:0]
			for _, id := range chunk {
				at := strconv.FormatInt(id, 10)
				found = append(found, pipe.ZRangeByScore(ctx, k.msgs(), &redis.ZRangeBy{Min: at, Max: at}))
			}
		})
		if err != nil {
			return nil, err
		}
		for _, cmd := range found {
			messages, err := decodeMessages(group, cmd.Val())
			if err != nil {
				return nil, err
			}
			entries = append(entries, messages...)
		}
	}
	return entries, nil
}

// Trim removes at most 500 messages that nobody needs any longer.
func (s *Store) Trim(ctx context.Context, group string) (more bool, err error) {
	return s.trim(ctx, group, "")
}

// trim does one step, and enqueues the rest under task where that is not empty.
func (s *Store) trim(ctx context.Context, group, task string) (more bool, err error) {
	k := s.keys.group(group)
	keys := append([]string{k.id(), k.meta(), k.seen(), k.msgs(), k.reactions(), k.reacted(), k.skip()}, k.enqueue()...)
	keys = append(keys, s.keys.wants(k.partition))
	r, err := s.runSafe(ctx, call{trimScript, keys, []any{group, task}})
	if errors.Is(err, chat.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return r.number(1) == 1, nil
}

// decodeMessages reads stored messages. What cannot be read is named by its group and its beginning, which is no content.
func decodeMessages(group string, members []string) ([]chat.Message, error) {
	messages := make([]chat.Message, len(members))
	for i, member := range members {
		m, err := decodeMessage(member)
		if err != nil {
			return nil, broke("messages", fmt.Errorf("group %s: %.24q: %w", group, member, err))
		}
		messages[i] = m
	}
	return messages, nil
}
