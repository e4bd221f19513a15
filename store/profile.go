package store

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/profiles"
)

var _ profiles.Store = (*Store)(nil)

var (
	profilePutScript = newScript("profile/put", userNames)
	seenScript       = newScript("profile/seen", partNames)
)

// Profiles are what users show of themselves.
type Profiles struct {
	*base
}

// ReadProfiles reads the profiles of users.
func (s *Profiles) ReadProfiles(ctx context.Context, users []string) ([]profiles.Stored, error) {
	found := make([]profiles.Stored, 0, len(users))
	for some := range slices.Chunk(users, pipelineMax) {
		fields := make([]*redis.SliceCmd, len(some))
		err := s.reads(ctx, func(pipe redis.Pipeliner) {
			for i, user := range some {
				fields[i] = pipe.HMGet(ctx, s.keys.user(user).profile(), "version", "text")
			}
		})
		if err != nil {
			return nil, err
		}
		for _, f := range fields {
			found = append(found, profiles.Stored{Version: number(asText(f.Val(), 0)), Text: asText(f.Val(), 1)})
		}
	}
	return found, nil
}

// asText is a field of HMGET, empty where it is missing.
func asText(values []any, i int) string {
	if i >= len(values) {
		return ""
	}
	text, _ := values[i].(string)
	return text
}

// ReadProfile reads the profile of a user with the settings.
func (s *Profiles) ReadProfile(ctx context.Context, user string) (profiles.Stored, error) {
	var fields *redis.SliceCmd
	err := s.reads(ctx, func(pipe redis.Pipeliner) {
		fields = pipe.HMGet(ctx, s.keys.user(user).profile(), "version", "text", "settings")
	})
	if err != nil {
		return profiles.Stored{}, err
	}
	f := fields.Val()
	return profiles.Stored{Version: number(asText(f, 0)), Text: asText(f, 1), Settings: asText(f, 2)}, nil
}

// PutProfiles writes each profile in the place of the one that was read.
func (s *Profiles) PutProfiles(ctx context.Context, writes []profiles.Write) (versions []int64, errs []error, err error) {
	calls := make([]call, len(writes))
	for i, w := range writes {
		calls[i] = profilePutScript.On(s.keys.user(w.User)).Arg("user", w.User).Arg("revision", w.Version).Arg("text", w.Text).
			Arg("with_settings", w.WithSettings).Arg("settings", w.Settings).Arg("avatar_id", w.AvatarID).Arg("hides", w.Hides).Arg("channel", s.keys.user(w.User).channel())
		var a profiles.Avatar
		if w.Avatar != nil {
			a = *w.Avatar
		}
		calls[i] = calls[i].Arg("avatar_type", a.Type).Arg("avatar_content", a.Content).List("words", w.Words)
	}
	replies, errs, err := s.runAll(ctx, calls)
	if err != nil {
		return nil, nil, err
	}
	versions = make([]int64, len(writes))
	for i, r := range replies {
		versions[i] = r.number(1)
	}
	return versions, errs, nil
}

// NewAvatarID makes an id for an avatar: random, and behind it the partition of the user, so that the id leads there.
func (s *Profiles) NewAvatarID(user string) string {
	return fmt.Sprintf("%s-%d", rand.Text(), s.keys.partition(user))
}

// ReadAvatar reads an avatar by its id. Those that came from a store with another number of partitions are not where their ids say.
func (s *Profiles) ReadAvatar(ctx context.Context, id string) (profiles.Avatar, error) {
	var owner string
	var err error
	named, ok := s.partitionIn(id)
	if ok {
		owner, err = s.avatarOwner(ctx, id, []*partKeys{named})
	}
	if err == nil && owner == "" && (!ok || s.partitions() > 1) {
		owner, err = s.avatarOwner(ctx, id, s.keys.partitions)
	}
	if err != nil {
		return profiles.Avatar{}, err
	}
	if owner == "" {
		return profiles.Avatar{}, chat.ErrNotFound
	}
	var fields *redis.SliceCmd
	err = s.reads(ctx, func(pipe redis.Pipeliner) {
		fields = pipe.HMGet(ctx, s.keys.user(owner).avatar(), "id", "type", "content")
	})
	if err != nil {
		return profiles.Avatar{}, err
	}
	f := fields.Val()
	if asText(f, 0) != id { // it was replaced just now
		return profiles.Avatar{}, chat.ErrNotFound
	}
	return profiles.Avatar{Type: asText(f, 1), Content: []byte(asText(f, 2))}, nil
}

// avatarOwner looks in some partitions for whose an avatar is; empty: nobody's.
func (s *Profiles) avatarOwner(ctx context.Context, id string, in []*partKeys) (owner string, err error) {
	found := make([]*redis.StringCmd, len(in))
	err = s.reads(ctx, func(pipe redis.Pipeliner) {
		for i, p := range in {
			found[i] = pipe.HGet(ctx, p.avatars(), id)
		}
	})
	for _, cmd := range found {
		if err == nil && cmd.Val() != "" {
			owner = cmd.Val()
		}
	}
	return owner, err
}

// FindUsers finds entries of the index of names and of the list of known users.
func (s *Profiles) FindUsers(ctx context.Context, folded, exact, after string, limit int) ([]profiles.Found, error) {
	names, known := make([]*redis.StringSliceCmd, s.partitions()), make([]*redis.StringSliceCmd, s.partitions())
	word, _, _ := strings.Cut(after, "\x00")
	err := s.reads(ctx, func(pipe redis.Pipeliner) {
		for p := range s.partitions() {
			k := s.keys.part(p)
			names[p] = pipe.ZRangeByLex(ctx, k.names(), beginning(folded, after, "(", limit))
			known[p] = pipe.ZRangeByLex(ctx, k.users(), beginning(exact, word, "[", limit+1))
		}
	})
	if err != nil {
		return nil, err
	}
	var found []profiles.Found
	for p := range s.partitions() {
		for _, entry := range names[p].Val() {
			word, user, _ := strings.Cut(entry, "\x00")
			found = append(found, profiles.Found{Word: word, User: user})
		}
		for _, user := range known[p].Val() {
			if one := (profiles.Found{Word: user, User: user, Bare: true}); one.Key() > after {
				found = append(found, one)
			}
		}
	}
	slices.SortFunc(found, func(a, b profiles.Found) int { return cmp.Or(cmp.Compare(a.Key(), b.Key()), order(a.Bare, b.Bare)) })
	return found[:min(len(found), limit)], nil
}

// order has false come before true.
func order(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// beginning is the range of members that begin with a text, from one behind it on; open says whether that counts.
func beginning(text, from, open string, limit int) *redis.ZRangeBy {
	low := "[" + text
	if from > text {
		low = open + from
	}
	return &redis.ZRangeBy{Min: low, Max: "(" + text + "\xff", Count: int64(limit)}
}

// KnownUsers tells of each user whether the server has ever known them.
func (s *Profiles) KnownUsers(ctx context.Context, users []string) ([]bool, error) {
	return exist(ctx, s.base, users, func(pipe redis.Pipeliner, user string) redis.Cmder {
		return pipe.ZScore(ctx, s.keys.home(user).users(), user)
	})
}

// AreMembers tells of each user whether they are in the group.
func (s *Profiles) AreMembers(ctx context.Context, asked []profiles.Membership) ([]bool, error) {
	return exist(ctx, s.base, asked, func(pipe redis.Pipeliner, m profiles.Membership) redis.Cmder {
		return pipe.HGet(ctx, s.keys.group(m.Group).members(), m.User)
	})
}

// SawUsers notes when users were seen, one step for each 500 of a partition.
func (s *Profiles) SawUsers(ctx context.Context, at map[string]int64) error {
	var calls []call
	for p, here := range s.byPartition(slices.Sorted(maps.Keys(at))) {
		for some := range slices.Chunk(here, rangeBatch) {
			c := seenScript.Sized(s.keys.part(p), 2*len(some))
			for _, user := range some {
				c = c.MoreArgs("noted", "user", user, "seen_ms", at[user])
			}
			calls = append(calls, c)
		}
	}
	_, errs, err := s.runAll(ctx, calls)
	return cmp.Or(err, firstError(errs))
}

// Hidden tells whether a user hides where they are.
func (s *Profiles) Hidden(ctx context.Context, user string) (bool, error) {
	var is *redis.BoolCmd
	if err := s.reads(ctx, func(pipe redis.Pipeliner) { is = pipe.SIsMember(ctx, s.keys.home(user).hidden(), user) }); err != nil {
		return false, err
	}
	return is.Val(), nil
}

// LastSeen tells of each user when they were last seen: now where they have a session, 0 where nobody knows.
func (s *Profiles) LastSeen(ctx context.Context, users []string) ([]int64, error) {
	calls := make([]call, len(users))
	for i, user := range users {
		calls[i] = nodesScript.On(s.keys.home(user)).Arg("user", user)
	}
	replies, err := s.runReads(ctx, calls)
	if err != nil {
		return nil, err
	}
	noted := make([]*redis.FloatCmd, len(users))
	if err := s.reads(ctx, func(pipe redis.Pipeliner) {
		for i, user := range users {
			noted[i] = pipe.ZScore(ctx, s.keys.home(user).lastSeen(), user)
		}
	}); err != nil {
		return nil, err
	}
	now := time.Now().UnixMilli()
	seen := make([]int64, len(users))
	for i, r := range replies {
		if seen[i] = int64(noted[i].Val()); len(r) > 1 {
			seen[i] = now
		}
	}
	return seen, nil
}

// exist tells of each item whether the read of it finds something, in few round trips.
func exist[T any](ctx context.Context, s *base, items []T, read func(redis.Pipeliner, T) redis.Cmder) ([]bool, error) {
	found := make([]bool, 0, len(items))
	for some := range slices.Chunk(items, pipelineMax) {
		cmds := make([]redis.Cmder, len(some))
		err := s.reads(ctx, func(pipe redis.Pipeliner) {
			for i, item := range some {
				cmds[i] = read(pipe, item)
			}
		})
		if err != nil {
			return nil, err
		}
		for _, cmd := range cmds {
			found = append(found, cmd.Err() == nil)
		}
	}
	return found, nil
}

// Acquaintances reads the groups of by and of each of users, from their indexes, and who of users sent an item that is in the inbox of
// by, or the other way round.
func (s *Profiles) Acquaintances(ctx context.Context, by string, users []string) (own []string, others []profiles.Acquaintance, err error) {
	var mine *redis.StringSliceCmd
	groups := make([]*redis.StringSliceCmd, len(users))
	to, from := make([]*redis.FloatCmd, len(users)), make([]*redis.FloatCmd, len(users))
	me := s.keys.user(by)
	err = s.reads(ctx, func(pipe redis.Pipeliner) {
		mine = pipe.ZRange(ctx, me.groups(), 0, s.indexMax()-1)
		for i, user := range users {
			k := s.keys.user(user)
			groups[i] = pipe.ZRange(ctx, k.groups(), 0, s.indexMax()-1)
			from[i], to[i] = pipe.ZScore(ctx, me.inboxSenders(), user), pipe.ZScore(ctx, k.inboxSenders(), by)
		}
	})
	if err != nil {
		return nil, nil, err
	}
	others = make([]profiles.Acquaintance, len(users))
	for i := range users {
		others[i] = profiles.Acquaintance{Groups: groups[i].Val(), Wrote: from[i].Err() == nil || to[i].Err() == nil}
	}
	return mine.Val(), others, nil
}
