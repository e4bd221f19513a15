package store

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/drafts"
)

var _ drafts.Store = (*Store)(nil)

var (
	draftPutScript  = newScript("draft/put", userNames)
	draftDropScript = newFreeing("draft/drop", userNames)
)

// Drafts are what users have begun to write.
type Drafts struct {
	*base
}

// PutDraft keeps what user has begun to write in a group.
func (s *Drafts) PutDraft(ctx context.Context, user string, d drafts.Kept, rev int64) error {
	k := s.keys.user(user)
	return s.doSafe(ctx, draftPutScript.On(k).Arg("group", d.Group).Arg("epoch", d.Epoch).Arg("rev", rev).Arg("draft", string(d.JSON)).
		Arg("drafts_max", s.limits.UserDraftsMax).Arg("channel", k.channel()))
}

// DropDraft forgets it.
func (s *Drafts) DropDraft(ctx context.Context, user, group string) error {
	k := s.keys.user(user)
	return s.doSafe(ctx, draftDropScript.On(k).Arg("group", group).Arg("channel", k.channel()))
}

// Draft reads what user has begun to write in a group.
func (s *Drafts) Draft(ctx context.Context, user, group string) (drafts.Kept, error) {
	var has *redis.StringCmd
	err := s.reads(ctx, func(pipe redis.Pipeliner) { has = pipe.HGet(ctx, s.keys.user(user).drafts(), group) })
	if errors.Is(err, redis.Nil) || err == nil && errors.Is(has.Err(), redis.Nil) {
		return drafts.Kept{}, chat.ErrNotFound
	}
	if err := has.Err(); err != nil {
		return drafts.Kept{}, fail("drafts", err)
	}
	return asDraft(group, has.Val()), nil
}

// DraftsOf reads all drafts of a user, by group.
func (s *Drafts) DraftsOf(ctx context.Context, user string) ([]drafts.Kept, error) {
	var all *redis.MapStringStringCmd
	err := s.reads(ctx, func(pipe redis.Pipeliner) { all = pipe.HGetAll(ctx, s.keys.user(user).drafts()) })
	if err != nil {
		return nil, err
	}
	list := make([]drafts.Kept, 0, len(all.Val()))
	for group, text := range all.Val() {
		list = append(list, asDraft(group, text))
	}
	slices.SortFunc(list, func(a, b drafts.Kept) int { return strings.Compare(a.Group, b.Group) })
	return list, nil
}

// asDraft reads a draft as draft/put writes it: epoch, revision, JSON.
func asDraft(group, text string) drafts.Kept {
	epoch, rest, _ := strings.Cut(text, " ")
	_, draft, _ := strings.Cut(rest, " ")
	return drafts.Kept{Group: group, Epoch: epoch, JSON: json.RawMessage(draft)}
}
