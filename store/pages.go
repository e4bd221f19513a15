package store

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/chatd/chatd/chat"
)

// How entries are read. An entry costs six times as much in a script as in a plain range, but nobody knows how large the answer
// to a range is, and each range costs as much as two or three entries of the script.
const (
	plainMax  = 60 // entries asked for in all: at the largest size that the default limits allow they are 2 MiB
	plainMin  = 4  // entries asked for of each log
	plainHead = 24 // the first ones of a longer page; the rest is read up to a number of bytes
)

// pageReactions is the index of the reactions in a group as log/pages.lua answers it.
const pageReactions = 18

// plainEntries is how many entries of each pull are read by a range.
func plainEntries(pulls []chat.Pull, room int) int {
	entries := 0
	for _, p := range pulls {
		entries += p.Limit
	}
	switch {
	case room <= 0 || entries < plainMin*len(pulls):
		return 0
	case entries <= plainMax:
		return plainMax
	case len(pulls) == 1:
		return plainHead
	}
	return 0
}

// pagesCall reads pulls of one partition, without the first entries of each: those are read by a range.
func (s *Logs) pagesCall(user string, pulls []chat.Pull, plain, room int) call {
	c := pagesScript.Sized(s.keys.group(pulls[0].Group).partKeys, 9*len(pulls)).Arg("user", user).Arg("bytes_max", max(room, 0))
	for _, p := range pulls {
		c = c.More("last_ids", s.keys.group(p.Group).lastID())
	}
	for _, p := range pulls {
		k := s.keys.group(p.Group)
		c = c.More("groups", "meta", k.meta(), "members", k.members(), "joined", k.joined(), "seen", k.seen(), "read", k.read(),
			"msgs", k.msgs(), "skip", k.skip(), "by", k.by(user))
		head := min(p.Limit, plain)
		c = c.MoreArgs("pages", "offset", head, "from", p.From, "before", p.Before, "count", p.Limit-head)
	}
	if slices.ContainsFunc(pulls, func(p chat.Pull) bool { return p.Counted }) {
		for _, p := range pulls {
			k := s.keys.group(p.Group)
			c = c.More("counted", "reactions", k.reactions(), "reacted", k.reacted())
		}
	}
	return c
}

// queueRange adds a plain range: upward from an id, or downward from before one.
func queueRange(ctx context.Context, pipe redis.Pipeliner, msgs string, p chat.Pull, count int) *redis.StringSliceCmd {
	if p.Before > 0 {
		return pipe.ZRevRangeByScore(ctx, msgs, &redis.ZRangeBy{Min: "-inf", Max: "(" + strconv.FormatInt(p.Before, 10), Count: int64(count)})
	}
	return pipe.ZRangeByScore(ctx, msgs, &redis.ZRangeBy{Min: strconv.FormatInt(p.From, 10), Max: "+inf", Count: int64(count)})
}

// asPageInfo reads a group as log/pages.lua answers it.
func asPageInfo(group string, r reply) chat.Info {
	in := chat.Info{Group: chat.Group{ID: group}}
	in.Epoch = r.text(0)
	if len(r) < 3 {
		in.Visibility = chat.Visibility(r.text(1))
		return in
	}
	in.History, in.LastMark, in.Trimmed = r.text(1) == "1", r.text(3), asTrimmed(r.text(6))
	in.Last = r.number(7)
	in.Held = in.Last - r.number(8) + 1
	role, _, _ := strings.Cut(r.text(9), " ")
	in.Role, in.Seen, in.Read, in.Unread = chat.Role(role), r.number(10), r.number(11), r.number(12)
	in.Group.Members, in.Joined = r.number(13), r.number(14)
	in.Archived, in.Late, in.Changed = r.number(15), r.number(16), r.number(17)
	in.Threads = r.number(19) == 1
	in.First = in.Held
	if from := r.number(5); in.Archived > 0 && from > 0 {
		in.First = min(from, in.Held)
	}
	return in
}

// asPageReactions reads the reactions to a page from an answer of log/pages.lua; nil if it has none.
func asPageReactions(r reply) map[int64]map[string]chat.ReactionCount {
	if len(r) <= pageReactions || r[pageReactions] == nil {
		return nil
	}
	list, found := r.list(pageReactions), map[int64]map[string]chat.ReactionCount{}
	for i := 0; i+1 < len(list); i += 2 {
		addReaction(found, list.text(i), list.number(i+1) > 0)
	}
	return found
}
