package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/redis/go-redis/v9"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/store/conn"
)

var (
	trimScript  = newFreeing("log/trim", groupNames)
	lastsScript = newReader("log/lasts", partNames)
	looksScript = newReader("log/looks", partNames)
	pagesScript = newReader("log/pages", partNames)

	sharedScript = newReader("log/shared", groupNames)

	logRangeScript = newReader("log/range", groupNames)
)

// Logs are the messages of groups: sending, changing and reading them.
type Logs struct {
	*base
	files   *Files
	streams *Streams
	sends   *conn.Lanes[joinedSends]
	shared  *conn.Lanes[sharedReads]
}

// Range reads entries for the node itself, with the end of the log at the same instant. See chat.LogStore.
func (s *Logs) Range(ctx context.Context, group string, from int64, limit, bytesMax int) ([]chat.Message, chat.LogEnd, error) {
	if bytesMax == 0 {
		messages, end, err := s.plainRange(ctx, group, from, limit)
		if !queuesNothing(err) {
			return messages, end, err
		}
	}
	r, err := s.runSafe(ctx, logRangeScript.On(s.keys.group(group)).Arg("from", from).Arg("limit", limit).Arg("bytes_max", bytesMax))
	if err != nil {
		return nil, chat.LogEnd{}, err
	}
	messages, err := decodeMessages(group, r.texts(4))
	return messages, asLogEnd(r), err
}

// plainRange is Range without a bound in bytes, in a transaction: an entry costs a sixth of what it costs the script.
func (s *Logs) plainRange(ctx context.Context, group string, from int64, limit int) ([]chat.Message, chat.LogEnd, error) {
	k := s.keys.group(group)
	var end *redis.Cmd
	var members *redis.StringSliceCmd
	err := s.transaction(ctx, func(pipe redis.Pipeliner) {
		end = lastsCall(lastsScript.On(k.partKeys), k).Send(ctx, pipe)
		members = pipe.ZRangeByScore(ctx, k.msgs(), &redis.ZRangeBy{Min: strconv.FormatInt(from, 10), Max: "+inf",
			Count: int64(limit)})
	})
	if err != nil {
		return nil, chat.LogEnd{}, err
	}
	r, err := asReply(lastsScript.Name, end.Val())
	if err != nil {
		return nil, chat.LogEnd{}, err
	}
	messages, err := decodeMessages(group, members.Val())
	return messages, asLogEnd(r), err
}

// asLogEnd reads the end of a log as log/lasts.lua and log/range.lua answer it.
func asLogEnd(r reply) chat.LogEnd {
	return chat.LogEnd{Last: r.number(1), Epoch: r.text(2), Trimmed: asTrimmed(r.text(3))}
}

// lastsCall adds a group to a call of log/lasts.lua.
func lastsCall(c call, k groupKeys) call {
	return c.More("groups", "last_id", k.lastID(), "meta", k.meta())
}

// Entries reads single messages by id; absent ones are left out.
func (s *Logs) Entries(ctx context.Context, group string, ids []int64) ([]chat.Message, error) {
	messages, err := s.stored(ctx, group, ids)
	if err == nil {
		err = s.standing(ctx, group, messages)
	}
	return messages, err
}

// stored is Entries without what stands of those that are being written.
func (s *Logs) stored(ctx context.Context, group string, ids []int64) ([]chat.Message, error) {
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
func (s *Logs) Trim(ctx context.Context, group string) (more bool, err error) {
	return s.trim(ctx, group, "")
}

// trim does one step, and enqueues task for the rest unless it is empty.
func (s *Logs) trim(ctx context.Context, group, task string) (more bool, err error) {
	k := s.keys.group(group)
	r, err := s.runSafe(ctx, trimScript.On(k).Arg("group", group).Arg("task_id", task).Arg("files_id", k.taskID()))
	if errors.Is(err, chat.ErrNotFound) {
		return false, nil
	}
	return r.number(1) == 1, err
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
