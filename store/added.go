package store

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

var (
	indexClaimScript   = newScript("index/claim", userNames)
	indexReleaseScript = newFreeing("index/release", userNames)
)

// addUnderWay is how long adding a member may take at most, from the claim until the index has the group.
const addUnderWay = 10 * time.Minute

// ClaimAdds implements chat.IndexStore. Groups in which a user has acted by now are taken off what counts once that is full.
func (s *Store) ClaimAdds(ctx context.Context, by, group string, users []string) (full []string, err error) {
	if full, err = s.claimAdds(ctx, by, group, users); err != nil {
		return nil, err
	}
	var again []string
	for _, user := range full {
		freed, err := s.freeAdds(ctx, by, user)
		if err != nil {
			return nil, err
		}
		if freed {
			again = append(again, user)
		}
	}
	if len(again) == 0 {
		return full, nil
	}
	still, err := s.claimAdds(ctx, by, group, again)
	full = slices.DeleteFunc(full, func(user string) bool { return slices.Contains(again, user) })
	return append(full, still...), err
}

func (s *Store) claimAdds(ctx context.Context, by, group string, users []string) (full []string, err error) {
	calls := make([]call, len(users))
	for i, user := range users {
		calls[i] = indexClaimScript.On(s.keys.user(user)).Arg("group", group).Arg("by", shortHash(by)).Arg("most", s.limits.AddedByOneMax())
	}
	replies, errs, err := s.runAll(ctx, calls)
	if err != nil {
		return nil, err
	}
	for i, r := range replies {
		if errs[i] != nil {
			return nil, errs[i]
		}
		if r.number(1) < 0 {
			full = append(full, users[i])
		}
	}
	return full, nil
}

// freeAdds takes off what counts for by the groups in which user acted, and those whose member user never became. It tells whether
// there were any.
func (s *Store) freeAdds(ctx context.Context, by, user string) (freed bool, err error) {
	k := s.keys.user(user)
	var added *redis.MapStringStringCmd
	if err := s.reads(ctx, func(pipe redis.Pipeliner) { added = pipe.HGetAll(ctx, k.added()) }); err != nil {
		return false, err
	}
	index, err := s.UserGroups(ctx, user)
	if err != nil {
		return false, err
	}
	invited := make(map[string]bool, len(index))
	for _, g := range index {
		invited[g.Group] = g.Invited
	}
	old := time.Now().Add(-addUnderWay).UnixMilli() // of leases and due times only the server's clock decides; this is neither
	var free []string
	for group, value := range added.Val() {
		who, ms, _ := strings.Cut(value, " ")
		if who != shortHash(by) {
			continue
		}
		waits, listed := invited[group]
		if atMs, _ := strconv.ParseInt(ms, 10, 64); listed && !waits || !listed && atMs < old {
			free = append(free, group)
		}
	}
	for some := range slices.Chunk(free, rangeBatch) {
		if _, err := s.runSafe(ctx, indexReleaseScript.On(k).Arg("by", shortHash(by)).List("groups", some)); err != nil {
			return false, err
		}
	}
	return len(free) > 0, nil
}
