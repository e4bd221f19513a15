package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/queue"
	"github.com/chatd/chatd/store/layout"
)

var (
	inboxScript     = newReader("inbox", userNames)
	fixInboxScript  = newScript("fix_sender", userNames)
	fixDeviceScript = newScript("fix_device", userNames)
)

// user holds the keys of a user.
func (k keyspace) user(id string) userKeys {
	return userKeys{id, k.home(id), k.home(id) + "u:" + layout.KeyID(id) + ":"}
}

type userKeys struct{ id, part, base string }

var userNames = names(func(u userKeys) string { return u.part },
	layout.Names(layout.User, func(u userKeys) string { return strings.TrimSuffix(u.base, ":") }))

// userKey examines a key of a user.
func (d *Doctor) userKey(ctx context.Context, k key) error {
	u := d.keys.user(k.ID)
	switch k.Pattern {
	case "u:<id>:groups":
		d.report.Users++
		return d.index(ctx, u)
	case "u:<id>:inbox", "u:<id>:inbox:base":
		return d.inbox(ctx, u)
	case "u:<id>:inbox:sent:<user>":
		return d.inboxSender(ctx, u, k)
	case "u:<id>:inbox:senders":
		return d.listed(ctx, k, 1) // ms
	case "u:<id>:inbox:server", "u:<id>:inbox:by:<user>", "u:<id>:inbox:mentions:<user>":
		return d.seqs(ctx, u, k)
	case "u:<id>:strangers":
		return d.strangers(ctx, k)
	case "u:<id>:uploads", "u:<id>:files", "u:<id>:files:bytes":
		return d.quota(ctx, u)
	case "u:<id>:devices":
		return d.devices(ctx, u)
	default:
		return nil
	}
}

// inbox compares the items of an inbox with its begin and end.
func (d *Doctor) inbox(ctx context.Context, u userKeys) error {
	for from := int64(0); ; {
		r, err := d.run.do(ctx, inboxScript.On(u).Arg("from", from).Arg("limit", entriesStep))
		if err != nil {
			return err
		}
		for _, text := range r.Texts(1) {
			if err := d.found(ctx, Finding{Kind: KindInbox, Key: u.base + "inbox:base", Message: text}); err != nil {
				return err
			}
		}
		if from = r.Number(0); from == 0 {
			return nil
		}
	}
}

// inboxSender examines the retry keys of a sender of items: the list of senders decides when they are removed.
func (d *Doctor) inboxSender(ctx context.Context, u userKeys, k key) error {
	err := d.store.Client().ZScore(ctx, u.base+"inbox:senders", k.About).Err()
	if !errors.Is(err, redis.Nil) {
		return err
	}
	types, err := d.types(ctx, []string{k.name})
	if err != nil || types[0] == "none" {
		return err
	}
	return d.found(ctx, Finding{Kind: KindOrphan, Key: k.name, Message: "belongs to a user who is not in inbox:senders, so it would never be removed",
		Repair: "add the user to inbox:senders", fix: func(ctx context.Context) error {
			_, err := d.run.do(ctx, fixInboxScript.On(u).Key("own", k.name).Arg("user", k.About))
			return err
		}})
}

// devices checks that a user with devices is on the list of those who can be notified.
func (d *Doctor) devices(ctx context.Context, u userKeys) error {
	var has *redis.IntCmd
	var listed *redis.BoolCmd
	err := d.instant(ctx, func(pipe redis.Pipeliner) {
		has, listed = pipe.Exists(ctx, u.base+"devices"), pipe.SIsMember(ctx, u.part+"reachable", u.id)
	})
	if err != nil {
		return err
	}
	if has.Val() == 0 || listed.Val() {
		return nil
	}
	return d.found(ctx, Finding{Kind: KindOrphan, Key: u.base + "devices", Message: "belongs to a user who is not in reachable, so these devices get no notifications",
		Repair: "add the user to reachable", fix: func(ctx context.Context) error {
			_, err := d.run.do(ctx, fixDeviceScript.On(u).Arg("user", u.id))
			return err
		}})
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
func (d *Doctor) side(ctx context.Context, user, group string) (s drift, err error) {
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
func (d *Doctor) suspect(ctx context.Context, user, group string) error {
	var s drift
	for range suspectTries {
		waits, known, err := d.waits(ctx, user, group)
		if err != nil {
			return err
		}
		if !known {
			return d.tooMany(ctx, group)
		}
		if s, err = d.side(ctx, user, group); err != nil || waits || s.message == "" {
			return err
		}
	}
	return d.found(ctx, Finding{Kind: KindIndex, Key: s.key, Message: s.message, Repair: "correct the index from the group",
		fix: func(ctx context.Context) error { return d.settle(ctx, user, group) }})
}

// settle does what the task of a membership does: the last to write has also read last.
func (d *Doctor) settle(ctx context.Context, user, group string) error {
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

// waits reports whether a task is waiting that updates a user's entry for a group in the index. known: that could be
// determined.
func (d *Doctor) waits(ctx context.Context, user, group string) (waits, known bool, err error) {
	return d.waiting(ctx, func(info queue.Info) bool { return settles(info, user, group) })
}

// waiting reports whether a wanted task is waiting or running. known: that could be determined.
func (d *Doctor) waiting(ctx context.Context, wanted func(queue.Info) bool) (waits, known bool, err error) {
	read := 0
	// Twice: a task may return to a state that was read before.
	for _, state := range []queue.State{queue.Delayed, queue.Ready, queue.Leased, queue.Delayed, queue.Ready, queue.Leased} {
		for cursor := ""; ; {
			infos, next, err := d.core.List(ctx, queue.ListQuery{State: state, Cursor: cursor, Limit: keysStep})
			if err != nil {
				return false, false, err
			}
			if slices.ContainsFunc(infos, wanted) {
				return true, true, nil
			}
			if read += len(infos); read > pendingMax {
				return false, false, nil
			}
			if cursor = next; next == "" {
				break
			}
		}
	}
	return false, true, nil
}

func settles(info queue.Info, user, group string) bool {
	var p struct {
		Group string   `json:"group"`
		Users []string `json:"users"`
	}
	if info.Kind != chat.TaskMember && info.Kind != chat.TaskCleanup || json.Unmarshal(info.Payload, &p) != nil {
		return false
	}
	return p.Group == group && (info.Kind == chat.TaskCleanup || slices.Contains(p.Users, user))
}

// index examines every group in the index of a user.
func (d *Doctor) index(ctx context.Context, u userKeys) error {
	for from := int64(0); ; from += entriesStep {
		entries, err := d.store.Client().ZRangeWithScores(ctx, u.base+"groups", from, from+entriesStep-1).Result()
		if err != nil {
			return err
		}
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
		if len(entries) < entriesStep {
			return nil
		}
	}
}

// memberships checks that members have a group in their index: users are names and ids of joining, as members.lua
// returns them.
func (d *Doctor) memberships(ctx context.Context, g groupKeys, users []string) error {
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
