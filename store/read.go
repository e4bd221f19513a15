package store

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"sync"

	"github.com/redis/go-redis/v9"

	"github.com/chatd/chatd/chat"
)

// reads runs reads in one round trip, once more after a connection that broke. fill is called again then.
func (s *Store) reads(ctx context.Context, fill func(redis.Pipeliner)) error {
	return s.readWith(ctx, s.client.Pipeline, fill)
}

// transaction runs reads at one instant: in MULTI/EXEC. All their keys are of one partition.
func (s *Store) transaction(ctx context.Context, fill func(redis.Pipeliner)) error {
	return s.readWith(ctx, s.client.TxPipeline, fill)
}

func (s *Store) readWith(ctx context.Context, open func() redis.Pipeliner, fill func(redis.Pipeliner)) error {
	for attempt := 0; ; attempt++ {
		pipe := open()
		fill(pipe)
		cmds, err := pipe.Exec(ctx)
		if err == nil || errors.Is(err, redis.Nil) {
			return nil
		}
		for _, cmd := range cmds {
			if s.again(ctx, cmd.Err()) {
				err = cmd.Err()
				break
			}
		}
		retry := broken(err) || redis.HasErrorPrefix(err, "NOSCRIPT")
		if attempt > 0 || !retry || ctx.Err() != nil {
			return fail("read", err)
		}
	}
}

// runReads runs reading scripts in as few round trips as the bounds allow.
func (s *Store) runReads(ctx context.Context, calls []call) ([]reply, error) {
	replies := make([]reply, 0, len(calls))
	for chunk := range slices.Chunk(calls, pipelineMax) {
		var cmds []*redis.Cmd
		err := s.reads(ctx, func(pipe redis.Pipeliner) {
			cmds = cmds[:0]
			for _, c := range chunk {
				cmds = append(cmds, c.queueOn(ctx, pipe))
			}
		})
		if err != nil {
			return nil, err
		}
		for i, cmd := range cmds {
			r, err := asReply(chunk[i].script.name, cmd.Val())
			if err != nil {
				return nil, err
			}
			replies = append(replies, r)
		}
	}
	return replies, nil
}

// pullRound reads every ask: a transaction for at most transactionMax groups of a partition, the partitions at the same
// time.
func (s *Store) pullRound(ctx context.Context, user string, asks []ask) ([]pulled, error) {
	answers := make([]pulled, len(asks))
	byPartition := map[int][]int{}
	for i, a := range asks {
		p := s.keys.partition(a.Group)
		byPartition[p] = append(byPartition[p], i)
	}
	work := func(indexes []int) error {
		for chunk := range slices.Chunk(indexes, transactionMax) {
			if err := s.pullTransaction(ctx, user, asks, answers, chunk); err != nil {
				return err
			}
		}
		return nil
	}
	if len(byPartition) == 1 {
		for _, indexes := range byPartition {
			return answers, work(indexes)
		}
	}
	var wait sync.WaitGroup
	errs := make([]error, 0, len(byPartition))
	var mu sync.Mutex
	for _, indexes := range byPartition {
		wait.Go(func() {
			err := work(indexes)
			mu.Lock()
			defer mu.Unlock()
			errs = append(errs, err)
		})
	}
	wait.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return answers, nil
}

// pullTransaction reads the asks of indexes and writes what it got to the same places of answers.
func (s *Store) pullTransaction(ctx context.Context, user string, asks []ask, answers []pulled, indexes []int) error {
	infos := make([]*redis.Cmd, len(indexes))
	ranges := make([]*redis.StringSliceCmd, len(indexes))
	err := s.transaction(ctx, func(pipe redis.Pipeliner) {
		for j, i := range indexes {
			infos[j] = s.infoCall(user, asks[i].Group).queueOn(ctx, pipe)
			ranges[j] = asks[i].queueOn(ctx, pipe, s.keys.group(asks[i].Group).msgs())
		}
	})
	if err != nil {
		return err
	}
	for j, i := range indexes {
		r, err := asReply("info", infos[j].Val())
		if err != nil {
			return err
		}
		answers[i].info = asInfo(asks[i].Group, r)
		if ranges[j] == nil || answers[i].info.Role == "" {
			continue
		}
		// A log that cannot be read is no reason to serve none of the others.
		answers[i].messages, answers[i].err = decodeMessages(asks[i].Group, ranges[j].Val())
		if asks[i].Before > 0 {
			slices.Reverse(answers[i].messages)
		}
	}
	return nil
}

// queueOn adds the range that the ask wants to a transaction: from the position itself, so that its mark can be
// compared; from just above a hint; or downward from before.
func (a ask) queueOn(ctx context.Context, pipe redis.Pipeliner, msgs string) *redis.StringSliceCmd {
	if a.Limit == 0 && !a.After.Set {
		return nil
	}
	if a.Before > 0 {
		return pipe.ZRevRangeByScore(ctx, msgs, &redis.ZRangeBy{Min: "-inf", Max: "(" + strconv.FormatInt(a.Before, 10),
			Count: int64(a.Limit)})
	}
	low, count := "("+strconv.FormatInt(a.from, 10), a.Limit
	if a.After.Set {
		low, count = strconv.FormatInt(a.from, 10), a.Limit+1
	}
	return pipe.ZRangeByScore(ctx, msgs, &redis.ZRangeBy{Min: low, Max: "+inf", Count: int64(count)})
}

// sentAtMs reads the time of sending out of a stored message.
func sentAtMs(stored string, otherwise int64) int64 {
	m, err := decodeMessage(stored)
	if err != nil {
		return otherwise
	}
	entry, err := decodeEntry(m)
	if err != nil || entry.SentAt.IsZero() {
		return otherwise
	}
	return entry.SentAt.UnixMilli()
}

// decodeEntry reads the JSON of a message.
func decodeEntry(m chat.Message) (chat.Entry, error) {
	var e chat.Entry
	err := json.Unmarshal(m.JSON, &e)
	return e, err
}
