package store

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/store/conn"
)

var (
	indexAddScript  = newFreeing("index/add", userNames)
	indexDropScript = newFreeing("index/drop", userNames)
	indexHintScript = newFreeing("index/hint", userNames)

	indexClaimScript   = newScript("index/claim", userNames)
	indexReleaseScript = newFreeing("index/release", userNames)
)

// Index is which groups a user is in, as the user's own list says.
type Index struct {
	*base
	inboxes *Inboxes
}

// UserGroups returns the whole index of a user.
func (s *Index) UserGroups(ctx context.Context, user string) ([]chat.UserGroup, error) {
	entries, err := s.conn.Client().ZRangeWithScores(ctx, s.keys.user(user).groups(), 0, s.indexMax()-1).Result()
	if conn.Broken(err) {
		entries, err = s.conn.Client().ZRangeWithScores(ctx, s.keys.user(user).groups(), 0, s.indexMax()-1).Result()
	}
	if err != nil {
		return nil, fail("index", err)
	}
	return asUserGroups(entries), nil
}

// indexMax is how many groups an index may have: the user's own, and as many again that others added them to.
func (s *base) indexMax() int64 { return 2 * int64(s.limits.UserGroupsMax) }

func asUserGroups(entries []redis.Z) []chat.UserGroup {
	groups := make([]chat.UserGroup, len(entries))
	for i, e := range entries {
		name, _ := e.Member.(string)
		groups[i] = chat.UserGroup{Group: name, Seen: int64(e.Score)}
		if e.Score < 0 {
			groups[i].Seen, groups[i].Invited = -1-groups[i].Seen, true
		}
	}
	return groups
}

// Indexed reports for each user how many groups the index has, whether group is one of them, and whether they block by.
func (s *Index) Indexed(ctx context.Context, by, group string, users []string) ([]chat.Indexed, error) {
	all := make([]chat.Indexed, 0, len(users))
	for chunk := range slices.Chunk(users, pipelineMax/4) {
		counts, scores := make([]*redis.IntCmd, len(chunk)), make([]*redis.FloatCmd, len(chunk))
		invited, blocks := make([]*redis.IntCmd, len(chunk)), make([]*redis.FloatCmd, len(chunk))
		err := s.reads(ctx, func(pipe redis.Pipeliner) {
			for i, user := range chunk {
				counts[i] = pipe.ZCard(ctx, s.keys.user(user).groups())
				invited[i] = pipe.ZCount(ctx, s.keys.user(user).groups(), "-inf", "(0")
				scores[i] = pipe.ZScore(ctx, s.keys.user(user).groups(), group)
				if by != "" && by != user {
					blocks[i] = pipe.ZScore(ctx, s.keys.user(user).blocks(), by)
				}
			}
		})
		if err != nil {
			return nil, err
		}
		for i := range chunk {
			// A missing score is an error, too, and the pipeline only returns the first error.
			if err := cmp.Or(counts[i].Err(), invited[i].Err()); err != nil {
				return nil, fail("index", err)
			}
			all = append(all, chat.Indexed{Groups: counts[i].Val(), Invited: invited[i].Val(), Has: scores[i].Err() == nil,
				Blocks: blocks[i] != nil && blocks[i].Err() == nil})
		}
	}
	return all, nil
}

// Arrivals reads the index and the inbox of a user, and looks at groups, in one round trip. If that fails, it reads the index
// and the inbox one by one: each of the two handles its own errors.
func (s *Index) Arrivals(ctx context.Context, user string, of chat.Arriving) (chat.Arrivals, error) {
	k := s.keys.user(user)
	looks := make([]chat.Look, len(of.Groups))
	read := s.looks(user, of.Groups, of.At, looks)
	pipe := s.conn.Client().Pipeline()
	var ground func(context.Context) string
	if of.Grounded {
		ground = s.ground(ctx, pipe)
	}
	if of.NoIndex && ground == nil {
		return chat.Arrivals{}, nil
	}
	index := &redis.ZSliceCmd{}
	if !of.NoIndex {
		index = pipe.ZRangeWithScores(ctx, k.groups(), 0, s.indexMax()-1)
	}
	pull := s.inboxes.inboxPullCall(k, of.After, of.Limit).Send(ctx, pipe)
	cmds := make([]*redis.Cmd, len(read.calls))
	for i, c := range read.calls {
		cmds[i] = c.Send(ctx, pipe)
	}
	_, _ = pipe.Exec(ctx) // each has its own error, and the fence may fail alone
	err := cmp.Or(index.Err(), pull.Err())
	for _, cmd := range cmds {
		err = cmp.Or(err, cmd.Err())
	}
	stands := ""
	if ground != nil {
		stands = ground(ctx)
	}
	if err == nil {
		var r reply
		r, err = asReply(inboxPullScript.Name, pull.Val())
		for c := 0; c < len(cmds) && err == nil; c++ {
			var looked reply
			if looked, err = asReply(looksScript.Name, cmds[c].Val()); err == nil {
				read.answer(c, looked)
			}
		}
		if err == nil && r.text(1) != "" {
			return chat.Arrivals{Groups: asUserGroups(index.Val()), Inbox: asInboxBatch(r), Looks: looks, Ground: stands}, nil
		}
	}
	if of.NoIndex {
		return chat.Arrivals{}, nil
	}
	listed, err := s.UserGroups(ctx, user)
	if err != nil {
		return chat.Arrivals{}, err
	}
	inbox, err := s.inboxes.InboxPull(ctx, user, of.After, of.Limit)
	return chat.Arrivals{Groups: listed, Inbox: inbox}, err
}

// ground asks, before what it is about is read, where the signals of this node come from. The function that it returns says so
// afterwards: see chat.Arrivals. nil: that cannot be known.
func (s *Index) ground(ctx context.Context, pipe redis.Pipeliner) func(context.Context) string {
	wait := conn.QueueFence(ctx, s.conn, pipe)
	if wait == nil {
		return nil
	}
	life := pipe.HGet(ctx, s.keys.part(0).layout(), "life")
	return func(ctx context.Context) string {
		if replication := wait(ctx); replication != "" && life.Val() != "" {
			return life.Val() + " " + replication
		}
		return ""
	}
}

// AddUserGroups puts group into the index of users and signals joined to each. A hint above seen is lowered: it belongs to an
// earlier membership. If an index is full, the group is left out: the member can still read it by its name. It is not added for those
// who block g.By.
func (s *Index) AddUserGroups(ctx context.Context, users []string, g chat.UserGroup) error {
	score := g.Seen
	if g.Invited {
		score = -1 - g.Seen
	}
	calls := make([]call, len(users))
	for i, user := range users {
		k := s.keys.user(user)
		calls[i] = indexAddScript.On(k).Arg("group", g.Group).Arg("seen", score).Arg("groups_max", s.limits.UserGroupsMax).
			Arg("channel", k.channel()).Arg("user", user).Arg("by", g.By)
	}
	replies, errs, err := s.runAll(ctx, calls)
	if err != nil {
		return err
	}
	var blocked error
	for i, r := range replies {
		if errors.Is(errs[i], chat.ErrBlocked) {
			blocked = errs[i]
			continue
		}
		if errs[i] != nil {
			return errs[i]
		}
		if r.number(1) < 0 {
			s.log.Warn("group index of a user is full", "user", users[i], "group", g.Group)
		}
	}
	return blocked
}

// DropUserGroup removes a group from the index and signals left if it was there.
func (s *Index) DropUserGroup(ctx context.Context, user, group string) error {
	k := s.keys.user(user)
	return s.doSafe(ctx, indexDropScript.On(k).Arg("group", group).Arg("channel", k.channel()))
}

// HintSeen raises the hints of a user, for groups that are in the index.
func (s *Index) HintSeen(ctx context.Context, user string, seen []chat.UserGroup) error {
	for len(seen) > 0 {
		n := min(len(seen), rangeBatch)
		c := indexHintScript.Sized(s.keys.user(user), 2*n)
		for _, g := range seen[:n] {
			c = c.MoreArgs("hints", "seen", g.Seen, "group", g.Group)
		}
		if _, err := s.runSafe(ctx, c); err != nil {
			return err
		}
		seen = seen[n:]
	}
	return nil
}

// addUnderWay is how long adding a member may take at most, from the claim until the index has the group.
const addUnderWay = 10 * time.Minute

// ClaimAdds implements chat.IndexStore. When the count is full, groups in which the user has acted by now are taken off it.
func (s *Index) ClaimAdds(ctx context.Context, by, group string, users []string) (full []string, err error) {
	if full, err = s.claimAdds(ctx, by, group, users); err != nil {
		return nil, err
	}
	var again []string
	for _, user := range full {
		freed, err := s.freeAdds(ctx, by, user)
		if err != nil {
			return nil, err
		}
		if freed {
			again = append(again, user)
		}
	}
	if len(again) == 0 {
		return full, nil
	}
	still, err := s.claimAdds(ctx, by, group, again)
	full = slices.DeleteFunc(full, func(user string) bool { return slices.Contains(again, user) })
	return append(full, still...), err
}

func (s *Index) claimAdds(ctx context.Context, by, group string, users []string) (full []string, err error) {
	calls := make([]call, len(users))
	for i, user := range users {
		calls[i] = indexClaimScript.On(s.keys.user(user)).Arg("group", group).Arg("by", shortHash(by)).Arg("most", s.limits.AddedByOneMax())
	}
	replies, errs, err := s.runAll(ctx, calls)
	if err != nil {
		return nil, err
	}
	for i, r := range replies {
		if errs[i] != nil {
			return nil, errs[i]
		}
		if r.number(1) < 0 {
			full = append(full, users[i])
		}
	}
	return full, nil
}

// freeAdds no longer counts for by the groups in which user has acted, and those that user never joined. It tells whether there
// were any.
func (s *Index) freeAdds(ctx context.Context, by, user string) (freed bool, err error) {
	k := s.keys.user(user)
	var added *redis.MapStringStringCmd
	if err := s.reads(ctx, func(pipe redis.Pipeliner) { added = pipe.HGetAll(ctx, k.added()) }); err != nil {
		return false, err
	}
	index, err := s.UserGroups(ctx, user)
	if err != nil {
		return false, err
	}
	invited := make(map[string]bool, len(index))
	for _, g := range index {
		invited[g.Group] = g.Invited
	}
	old := time.Now().Add(-addUnderWay).UnixMilli() // the server's clock decides about leases and due times only; this is neither
	var free []string
	for group, value := range added.Val() {
		who, ms, _ := strings.Cut(value, " ")
		if who != shortHash(by) {
			continue
		}
		waits, listed := invited[group]
		if atMs, _ := strconv.ParseInt(ms, 10, 64); listed && !waits || !listed && atMs < old {
			free = append(free, group)
		}
	}
	for some := range slices.Chunk(free, rangeBatch) {
		if _, err := s.runSafe(ctx, indexReleaseScript.On(k).Arg("by", shortHash(by)).List("groups", some)); err != nil {
			return false, err
		}
	}
	return len(free) > 0, nil
}
