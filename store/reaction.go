package store

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/chatd/chatd/chat"
)

// Reactions gives the reactions to the messages from..to with their counts, and whether user is among them.
func (s *Logs) Reactions(ctx context.Context, group, user string, from, to int64) (map[int64]map[string]chat.ReactionCount, error) {
	k := s.keys.group(group)
	var counts *redis.StringSliceCmd
	err := s.reads(ctx, func(pipe redis.Pipeliner) {
		counts = pipe.ZRangeByScore(ctx, k.reactions(), &redis.ZRangeBy{Min: strconv.FormatInt(from, 10),
			Max: strconv.FormatInt(to, 10)})
	})
	if err != nil {
		return nil, err
	}
	found := map[int64]map[string]chat.ReactionCount{}
	for chunk := range slices.Chunk(counts.Val(), rangeBatch) {
		mine := make([]string, len(chunk))
		for i, member := range chunk {
			target, emoji, _ := splitReaction(member)
			mine[i] = strconv.FormatInt(target, 10) + " " + user + " " + emoji
		}
		var scores *redis.FloatSliceCmd
		err := s.reads(ctx, func(pipe redis.Pipeliner) { scores = pipe.ZMScore(ctx, k.reacted(), mine...) })
		if err != nil {
			return nil, err
		}
		for i, member := range chunk {
			addReaction(found, member, scores.Val()[i] > 0) // ids begin at 1, so 0 is that of no entry
		}
	}
	return found, nil
}

// addReaction adds a stored count.
func addReaction(found map[int64]map[string]chat.ReactionCount, member string, mine bool) {
	target, emoji, count := splitReaction(member)
	if found[target] == nil {
		found[target] = map[string]chat.ReactionCount{}
	}
	found[target][emoji] = chat.ReactionCount{Count: count, Mine: mine}
}

// splitReaction reads `<target> <emoji> <count>`; the emoji may hold blanks.
func splitReaction(member string) (target int64, emoji string, count int64) {
	head, rest, _ := strings.Cut(member, " ")
	if end := strings.LastIndexByte(rest, ' '); end >= 0 {
		return number(head), rest[:end], number(rest[end+1:])
	}
	return number(head), "", 0
}
