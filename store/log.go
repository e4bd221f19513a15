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
	trimScript  = newFreeing("log/trim", groupNames)
	lastsScript = newReader("log/lasts", partNames)
	looksScript = newReader("log/looks", partNames)
	pagesScript = newReader("log/pages", partNames)

	sharedScript = newReader("log/shared", groupNames)

	logRangeScript = newReader("log/range", groupNames) // in the place of a transaction on a server that is full
)

// Range reads entries for the node itself, with the end of the log at the same instant.
func (s *Store) Range(ctx context.Context, group string, from int64, limit int) ([]chat.Message, chat.LogEnd, error) {
	k := s.keys.group(group)
	var end *redis.Cmd
	var members *redis.StringSliceCmd
	err := s.transaction(ctx, func(pipe redis.Pipeliner) {
		end = lastsCall(lastsScript.On(k.partKeys), k).Send(ctx, pipe)
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
