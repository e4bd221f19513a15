package store

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"

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

// DraftsAfter reads drafts of a user, by group.
func (s *Drafts) DraftsAfter(ctx context.Context, user, after string, in func(group string) bool, limit int) ([]drafts.Kept, error) {
	var names *redis.StringSliceCmd
	err := s.reads(ctx, func(pipe redis.Pipeliner) { names = pipe.HKeys(ctx, s.keys.user(user).drafts()) })
	if err != nil {
		return nil, err
	}
	groups := slices.DeleteFunc(names.Val(), func(group string) bool { return group <= after || !in(group) })
	slices.Sort(groups)
	return s.DraftsIn(ctx, user, groups[:min(limit, len(groups))]...)
}

// DraftsIn reads drafts in some groups: what draft/put writes, epoch, revision and JSON.
func (s *Drafts) DraftsIn(ctx context.Context, user string, groups ...string) ([]drafts.Kept, error) {
	if len(groups) == 0 {
		return nil, nil
	}
	var texts *redis.SliceCmd
	err := s.reads(ctx, func(pipe redis.Pipeliner) { texts = pipe.HMGet(ctx, s.keys.user(user).drafts(), groups...) })
	if err != nil {
		return nil, err
	}
	list := make([]drafts.Kept, len(groups))
	for i, group := range groups {
		text, _ := texts.Val()[i].(string)
		epoch, rest, _ := strings.Cut(text, " ")
		_, draft, _ := strings.Cut(rest, " ")
		list[i] = drafts.Kept{Group: group, Epoch: epoch, JSON: json.RawMessage(draft)}
	}
	return list, nil
}
