package store

import (
	"context"
	"slices"

	"github.com/redis/go-redis/v9"

	"github.com/chatd/chatd/chat/audit"
)

var accountPutScript = newScript("account/put", userNames)

// Accounts are the records of users who sign in here.
type Accounts struct {
	*base
}

// Account reads the record of a user; empty: there is none.
func (s *Accounts) Account(ctx context.Context, user string) (string, error) {
	texts, err := s.AccountsOf(ctx, []string{user})
	if err != nil {
		return "", err
	}
	return texts[0], nil
}

// PutAccount replaces the record of a user in the place of the one that was read.
func (s *Accounts) PutAccount(ctx context.Context, user, before, after string, fresh bool, note audit.Entry) error {
	return s.doSafe(ctx, s.noted(accountPutScript.On(s.keys.user(user)).Arg("user", user).Arg("before", before).Arg("after", after).Arg("fresh", flag(fresh)), note))
}

// AccountsOf reads the records of users, in their order.
func (s *Accounts) AccountsOf(ctx context.Context, users []string) ([]string, error) {
	texts := make([]string, 0, len(users))
	for chunk := range slices.Chunk(users, pipelineMax) {
		var found []*redis.StringCmd
		err := s.reads(ctx, func(pipe redis.Pipeliner) {
			found = found[:0]
			for _, user := range chunk {
				found = append(found, pipe.Get(ctx, s.keys.user(user).account()))
			}
		})
		if err != nil {
			return nil, err
		}
		for _, text := range found {
			texts = append(texts, text.Val())
		}
	}
	return texts, nil
}
