package doctor

import (
	"context"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"

	"github.com/chatd/chatd/chat"
)

// indexes compares the indexes of users with the groups.
type indexes struct {
	*exam
	tasks *taskList
}

// drift is a difference between the index of a user and a group.
type drift struct {
	user, group string
	key         string
	message     string
	index       bool // the index has the group
	member      bool // the group has the user
	invited     bool // the index says that someone else added the user
	seen, hint  int64
}

// hintOf parses a score of an index: the highest id seen, or -1 minus that if someone else added the user.
func hintOf(score float64) (seen int64, invited bool) {
	if score < 0 {
		return int64(-1 - score), true
	}
	return int64(score), false
}

// side reads how a user and a group see each other: the index first. A hint is never ahead of what was seen by then.
func (d *indexes) side(ctx context.Context, user, group string) (s drift, err error) {
	g, u := d.keys.group(group), d.keys.user(user)
	s = drift{user: user, group: group, key: u.base + "groups"}
	client := d.store.Client()
	hint, err := client.ZScore(ctx, s.key, group).Result()
	if err != nil && !errors.Is(err, redis.Nil) {
		return s, err
	}
	s.index = err == nil
	s.hint, s.invited = hintOf(hint)
	var member *redis.BoolCmd
	var seen *redis.FloatCmd
	err = d.instant(ctx, func(pipe redis.Pipeliner) {
		member, seen = pipe.HExists(ctx, g.base+"members", user), pipe.ZScore(ctx, g.base+"seen", user)
	})
	if err != nil {
		return s, err
	}
	s.member, s.seen = member.Val(), int64(seen.Val())
	switch {
	case s.index && !s.member:
		s.message = "lists group " + group + ", which the user is not a member of"
	case s.member && !s.index:
		full, err := client.ZCard(ctx, s.key).Result()
		if err != nil || full >= int64(d.opt.UserGroupsMax) {
			return s, err
		}
		s.message = "lacks group " + group + ", which the user is a member of"
	case s.index && seen.Err() == nil && s.hint > s.seen:
		s.message = fmt.Sprintf("says that the user has seen group %s up to %d, but it is %d", group, s.hint, s.seen)
	}
	return s, nil
}

// suspect checks a difference repeatedly: it is a finding if it stays although no task is waiting to settle it.
func (d *indexes) suspect(ctx context.Context, user, group string) error {
	var s drift
	for range suspectTries {
		waits, known, err := d.tasks.waits(ctx, user, group)
		if err != nil {
			return err
		}
		if !known {
			return d.tasks.tooMany(ctx, group)
		}
		if s, err = d.side(ctx, user, group); err != nil || waits || s.message == "" {
			return err
		}
	}
	return d.found(ctx, Finding{Kind: KindIndex, Key: s.key, Message: s.message, Repair: "correct the index from the group",
		fix: func(ctx context.Context) error { return d.settle(ctx, user, group) }})
}

// settle does what the task of a membership does: the last to write has also read last.
func (d *indexes) settle(ctx context.Context, user, group string) error {
	for range suspectTries {
		s, err := d.side(ctx, user, group)
		if err != nil || s.message == "" {
			return err
		}
		if s.member {
			err = d.store.AddUserGroups(ctx, []string{user}, chat.UserGroup{Group: group, Seen: s.seen, Invited: s.invited})
		} else {
			err = d.store.DropUserGroup(ctx, user, group)
		}
		if err != nil {
			return err
		}
	}
	return errors.New("the membership keeps changing")
}

// index examines every group in the index of a user.
func (d *indexes) index(ctx context.Context, u userKeys) error {
	return ranges(func(from, to int64) ([]redis.Z, error) {
		return d.store.Client().ZRangeWithScores(ctx, u.base+"groups", from, to).Result()
	}, func(entries []redis.Z) error {
		pipe := d.store.Client().Pipeline()
		members, seen := make([]*redis.BoolCmd, len(entries)), make([]*redis.FloatCmd, len(entries))
		for i, e := range entries {
			g := d.keys.group(fmt.Sprint(e.Member))
			members[i], seen[i] = pipe.HExists(ctx, g.base+"members", u.id), pipe.ZScore(ctx, g.base+"seen", u.id)
		}
		if _, err := pipe.Exec(ctx); err != nil && len(entries) > 0 && !errors.Is(err, redis.Nil) {
			return err
		}
		for i, e := range entries {
			if hint, _ := hintOf(e.Score); members[i].Val() && hint <= int64(seen[i].Val()) {
				continue
			}
			if err := d.suspect(ctx, u.id, fmt.Sprint(e.Member)); err != nil {
				return err
			}
		}
		return nil
	})
}

// memberships checks that members have a group in their index: users are names and ids of joining, as members.lua
// returns them.
func (d *indexes) memberships(ctx context.Context, g groupKeys, users []string) error {
	pipe := d.store.Client().Pipeline()
	var hints []*redis.FloatCmd
	for i := 0; i < len(users); i += 2 {
		hints = append(hints, pipe.ZScore(ctx, d.keys.user(users[i]).base+"groups", g.id))
	}
	if _, err := pipe.Exec(ctx); err != nil && len(hints) > 0 && !errors.Is(err, redis.Nil) {
		return err
	}
	for i, hint := range hints {
		if !errors.Is(hint.Err(), redis.Nil) {
			continue
		}
		if err := d.suspect(ctx, users[2*i], g.id); err != nil {
			return err
		}
	}
	return nil
}
