package store

import (
	"context"

	"github.com/chatd/chatd/chat"
)

var (
	indexAddScript  = newScript("index_add")
	indexDropScript = newScript("index_drop")
	indexHintScript = newScript("index_hint")
)

// UserGroups returns the whole index of a user.
func (s *Store) UserGroups(ctx context.Context, user string) ([]chat.UserGroup, error) {
	entries, err := s.client.ZRangeWithScores(ctx, s.keys.user(user).groups(), 0, int64(s.limits.UserGroupsMax)-1).Result()
	if broken(err) {
		entries, err = s.client.ZRangeWithScores(ctx, s.keys.user(user).groups(), 0, int64(s.limits.UserGroupsMax)-1).Result()
	}
	if err != nil {
		return nil, fail("index", err)
	}
	groups := make([]chat.UserGroup, len(entries))
	for i, e := range entries {
		name, _ := e.Member.(string)
		groups[i] = chat.UserGroup{Group: name, Seen: int64(e.Score)}
	}
	return groups, nil
}

// AddUserGroups puts group into the index of users and signals joined to each who did not have it there. Where an
// index is full the group is left out of it: the member reads it by its name.
func (s *Store) AddUserGroups(ctx context.Context, users []string, group string, seen int64) error {
	calls := make([]call, len(users))
	for i, user := range users {
		k := s.keys.user(user)
		calls[i] = call{indexAddScript, []string{k.groups()}, []any{group, seen, s.limits.UserGroupsMax, k.channel()}}
	}
	replies, errs, err := s.runAll(ctx, calls)
	if err != nil {
		return err
	}
	for i, r := range replies {
		if errs[i] != nil {
			return errs[i]
		}
		if r.number(1) < 0 {
			s.log.Warn("the index of a user is full", "user", users[i], "group", group)
		}
	}
	return nil
}

// DropUserGroup takes a group out of the index and signals left if it was there.
func (s *Store) DropUserGroup(ctx context.Context, user, group string) error {
	k := s.keys.user(user)
	_, err := s.runSafe(ctx, call{indexDropScript, []string{k.groups()}, []any{group, k.channel()}})
	return err
}

// HintSeen raises the hints of a user, for groups that are in the index.
func (s *Store) HintSeen(ctx context.Context, user string, seen []chat.UserGroup) error {
	for len(seen) > 0 {
		n := min(len(seen), rangeBatch)
		args := make([]any, 0, 2*n)
		for _, g := range seen[:n] {
			args = append(args, g.Seen, g.Group)
		}
		if _, err := s.runSafe(ctx, call{indexHintScript, []string{s.keys.user(user).groups()}, args}); err != nil {
			return err
		}
		seen = seen[n:]
	}
	return nil
}
