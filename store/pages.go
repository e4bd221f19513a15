package store

import (
	"context"
	"strconv"

	"github.com/redis/go-redis/v9"

	"github.com/chatd/chatd/chat"
)

// How entries are read. A plain range takes a third of the work of a script, but the size of its answer is not known.
const (
	plainMax  = 60 // entries asked for in all: at the largest size that the default limits allow they are 2 MiB
	plainHead = 24 // the first ones of a longer page; the rest is read up to a number of bytes
)

// entriesRead is what a transaction was asked to read: a range, if there is one, then what the script adds.
type entriesRead struct {
	ranges []*redis.StringSliceCmd
	more   *redis.Cmd
	at     []int // the pulls that more is of
}

// queueEntries adds what pulls ask for to a transaction: up to about room bytes, in their order.
func (s *Store) queueEntries(ctx context.Context, pipe redis.Pipeliner, pulls []chat.Pull, room int) entriesRead {
	read := entriesRead{ranges: make([]*redis.StringSliceCmd, len(pulls))}
	entries := 0
	for _, p := range pulls {
		entries += p.Limit
	}
	plain := plainMax
	switch {
	case room <= 0 || entries == 0:
		return read
	case entries > plainMax && len(pulls) == 1:
		plain = plainHead
	case entries > plainMax:
		plain = 0
	}
	k := s.keys.group(pulls[0].Group)
	more := pagesScript.Sized(k.partKeys, 5*len(pulls)).Arg("bytes_max", room)
	for i, p := range pulls {
		head := min(p.Limit, plain)
		if head > 0 {
			read.ranges[i] = queueRange(ctx, pipe, s.keys.group(p.Group).msgs(), p, head)
		}
		if p.Limit > head {
			more = more.More("logs", "msgs", s.keys.group(p.Group).msgs()).
				MoreArgs("pages", "skip", head, "from", p.From, "before", p.Before, "count", p.Limit-head)
			read.at = append(read.at, i)
		}
	}
	if len(read.at) > 0 {
		read.more = queueCall(ctx, pipe, more)
	}
	return read
}

// queueRange adds a plain range: upward from an id, or downward from before one.
func queueRange(ctx context.Context, pipe redis.Pipeliner, msgs string, p chat.Pull, count int) *redis.StringSliceCmd {
	if p.Before > 0 {
		return pipe.ZRevRangeByScore(ctx, msgs, &redis.ZRangeBy{Min: "-inf", Max: "(" + strconv.FormatInt(p.Before, 10), Count: int64(count)})
	}
	return pipe.ZRangeByScore(ctx, msgs, &redis.ZRangeBy{Min: strconv.FormatInt(p.From, 10), Max: "+inf", Count: int64(count)})
}

// entries are the stored entries for each of the pulls, and how many bytes they are.
func (r *entriesRead) entries() (found [][]string, bytes int, err error) {
	found = make([][]string, len(r.ranges))
	for i, cmd := range r.ranges {
		if cmd != nil {
			found[i] = cmd.Val()
		}
	}
	if r.more != nil {
		answer, err := asReply(pagesScript.Name, r.more.Val())
		if err != nil {
			return nil, 0, err
		}
		for j, i := range r.at {
			found[i] = append(found[i], answer.texts(1+j)...)
		}
	}
	for _, list := range found {
		for _, entry := range list {
			bytes += len(entry)
		}
	}
	return found, bytes, nil
}
