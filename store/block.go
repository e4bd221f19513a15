package store

import (
	"context"
	"errors"
	"strconv"

	"github.com/redis/go-redis/v9"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/blocks"
)

var _ blocks.Store = (*Store)(nil)

var (
	blockPutScript    = newScript("block/put", userNames)
	blockDropScript   = newFreeing("block/drop", userNames)
	blockMirrorScript = newScript("block/mirror", groupNames)
)

// blockedMs is the end of a mute that stands for a block, in a direct group: see lib/blocked.lua.
const blockedMs = 1<<53 - 1

// Blocks are whom users block.
type Blocks struct {
	*base
}

// PutBlock has user block other.
func (s *Blocks) PutBlock(ctx context.Context, user, other string) (blocks.Block, bool, error) {
	k := s.keys.user(user)
	r, err := s.runSafe(ctx, blockPutScript.On(k).Arg("user", user).Arg("other", other).Arg("blocks_max", s.limits.UserBlocksMax).
		Arg("task_id", k.taskID()))
	if err != nil {
		return blocks.Block{}, false, err
	}
	return blocks.Block{User: other, CreatedAt: chat.TimeMs(r.number(2))}, r.number(1) == 1, nil
}

// DropBlock ends a block.
func (s *Blocks) DropBlock(ctx context.Context, user, other string) error {
	k := s.keys.user(user)
	return s.doSafe(ctx, blockDropScript.On(k).Arg("user", user).Arg("other", other).Arg("task_id", k.taskID()))
}

// BlocksOf reads whom user blocks, newest first.
func (s *Blocks) BlocksOf(ctx context.Context, user string, beforeMs int64, limit int) ([]blocks.Block, error) {
	below := "+inf"
	if beforeMs > 0 {
		below = "(" + strconv.FormatInt(beforeMs, 10)
	}
	var found *redis.ZSliceCmd
	err := s.reads(ctx, func(pipe redis.Pipeliner) {
		found = pipe.ZRevRangeByScoreWithScores(ctx, s.keys.user(user).blocks(), &redis.ZRangeBy{Min: "-inf", Max: below, Count: int64(limit)})
	})
	if err != nil {
		return nil, err
	}
	list := make([]blocks.Block, len(found.Val()))
	for i, z := range found.Val() {
		name, _ := z.Member.(string)
		list[i] = blocks.Block{User: name, CreatedAt: chat.TimeMs(int64(z.Score))}
	}
	return list, nil
}

// Blocking reads since when user blocks each of others.
func (s *Blocks) Blocking(ctx context.Context, user string, others []string) ([]int64, error) {
	since := make([]int64, len(others))
	scores := make([]*redis.FloatCmd, len(others))
	err := s.reads(ctx, func(pipe redis.Pipeliner) {
		for i, other := range others {
			scores[i] = pipe.ZScore(ctx, s.keys.user(user).blocks(), other)
		}
	})
	if err != nil {
		return nil, err
	}
	for i, score := range scores {
		if err := score.Err(); err != nil && !errors.Is(err, redis.Nil) {
			return nil, fail("blocks", err)
		}
		since[i] = int64(score.Val())
	}
	return since, nil
}

// MirrorBlock has a direct group know whether user is blocked there.
func (s *Blocks) MirrorBlock(ctx context.Context, group, user string, blocked bool) error {
	return s.doSafe(ctx, blockMirrorScript.On(s.keys.group(group)).Arg("user", user).Arg("blocked", blocked))
}
