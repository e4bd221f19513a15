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
	appendScript = newScript("log/append", memberNames)
	trimScript   = newFreeing("log/trim", groupNames)
	forgetScript = newFreeing("log/forget", memberNames)
	lastsScript  = newReader("log/lasts", partNames)
	looksScript  = newReader("log/looks", partNames)
	pagesScript  = newReader("log/pages", partNames)

	logRangeScript = newReader("log/range", groupNames) // in the place of a transaction on a server that is full
)

// Append appends an entry, or returns the first answer again if the key is known. With a key it is repeated once after the
// connection broke; without one an unknown outcome stays unknown: 0 or 1 copies, never 2.
func (s *Store) Append(ctx context.Context, a chat.Append) (chat.Appended, error) {
	k := s.keys.group(a.Group).of(a.From)
	if len(a.Files) > 0 {
		return s.appendNaming(ctx, k, a)
	}
	c := s.appendCall(appendScript.Sized(k, len(a.Mentions)), k, a)
	if !s.wanted.Load() && len(a.Mentions) == 0 {
		// Eight keys cost Redis a tenth of a send, and are not needed without devices and webhooks.
		done, err := s.append(ctx, c.Brief(), a)
		switch {
		case errors.Is(err, errWants):
			s.wanted.Store(true)
		case !errors.Is(err, errNamed):
			return done, err
		}
	}
	return s.append(ctx, c, a)
}

// appendCall gives a call what lib/append.lua needs.
func (s *Store) appendCall(c call, k memberKeys, a chat.Append) call {
	task := ""
	if len(a.Mentions) > 0 {
		task = k.taskID()
	}
	same := ""
	if a.Below != nil && a.Below.Same.ID > 0 {
		same = strconv.FormatInt(a.Below.Same.ID, 10) + " " + a.Below.Same.Mark
	}
	c = c.Arg("from", a.From).Arg("kind", string(a.Kind)).Arg("mark", a.Mark).Arg("rest", a.Rest).Arg("sent_ms", a.SentAtMs).
		Arg("key", shortHash(a.Key)).Arg("content", shortHash(a.Content)).Arg("reply_to", a.ReplyTo).Arg("target", a.Target).
		Arg("emoji", a.Emoji).Arg("removed", a.Removed).Arg("durable", durable(a.Durability)).Arg("channel", k.channel()).
		Arg("keys_max", s.limits.KeysMax).Arg("emojis_max", s.limits.EmojisMax).Arg("group", a.Group).Arg("task_id", task).
		Arg("below", belowText(a.Below)).Arg("same", same).
		List("mentions", a.Mentions)
	for _, user := range a.Mentions {
		c = c.More("at", k.groupKeys.at(user))
	}
	return c
}

// append runs a script that appends, and waits for the durability that the caller asked for.
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
			s.log.Debug("group was not trimmed completely", "group", group, "error", err)
		}
	}
}

// forget drops what is kept about a sender who was idle for a day. If it fails, later sends find the sender again.
func (s *Store) forget(ctx context.Context, group, user string) {
	_, err := s.run(ctx, forgetScript.On(s.keys.group(group).of(user)).Arg("user", user))
	if err != nil {
		s.log.Debug("cannot forget an idle sender", "group", group, "error", err)
	}
}

// Range reads entries for the node itself, with the end of the log at the same instant.
func (s *Store) Range(ctx context.Context, group string, from int64, limit int) ([]chat.Message, chat.LogEnd, error) {
	k := s.keys.group(group)
	var end *redis.Cmd
	var members *redis.StringSliceCmd
	err := s.transaction(ctx, func(pipe redis.Pipeliner) {
		end = queueCall(ctx, pipe, lastsCall(lastsScript.On(k.partKeys), k))
		members = pipe.ZRangeByScore(ctx, k.msgs(), &redis.ZRangeBy{Min: strconv.FormatInt(from, 10), Max: "+inf",
			Count: int64(limit)})
	})
	var r reply
	var read []string
	switch {
	case queuesNothing(err):
		var failed error
		if r, failed = s.runSafe(ctx, logRangeScript.On(k).Arg("from", from).Arg("limit", limit)); failed == nil {
			read, err = r.texts(4), nil
		}
	case err == nil:
		r, err = asReply(lastsScript.Name, end.Val())
		read = members.Val()
	}
	if err != nil {
		return nil, chat.LogEnd{}, err
	}
	messages, err := decodeMessages(group, read)
	return messages, chat.LogEnd{Last: r.number(1), Epoch: r.text(2), Trimmed: asTrimmed(r.text(3))}, err
}

// lastsCall adds a group to a call of log/lasts.lua.
func lastsCall(c call, k groupKeys) call {
	return c.More("groups", "last_id", k.lastID(), "meta", k.meta())
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

// trim does one step, and enqueues the rest as task unless that is empty.
func (s *Store) trim(ctx context.Context, group, task string) (more bool, err error) {
	k := s.keys.group(group)
	r, err := s.runSafe(ctx, trimScript.On(k).Arg("group", group).Arg("task_id", task).Arg("files_id", k.taskID()))
	if errors.Is(err, chat.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return r.number(1) == 1, nil
}

// decodeMessages reads stored messages. Its error names the group and the beginning of the entry, which is not content.
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
