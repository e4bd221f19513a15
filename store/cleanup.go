package store

import (
	"context"
	"strings"

	"github.com/chatd/chatd/chat"
)

var cleanupScript = newFreeing("cleanup/users", groupNames)

// Gone names users of a deleted group whose keys still exist, and whose index may still contain it: as many as one step of
// Cleanup takes. They stay on the lists until Cleanup takes them off, so nobody is left out if a node dies in between.
func (s *Groups) Gone(ctx context.Context, group string) ([]string, error) {
	k := s.keys.group(group)
	for _, list := range []string{k.goneMembers(), k.goneSenders()} {
		users, err := s.conn.Client().ZRange(ctx, list, 0, rangeBatch-1).Result()
		if err != nil {
			return nil, fail("gone", err)
		}
		if len(users) > 0 {
			return users, nil
		}
	}
	return nil, nil
}

// Cleanup removes what users, named by Gone, left behind in a deleted group. Two nodes may do it at the same time: users who
// are off the lists already are skipped.
func (s *Groups) Cleanup(ctx context.Context, group string, users []string) (more bool, err error) {
	if len(users) > rangeBatch {
		return false, chat.Errorf(chat.CodeOutOfRange, "users: at most %d in one step", rangeBatch)
	}
	k := s.keys.group(group)
	c := cleanupScript.Sized(k, 3*len(users)).List("users", users)
	for _, user := range users {
		c = c.More("left", "sent", k.sent(user), "by", k.by(user), "at", k.at(user))
	}
	r, err := s.runSafe(ctx, c)
	return r.number(1) == 1, err
}

// GroupIDs names groups of the store, page by page: cursor is 0 for the first page, and next is 0 behind the last. A group that
// exists all the while is named at least once. The server gets no pattern: a prefix may hold what patterns give a meaning.
func (s *Groups) GroupIDs(ctx context.Context, cursor uint64) (groups []string, next uint64, err error) {
	keys, next, err := s.conn.NextKeys(ctx, cursor, rangeBatch)
	if err != nil {
		return nil, 0, fail("scan", err)
	}
	for _, key := range keys {
		base, isMeta := strings.CutSuffix(key, ":meta")
		if id, _, ok := s.keys.followed(base); ok && isMeta && id != "" {
			groups = append(groups, id)
		}
	}
	return groups, next, nil
}
