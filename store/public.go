package store

import (
	"context"
	"encoding/base64"
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/chatd/chatd/chat"
)

// Bounds of a page of public groups for a caller who reaches only some.
const (
	publicLook  = 1000 // groups of a partition that are read at once
	publicLooks = 100  // how often that is done for one page, which may be short then
)

// PublicGroups pages through the public groups that by reaches, by name, then id: a page of each partition, merged. next names the
// last group looked at, so the position stays valid although groups are created and deleted.
func (s *Groups) PublicGroups(ctx context.Context, by chat.Caller, after string, limit int) (groups []string, next string, err error) {
	last := ""
	if after != "" {
		bytes, err := base64.RawURLEncoding.DecodeString(after)
		if err != nil {
			return nil, "", chat.Errorf(chat.CodeInvalid, "the cursor is not of this list")
		}
		last = string(bytes)
	}
	look := limit
	if by.Reach != nil {
		look = max(limit, publicLook)
	}
	groups = []string{}
	for range publicLooks {
		members, more, err := s.publicAfter(ctx, last, look)
		if err != nil {
			return nil, "", err
		}
		for _, member := range members {
			if len(groups) == limit {
				return groups, publicCursor(last), nil
			}
			last = member
			if id := member[strings.LastIndexByte(member, 0)+1:]; by.Reaches(id) { // as lib/public.lua writes it
				groups = append(groups, id)
			}
		}
		if !more {
			return groups, "", nil
		}
		if len(groups) == limit {
			break
		}
	}
	return groups, publicCursor(last), nil
}

func publicCursor(member string) string { return base64.RawURLEncoding.EncodeToString([]byte(member)) }

// publicAfter reads up to count entries of the list after one; empty: from the beginning. more: there are others behind them.
func (s *Groups) publicAfter(ctx context.Context, last string, count int) (members []string, more bool, err error) {
	from := "-"
	if last != "" {
		from = "(" + last
	}
	var pages []*redis.StringSliceCmd
	err = s.reads(ctx, func(pipe redis.Pipeliner) {
		pages = pages[:0]
		for _, p := range s.keys.partitions {
			pages = append(pages, pipe.ZRangeArgs(ctx, redis.ZRangeArgs{Key: p.public(), ByLex: true, Start: from,
				Stop: "+", Count: int64(count) + 1}))
		}
	})
	if err != nil {
		return nil, false, err
	}
	for _, page := range pages {
		members = append(members, page.Val()...)
	}
	slices.Sort(members)
	if more = len(members) > count; more {
		members = members[:count]
	}
	return members, more, nil
}
