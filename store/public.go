package store

import (
	"context"
	"encoding/base64"
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/chatd/chatd/chat"
)

// PublicGroups pages through the public groups by name, then id: a page of each partition, merged. next names the last group
// of the page, so the position stays valid although groups are created and deleted.
func (s *Groups) PublicGroups(ctx context.Context, after string, limit int) ([]string, string, error) {
	from := "-"
	if after != "" {
		last, err := base64.RawURLEncoding.DecodeString(after)
		if err != nil {
			return nil, "", chat.Errorf(chat.CodeInvalid, "the cursor is not of this list")
		}
		from = "(" + string(last)
	}
	var pages []*redis.StringSliceCmd
	err := s.reads(ctx, func(pipe redis.Pipeliner) {
		pages = pages[:0]
		for _, p := range s.keys.partitions {
			pages = append(pages, pipe.ZRangeArgs(ctx, redis.ZRangeArgs{Key: p.public(), ByLex: true, Start: from,
				Stop: "+", Count: int64(limit) + 1}))
		}
	})
	if err != nil {
		return nil, "", err
	}
	var all []string
	for _, page := range pages {
		all = append(all, page.Val()...)
	}
	slices.Sort(all)
	next := ""
	if len(all) > limit {
		all = all[:limit]
		next = base64.RawURLEncoding.EncodeToString([]byte(all[limit-1]))
	}
	groups := make([]string, len(all))
	for i, member := range all {
		groups[i] = member[strings.LastIndexByte(member, 0)+1:] // as lib/public.lua writes it
	}
	return groups, next, nil
}
