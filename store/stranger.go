package store

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

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

// claimStranger counts an item, once for its name, if its recipient has never used the server: Limits.StrangersBytesMax
// bounds what each sender has waiting with strangers. When the list is full, users who have used the server by now are taken off.
func (s *Inboxes) claimStranger(ctx context.Context, item chat.NewItem, name string) error {
	k := s.keys.user(item.From)
	claim := strangerClaimScript.On(k).Arg("to", item.To).Arg("item", shortHash(name)).Arg("bytes", len(item.Rest)+strangerItemBytes).
		Arg("bytes_max", s.limits.StrangersBytesMax)
	_, err := s.runSafe(ctx, claim)
	if !errors.Is(err, chat.ErrInboxFull) {
		return err
	}
	if err := s.acquaint(ctx, k); err != nil {
		return err
	}
	if _, err = s.runSafe(ctx, claim); errors.Is(err, chat.ErrInboxFull) {
		return errStrangersFull
	}
	return err
}

// acquaint takes users off a sender's list who have used the server by now.
func (s *Inboxes) acquaint(ctx context.Context, k userKeys) error {
	var list *redis.MapStringStringCmd
	if err := s.reads(ctx, func(pipe redis.Pipeliner) { list = pipe.HGetAll(ctx, k.strangers()) }); err != nil {
		return err
	}
	for some := range slices.Chunk(slices.Collect(maps.Keys(list.Val())), rangeBatch) {
		users := make([]string, len(some))
		for i, field := range some {
			users[i], _, _ = strings.Cut(field, " ")
		}
		unknown, err := s.strangers(ctx, users)
		if err != nil {
			return err
		}
		var known []string
		for i, field := range some {
			if !unknown[i] {
				known = append(known, field)
			}
		}
		if len(known) == 0 {
			continue
		}
		if _, err := s.runSafe(ctx, strangerForgetScript.On(k).List("fields", known)); err != nil {
			return err
		}
	}
	return nil
}

// strangers tells which of users have never used the server.
func (s *Inboxes) strangers(ctx context.Context, users []string) ([]bool, error) {
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
		// A missing score is an error too, and the pipeline returns only the first.
		if err := unused[i].Err(); err != nil {
			return nil, fail("strangers", err)
		}
		out[i] = errors.Is(listed[i].Err(), redis.Nil) || unused[i].Val()
	}
	return out, nil
}
