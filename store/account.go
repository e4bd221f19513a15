package store

import (
	"context"

	"github.com/redis/go-redis/v9"
)

var accountPutScript = newScript("account/put", userNames)

// Accounts are the records of users who sign in here.
type Accounts struct {
	*base
}

// Account reads the record of a user; empty: there is none.
func (s *Accounts) Account(ctx context.Context, user string) (string, error) {
	var found *redis.StringCmd
	err := s.reads(ctx, func(pipe redis.Pipeliner) { found = pipe.Get(ctx, s.keys.user(user).account()) })
	if err != nil {
		return "", err
	}
	return found.Val(), nil
}

// PutAccount replaces the record of a user in the place of the one that was read.
func (s *Accounts) PutAccount(ctx context.Context, user, before, after string, fresh bool) error {
	return s.doSafe(ctx, accountPutScript.On(s.keys.user(user)).Arg("user", user).Arg("before", before).Arg("after", after).Arg("fresh", flag(fresh)))
}
