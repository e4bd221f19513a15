package store

import (
	"context"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/schedule"
)

const (
	schedulesAtOnce = 50     // schedules read in one round trip: at most 2 MB of them
	statesAtOnce    = 500    // states read in one round trip
	unfinishedMs    = 60_000 // an entry of an index may be this much older than its schedule: a creation takes less
)

// indexEntry is an entry of the index of a user's schedules, which is ordered by time, then by id.
type indexEntry struct {
	ms int64
	id string
}

// abandoned tells whether an entry without a schedule was left behind, rather than written by a creation under way.
func (p indexEntry) abandoned(now *redis.TimeCmd) bool {
	return now.Val().UnixMilli()-p.ms > unfinishedMs
}

// SchedulesOf pages through the schedules of an owner that it reaches, the oldest first.
func (s *Schedules) SchedulesOf(ctx context.Context, owner chat.Caller, after string, limit, bytesMax int) (page []schedule.Record, next string, err error) {
	at := indexEntry{ms: math.MinInt64}
	if after != "" {
		ms, id, ok := strings.Cut(after, ".")
		n, err := strconv.ParseInt(ms, 10, 64)
		if !ok || err != nil || !chat.ValidID(id) {
			return nil, "", chat.Errorf(chat.CodeInvalid, "cursor: not one of ours")
		}
		at = indexEntry{n, id}
	}
	bytes := 0
	for {
		entries, err := s.schedulesAfter(ctx, owner.User, at, schedulesAtOnce)
		if err != nil || len(entries) == 0 {
			return page, "", err
		}
		records, err := s.readSchedules(ctx, owner.User, entries)
		if err != nil {
			return nil, "", err
		}
		for i, r := range records {
			if r.ID != "" && r.Plan.ReachedBy(owner) {
				if len(page) == limit || bytes > bytesMax {
					return page, scheduleCursor(at.ms, at.id), nil
				}
				page = append(page, r)
				bytes += len(r.Plan.Data)
				if r.Plan.Body != nil {
					bytes += len(*r.Plan.Body)
				}
			}
			at = entries[i]
		}
	}
}

// SchedulesNamed reads schedules by their ids. What is not there, or cannot be read, is left out.
func (s *Schedules) SchedulesNamed(ctx context.Context, ids []string) (found []schedule.Record, err error) {
	for some := range slices.Chunk(ids, schedulesAtOnce) {
		cmds, _, err := s.hashes(ctx, "", some, scheduleFields...)
		if err != nil {
			return nil, err
		}
		for i, id := range some {
			if r, err := asSchedule(id, cmds[i].Val()); err == nil {
				found = append(found, r)
			}
		}
	}
	return found, nil
}

// hashes reads fields of schedules, and the clock where a user is named. What cannot be an id has none.
func (s *Schedules) hashes(ctx context.Context, user string, ids []string, fields ...string) (cmds []*redis.SliceCmd, now *redis.TimeCmd, err error) {
	cmds = make([]*redis.SliceCmd, len(ids))
	err = s.reads(ctx, func(pipe redis.Pipeliner) {
		for i, id := range ids {
			cmds[i] = redis.NewSliceCmd(ctx)
			if k, ok := s.keys.schedule(id); ok {
				cmds[i] = pipe.HMGet(ctx, k.schedule(), fields...)
			}
		}
		if user != "" {
			now = s.queueClock(ctx, pipe, s.keys.user(user).schedules())
		}
	})
	return cmds, now, err
}

func idsOf(entries []indexEntry) []string {
	ids := make([]string, len(entries))
	for i, p := range entries {
		ids[i] = p.id
	}
	return ids
}

// schedulesAfter reads at most count entries of an index after a position.
func (s *Schedules) schedulesAfter(ctx context.Context, owner string, at indexEntry, count int) ([]indexEntry, error) {
	from := "-inf"
	if at.id != "" {
		from = strconv.FormatInt(at.ms, 10)
	}
	var found []indexEntry
	for offset := int64(0); ; offset += int64(count) {
		var cmd *redis.ZSliceCmd
		err := s.reads(ctx, func(pipe redis.Pipeliner) {
			cmd = pipe.ZRangeByScoreWithScores(ctx, s.keys.user(owner).schedules(),
				&redis.ZRangeBy{Min: from, Max: "+inf", Offset: offset, Count: int64(count)})
		})
		if err != nil {
			return nil, err
		}
		for _, z := range cmd.Val() {
			id, _ := z.Member.(string)
			// Those of the same millisecond that were served before come again.
			if p := (indexEntry{int64(z.Score), id}); p.ms > at.ms || p.id > at.id {
				found = append(found, p)
			}
		}
		if len(found) > 0 || len(cmd.Val()) < count {
			return found, nil
		}
	}
}

// readSchedules reads the schedules of entries. One that does not exist has no ID; unless it is just being made, its entry is
// dropped.
func (s *Schedules) readSchedules(ctx context.Context, owner string, entries []indexEntry) ([]schedule.Record, error) {
	cmds, now, err := s.hashes(ctx, owner, idsOf(entries), scheduleFields...)
	if err != nil {
		return nil, err
	}
	records := make([]schedule.Record, len(entries))
	var gone []string
	for i, p := range entries {
		r, err := asSchedule(p.id, cmds[i].Val()) // where it cannot be read, the others are shown all the same
		if err == nil {
			records[i] = r
		} else if chat.CodeOf(err) == chat.CodeNotFound && p.abandoned(now) {
			gone = append(gone, p.id)
		}
	}
	if len(gone) > 0 {
		return records, s.dropSchedules(ctx, owner, gone...)
	}
	return records, nil
}

// dropEnded makes room in a full index: it drops the ended ones of the oldest batch that has any. Until they
// are removed they can be read by id.
func (s *Schedules) dropEnded(ctx context.Context, owner string) (dropped bool) {
	at := indexEntry{ms: math.MinInt64}
	for range s.limits.UserSchedulesMax/statesAtOnce + 1 {
		entries, err := s.schedulesAfter(ctx, owner, at, statesAtOnce)
		if err != nil || len(entries) == 0 {
			return false
		}
		ended, err := s.ended(ctx, owner, entries)
		if err != nil {
			return false
		}
		if len(ended) > 0 {
			return s.dropSchedules(ctx, owner, ended...) == nil
		}
		at = entries[len(entries)-1]
	}
	return false
}

// ended lists the schedules of places that have ended, or are not there. Only their states are read: a full index names some
// hundred megabytes.
func (s *Schedules) ended(ctx context.Context, owner string, entries []indexEntry) (ids []string, err error) {
	states, now, err := s.hashes(ctx, owner, idsOf(entries), "state")
	if err != nil {
		return nil, err
	}
	for i, p := range entries {
		state := schedule.State(reply(states[i].Val()).text(0))
		if state != "" && state.Ended() || state == "" && p.abandoned(now) {
			ids = append(ids, p.id)
		}
	}
	return ids, nil
}
