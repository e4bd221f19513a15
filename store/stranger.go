package store

import (
	"context"
	"errors"
	"slices"

	"github.com/redis/go-redis/v9"

	"github.com/chatd/chatd/chat"
)

var (
	strangerClaimScript  = newScript("stranger/claim", userNames)
	strangerForgetScript = newScript("stranger/forget", userNames)
)

// strangerItemBytes is what an item for a stranger counts besides its own bytes: about what the keys of a new inbox take.
const strangerItemBytes = 1024

// errStranger is the refusal of an item for a user who has never used the server.
var errStranger = errors.New("store: the user has never used the server")

// errStrangersFull is the refusal where a sender has too much waiting with such users.
var errStrangersFull = &chat.Error{Code: chat.CodeInboxFull, Message: "too much of yours waits for users who never signed in"}

// ClaimStranger counts an item of so many bytes by sender, where to has never used the server: what strangers were sent is
// bounded for each sender, by Limits.StrangersBytesMax. Users who use it by now are taken off the list once it is full.
func (s *Store) ClaimStranger(ctx context.Context, sender, to string, bytes int) error {
	unknown, err := s.strangers(ctx, []string{to})
	if err != nil || !unknown[0] {
		return err
	}
	return s.claimStranger(ctx, sender, to, bytes)
}

func (s *Store) claimStranger(ctx context.Context, sender, to string, bytes int) error {
	k := s.keys.user(sender)
	claim := strangerClaimScript.On(k).Arg("to", to).Arg("bytes", bytes+strangerItemBytes).Arg("bytes_max", s.limits.StrangersBytesMax)
	_, err := s.run(ctx, claim)
	if !errors.Is(err, chat.ErrInboxFull) {
		return err
	}
	if err := s.acquaint(ctx, k); err != nil {
		return err
	}
	if _, err = s.run(ctx, claim); errors.Is(err, chat.ErrInboxFull) {
		return errStrangersFull
	}
	return err
}

// acquaint takes those off a sender's list who use the server by now.
func (s *Store) acquaint(ctx context.Context, k userKeys) error {
	var list *redis.MapStringStringCmd
	if err := s.reads(ctx, func(pipe redis.Pipeliner) { list = pipe.HGetAll(ctx, k.strangers()) }); err != nil {
		return err
	}
	users := make([]string, 0, len(list.Val()))
	for user := range list.Val() {
		users = append(users, user)
	}
	for some := range slices.Chunk(users, rangeBatch) {
		unknown, err := s.strangers(ctx, some)
		if err != nil {
			return err
		}
		var known []string
		for i, user := range some {
			if !unknown[i] {
				known = append(known, user)
			}
		}
		if len(known) == 0 {
			continue
		}
		if _, err := s.runSafe(ctx, strangerForgetScript.On(k).List("names", known)); err != nil {
			return err
		}
	}
	return nil
}

// strangers tells which of users have never used the server.
func (s *Store) strangers(ctx context.Context, users []string) ([]bool, error) {
	listed, unused := make([]*redis.FloatCmd, len(users)), make([]*redis.BoolCmd, len(users))
	err := s.reads(ctx, func(pipe redis.Pipeliner) {
		for i, user := range users {
			p := s.keys.home(user)
			listed[i], unused[i] = pipe.ZScore(ctx, p.users(), user), pipe.SIsMember(ctx, p.unused(), user)
		}
	})
	if err != nil {
		return nil, err
	}
	out := make([]bool, len(users))
	for i := range users {
		// A score that is not there is an error too, the first of which is all that the pipeline says.
		if err := unused[i].Err(); err != nil {
			return nil, fail("strangers", err)
		}
		out[i] = errors.Is(listed[i].Err(), redis.Nil) || unused[i].Val()
	}
	return out, nil
}
