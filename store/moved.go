package store

import (
	"context"
	"fmt"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/queue"
)

// moved returns the present id of what another id named before the store was imported with another number of partitions. Ids of
// schedules and erasures begin with their partition, which changes then; the rest is random and stays. It asks every partition, so
// it costs nothing where there is one. ErrNotFound where there is nothing.
func (s *base) moved(ctx context.Context, id string, key func(p *partKeys, id string) string) (string, error) {
	was, ok := queue.PartitionOf(id)
	if !ok || s.partitions() == 1 && was == 0 {
		return "", chat.ErrNotFound
	}
	_, rest, _ := strings.Cut(id, "-")
	ids, found := make([]string, s.partitions()), make([]*redis.IntCmd, s.partitions())
	err := s.reads(ctx, func(pipe redis.Pipeliner) {
		for p := range found {
			ids[p] = fmt.Sprintf("p%02d-%s", p, rest)
			found[p] = pipe.Exists(ctx, key(s.keys.part(p), ids[p]))
		}
	})
	if err != nil {
		return "", err
	}
	for p, there := range found {
		if there.Val() > 0 {
			return ids[p], nil
		}
	}
	return "", chat.ErrNotFound
}
