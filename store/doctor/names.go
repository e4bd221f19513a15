package doctor

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/chatd/chatd/chat"
)

// server is the name under which the server itself sends items.
const server = "$chat"

// listed examines a list of users with times or ids: each member is a user, and each score a whole number of at least
// least.
func (d *exam) listed(ctx context.Context, k key, least float64) error {
	return ranges(func(from, to int64) ([]redis.Z, error) {
		return d.store.Client().ZRangeWithScores(ctx, k.name, from, to).Result()
	}, func(entries []redis.Z) error {
		for _, e := range entries {
			if user := fmt.Sprint(e.Member); !chat.ValidUserID(user) && user != server || e.Score != math.Trunc(e.Score) || e.Score < least {
				return d.found(ctx, Finding{Kind: KindName, Key: k.name, Message: fmt.Sprintf("lists %q with the score %v: want a user and a whole number", user, e.Score)})
			}
		}
		return nil
	})
}

// strangers examines the list of recipients of a user who have never used the server.
func (d *users) strangers(ctx context.Context, k key) error {
	all, err := d.store.Client().HGetAll(ctx, k.name).Result() // a few thousand at most
	if err != nil {
		return err
	}
	for field, value := range all {
		user, _, _ := strings.Cut(field, " ") // and what names an item
		if bytes, err := strconv.ParseInt(value, 10, 64); err != nil || bytes < 1 || !chat.ValidUserID(user) {
			return d.found(ctx, Finding{Kind: KindName, Key: k.name, Message: fmt.Sprintf("counts %q bytes for %q: want a number from 1 and a user", value, field)})
		}
	}
	return nil
}

// seqs examines a list of items of an inbox: none is beyond its end.
func (d *users) seqs(ctx context.Context, u userKeys, k key) error {
	var newest *redis.ZSliceCmd
	var base *redis.SliceCmd
	var stored *redis.IntCmd
	err := d.instant(ctx, func(pipe redis.Pipeliner) {
		newest = pipe.ZRangeArgsWithScores(ctx, redis.ZRangeArgs{Key: k.name, Start: 0, Stop: 0, Rev: true})
		base, stored = pipe.HMGet(ctx, u.base+"inbox:base", "base", "gaps"), pipe.LLen(ctx, u.base+"inbox")
	})
	if err != nil {
		return err
	}
	last := stored.Val()
	for _, part := range base.Val() {
		n, _ := strconv.ParseInt(fmt.Sprint(part), 10, 64)
		last += n
	}
	if len(newest.Val()) == 0 || int64(newest.Val()[0].Score) <= last {
		return nil
	}
	return d.found(ctx, Finding{Kind: KindInbox, Key: k.name, Message: fmt.Sprintf("lists item %.0f, but the inbox ends at %d", newest.Val()[0].Score, last)})
}
