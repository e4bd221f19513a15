package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/redis/go-redis/v9"
)

//go:embed count.lua
var countScript string

// Keys. Those of a day share a hash tag, so a script has them in one slot of a cluster.
const allDays = "daily:days" // SET of days

func countsKey(day string) string { return "daily:{" + day + "}" }
func fencesKey(day string) string { return "daily:{" + day + "}:fences" }

// errFenced means that the fence of a day is not where it was read: an earlier attempt has counted after all, or another
// process counts the same parts.
var errFenced = errors.New("the lines were counted by another attempt meanwhile")

// part names the piece of a log that is counted: a message of one life of a group.
type part struct {
	log string // "<group> <epoch>"
	id  int64
}

// position is a line of a part. The lines of a log are in the order of their positions.
type position struct{ part, line int64 }

func (p position) before(q position) bool {
	return p.part < q.part || p.part == q.part && p.line < q.line
}

func (p position) String() string {
	if p == (position{}) {
		return ""
	}
	return fmt.Sprintf("%d %d", p.part, p.line)
}

// days keeps the counts in Redis.
type days struct {
	redis redis.UniversalClient
	count *redis.Script
}

func newDays(client redis.UniversalClient) *days {
	return &days{redis: client, count: redis.NewScript(countScript)}
}

// fence reads up to where a log is counted for a day. A day that is asked for is listed from then on.
func (d *days) fence(ctx context.Context, log, day string) (position, error) {
	if err := d.redis.SAdd(ctx, allDays, day).Err(); err != nil {
		return position{}, err
	}
	text, err := d.redis.HGet(ctx, fencesKey(day), log).Result()
	if errors.Is(err, redis.Nil) {
		return position{}, nil
	}
	if err != nil {
		return position{}, err
	}
	var p position
	if _, err := fmt.Sscanf(text, "%d %d", &p.part, &p.line); err != nil {
		return position{}, fmt.Errorf("fence of %s for %s is %q: %w", log, day, text, err)
	}
	return p, nil
}

// add counts lines of one day and moves its fence, both or neither.
func (d *days) add(ctx context.Context, log, day string, was, becomes position, counts map[string]int64) error {
	args := []any{log, was.String(), becomes.String()}
	for _, country := range slices.Sorted(maps.Keys(counts)) {
		args = append(args, country, counts[country])
	}
	moved, err := d.count.Run(ctx, d.redis, []string{countsKey(day), fencesKey(day)}, args...).Bool()
	if err == nil && !moved {
		err = errFenced
	}
	return err
}

// all reads every count: day, place, lines.
func (d *days) all(ctx context.Context) (map[string]map[string]int64, error) {
	listed, err := d.redis.SMembers(ctx, allDays).Result()
	if err != nil {
		return nil, err
	}
	found := make(map[string]map[string]int64)
	for _, day := range listed {
		counts := make(map[string]int64)
		if err := readCounts(ctx, d.redis, day, counts); err != nil {
			return nil, err
		}
		if len(counts) > 0 {
			found[day] = counts
		}
	}
	return found, nil
}

func readCounts(ctx context.Context, client redis.UniversalClient, day string, into map[string]int64) error {
	fields, err := client.HGetAll(ctx, countsKey(day)).Result()
	if err != nil {
		return err
	}
	for country, text := range fields {
		var n int64
		if _, err := fmt.Sscan(text, &n); err != nil {
			return fmt.Errorf("%s, %s: %w", day, country, err)
		}
		into[country] = n
	}
	return nil
}
