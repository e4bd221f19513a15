package store

import (
	"context"
	"fmt"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/queue"
)

// moved returns the present id of a schedule or erasure whose id is from before an import into another number of partitions: ids
// begin with the partition, which changes then; the random rest stays. It asks every partition. ErrNotFound if there is none.
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
