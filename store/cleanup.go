package store

import (
	"context"
	"errors"

	"github.com/redis/go-redis/v9"
)

var cleanupScript = newScript("cleanup")

// Cleanup removes one bounded step of what a deleted group left behind: the keys of some of its members and senders. It
// returns those users. Two that clean up at the same time do no harm: whoever was taken off the lists stays alone.
func (s *Store) Cleanup(ctx context.Context, group string) (users []string, more bool, err error) {
	k := s.keys.group(group)
	for _, list := range []string{k.goneMembers(), k.goneSenders()} {
		if users, err = s.client.ZRange(ctx, list, 0, rangeBatch-1).Result(); err != nil && !errors.Is(err, redis.Nil) {
			return nil, false, fail("cleanup", err)
		}
		if len(users) > 0 {
			break
		}
	}
	if len(users) == 0 {
		return nil, false, nil
	}
	keys := []string{k.goneMembers(), k.goneSenders()}
	args := make([]any, len(users))
	for i, user := range users {
		keys = append(keys, k.sent(user), k.by(user), k.at(user))
		args[i] = user
	}
	r, err := s.runSafe(ctx, call{cleanupScript, keys, args})
	if err != nil {
		return nil, false, err
	}
	users = users[:0]
	for i := 2; i < len(r); i++ {
		users = append(users, r.text(i))
	}
	return users, r.number(1) == 1, nil
}
