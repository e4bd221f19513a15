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
				cmds = append(cmds, queueCall(ctx, pipe, c))
			}
		})
		if err != nil {
			return nil, err
		}
		for i, cmd := range cmds {
			r, err := asReply(chunk[i].Script.Name, cmd.Val())
			if err != nil {
				return nil, err
			}
			replies = append(replies, r)
		}
	}
	return replies, nil
}

// Pull reads a page of each group for user: a transaction for at most transactionMax groups of a partition, the partitions
// at the same time.
func (s *Store) Pull(ctx context.Context, user string, pulls []chat.Pull) ([]chat.Page, error) {
	pages := make([]chat.Page, len(pulls))
	byPartition := map[int][]int{}
	for i, p := range pulls {
		partition := s.keys.partition(p.Group)
		byPartition[partition] = append(byPartition[partition], i)
	}
	work := func(indexes []int) error {
		for chunk := range slices.Chunk(indexes, transactionMax) {
			if err := s.pullTransaction(ctx, user, pulls, pages, chunk); err != nil {
				return err
			}
		}
		return nil
	}
	if len(byPartition) == 1 {
		for _, indexes := range byPartition {
			return pages, work(indexes)
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
	return pages, nil
}

// pullTransaction reads the pulls of indexes and writes what it got to the same places of pages.
func (s *Store) pullTransaction(ctx context.Context, user string, pulls []chat.Pull, pages []chat.Page, indexes []int) error {
	infos := make([]*redis.Cmd, len(indexes))
	ranges := make([]*redis.StringSliceCmd, len(indexes))
	err := s.transaction(ctx, func(pipe redis.Pipeliner) {
		for j, i := range indexes {
			k := s.keys.group(pulls[i].Group)
			infos[j] = queueCall(ctx, pipe, infoCall(k, user))
			ranges[j] = queuePull(ctx, pipe, k.msgs(), pulls[i])
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
		pages[i].Info = asInfo(pulls[i].Group, r)
		fillPage(&pages[i], pulls[i], ranges[j])
	}
	return nil
}

// fillPage puts what was read into a page, as far as the user may see it. A log that cannot be read is no reason to serve
// none of the others.
func fillPage(page *chat.Page, p chat.Pull, read *redis.StringSliceCmd) {
	if page.Info.Role == "" {
		page.Err = chat.ErrNotFound
		if page.Info.Epoch != "" && page.Info.Visibility == chat.Public {
			page.Err = chat.ErrForbidden
		}
		return
	}
	if read == nil {
		return
	}
	messages, err := decodeMessages(p.Group, read.Val())
	if err != nil {
		page.Err = err
		return
	}
	if p.Before > 0 {
		slices.Reverse(messages)
	}
	for len(messages) > 0 && messages[0].ID < page.Info.Visible() {
		messages = messages[1:]
	}
	page.Info.Redact(messages)
	page.Messages = messages
}

// queuePull adds the range that p asks for to a transaction: upward from an id, or downward from before one.
func queuePull(ctx context.Context, pipe redis.Pipeliner, msgs string, p chat.Pull) *redis.StringSliceCmd {
	switch {
	case p.Limit == 0:
		return nil
	case p.Before > 0:
		return pipe.ZRevRangeByScore(ctx, msgs, &redis.ZRangeBy{Min: "-inf", Max: "(" + strconv.FormatInt(p.Before, 10),
			Count: int64(p.Limit)})
	}
	return pipe.ZRangeByScore(ctx, msgs, &redis.ZRangeBy{Min: strconv.FormatInt(p.From, 10), Max: "+inf", Count: int64(p.Limit)})
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
