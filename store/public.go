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
		members, more, err := s.lexical(ctx, (*partKeys).public, "", last, look)
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

// lexical reads up to count entries that begin with prefix of a list that each partition has a part of, behind one; empty: from the
// beginning. more: there are others behind them.
func (s *Groups) lexical(ctx context.Context, list func(*partKeys) string, prefix, last string, count int) (entries []string, more bool, err error) {
	return s.lexicalIn(ctx, s.keys.partitions, []func(*partKeys) string{list}, prefix, last, count)
}

// lexicalIn is lexical for some partitions, and several lists of each.
func (s *Groups) lexicalIn(ctx context.Context, parts []*partKeys, lists []func(*partKeys) string, prefix, last string, count int) (entries []string, more bool, err error) {
	from, to := "["+prefix, "("+prefix+"\xff" // which is no part of UTF-8
	if last >= prefix {
		from = "(" + last
	}
	var pages []*redis.StringSliceCmd
	err = s.reads(ctx, func(pipe redis.Pipeliner) {
		pages = pages[:0]
		for _, p := range parts {
			for _, list := range lists {
				pages = append(pages, pipe.ZRangeArgs(ctx, redis.ZRangeArgs{Key: list(p), ByLex: true, Start: from, Stop: to, Count: int64(count) + 1}))
			}
		}
	})
	if err != nil {
		return nil, false, err
	}
	for _, page := range pages {
		entries = append(entries, page.Val()...)
	}
	slices.Sort(entries)
	if more = len(entries) > count; more {
		entries = entries[:count]
	}
	return entries, more, nil
}
