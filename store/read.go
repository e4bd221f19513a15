package store

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/redis/go-redis/v9"
	"golang.org/x/sync/errgroup"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/queue/script"
	"github.com/chatd/chatd/store/conn"
)

// reads runs reads in one round trip, and once more, calling fill again, if the connection broke.
func (s *base) reads(ctx context.Context, fill func(redis.Pipeliner)) error {
	return s.readWith(ctx, s.conn.Client().Pipeline, fill)
}

// transaction runs reads at one instant, in MULTI/EXEC. All their keys are in one partition.
func (s *base) transaction(ctx context.Context, fill func(redis.Pipeliner)) error {
	return s.readWith(ctx, s.conn.Client().TxPipeline, fill)
}

func (s *base) readWith(ctx context.Context, open func() redis.Pipeliner, fill func(redis.Pipeliner)) error {
	for attempt := 0; ; attempt++ {
		pipe := open()
		fill(pipe)
		cmds, err := pipe.Exec(ctx)
		if err == nil || errors.Is(err, redis.Nil) {
			return nil
		}
		for _, cmd := range cmds {
			if s.conn.Again(ctx, cmd.Err(), script.KeyOf(cmd)) {
				err = cmd.Err()
				break
			}
		}
		retry := conn.Broken(err) || redis.HasErrorPrefix(err, "NOSCRIPT")
		if attempt > 0 || !retry || ctx.Err() != nil {
			return fail("read", err)
		}
	}
}

// runReads runs reading scripts in as few round trips as the bounds allow.
func (s *base) runReads(ctx context.Context, calls []call) ([]reply, error) {
	replies := make([]reply, 0, len(calls))
	for chunk := range slices.Chunk(calls, pipelineMax) {
		var cmds []*redis.Cmd
		err := s.reads(ctx, func(pipe redis.Pipeliner) {
			cmds = cmds[:0]
			for _, c := range chunk {
				cmds = append(cmds, c.Send(ctx, pipe))
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

// Pull reads a page of each group for user: a step for at most transactionMax groups of a partition, the partitions at the
// same time. See chat.PullStore for what is read where there is more than one answer holds.
func (s *Logs) Pull(ctx context.Context, user string, pulls []chat.Pull) ([]chat.Page, error) {
	if len(pulls) <= sharedPulls && !slices.ContainsFunc(pulls, func(p chat.Pull) bool { return !mayShare(p) }) {
		return s.pullShared(ctx, user, pulls)
	}
	pages := make([]chat.Page, len(pulls))
	byPartition := map[int][]int{}
	for i, p := range pulls {
		partition := s.keys.partition(p.Group)
		byPartition[partition] = append(byPartition[partition], i)
	}
	errs, ctx := errgroup.WithContext(ctx)
	room := s.limits.PageBytesMax / max(1, len(byPartition))
	for _, indexes := range byPartition {
		errs.Go(func() error {
			left := room
			for chunk := range slices.Chunk(indexes, transactionMax) {
				bytes, err := s.pullChunk(ctx, user, pulls, pages, chunk, left)
				if err != nil {
					return err
				}
				left -= bytes
			}
			return nil
		})
	}
	return pages, errs.Wait()
}

// pullChunk reads the pulls of indexes at one instant and writes what it got to the same places of pages. It returns how
// many bytes of entries it read, at most a little more than room.
func (s *Logs) pullChunk(ctx context.Context, user string, pulls []chat.Pull, pages []chat.Page, indexes []int, room int) (bytes int, err error) {
	asked := make([]chat.Pull, len(indexes))
	for j, i := range indexes {
		asked[j] = pulls[i]
	}
	var r reply
	ranges := make([]*redis.StringSliceCmd, len(asked))
	plain := plainEntries(asked, room)
	if plain > 0 {
		r, err = s.pullRanges(ctx, user, asked, ranges, plain, room)
	}
	if plain == 0 || queuesNothing(err) {
		scripted, failed := s.runSafe(ctx, s.pagesCall(user, asked, 0, room))
		if plain == 0 || failed == nil {
			r, err, ranges = scripted, failed, make([]*redis.StringSliceCmd, len(asked))
		}
	}
	if err != nil {
		return 0, err
	}
	found := make([][]string, len(asked))
	for j := range asked {
		if ranges[j] != nil {
			found[j] = ranges[j].Val()
		}
		found[j] = append(found[j], r.texts(2+2*j)...)
		for _, entry := range found[j] {
			bytes += len(entry)
		}
	}
	for j, i := range indexes {
		info := r.list(1 + 2*j)
		pages[i].Info = asPageInfo(asked[j].Group, info)
		if asked[j].Counted {
			pages[i].Reactions = asPageReactions(info)
		}
		pages[i].Cut = asked[j].Limit > 0 && len(found[j]) == 0 && bytes >= room
		messages, err := decodeMessages(asked[j].Group, found[j])
		if err == nil {
			err = s.standing(ctx, asked[j].Group, messages)
		}
		if asked[j].Before > 0 {
			slices.Reverse(messages)
		}
		showPage(&pages[i], messages, err)
	}
	return bytes, nil
}

// pullRanges reads the first entries of each pull by ranges, and the rest by the script, in one transaction.
func (s *Logs) pullRanges(ctx context.Context, user string, asked []chat.Pull, ranges []*redis.StringSliceCmd, plain, room int) (reply, error) {
	var more *redis.Cmd
	err := s.transaction(ctx, func(pipe redis.Pipeliner) {
		more = s.pagesCall(user, asked, plain, room).Send(ctx, pipe)
		for j, p := range asked {
			if p.Limit > 0 {
				ranges[j] = queueRange(ctx, pipe, s.keys.group(p.Group).msgs(), p, min(p.Limit, plain))
			}
		}
	})
	if err != nil {
		return nil, err
	}
	return asReply(pagesScript.Name, more.Val())
}

// queuesNothing tells whether a transaction may have been refused because the server's memory is full: MULTI adds to it.
func queuesNothing(err error) bool {
	return redis.HasErrorPrefix(err, "OOM") || redis.HasErrorPrefix(err, "EXECABORT")
}

// showPage puts what was read into a page, as far as the user may see it. If a log cannot be
// read, as err says, the others are served all the same. Pages may share the messages.
func showPage(page *chat.Page, messages []chat.Message, err error) {
	if page.Info.Role == "" {
		page.Err = chat.ErrNotFound
		if page.Info.Epoch != "" && page.Info.Visibility == chat.Public {
			page.Err = chat.ErrMembersOnly
		}
		return
	}
	if err != nil {
		page.Err = err
		return
	}
	for len(messages) > 0 && messages[0].ID < page.Info.Visible() {
		messages = messages[1:]
	}
	if page.Info.Hidden() > 0 {
		messages = slices.Clone(messages) // Redact changes them
	}
	page.Info.Redact(messages)
	page.Messages = messages
}

// sentAtMs reads the time of sending out of a stored message.
func sentAtMs(stored string, otherwise int64) int64 {
	entry, err := ReadEntry(stored)
	if err != nil || entry.SentAt.IsZero() {
		return otherwise
	}
	return entry.SentAt.UnixMilli()
}

// ReadEntry reads the entry that a stored message holds.
func ReadEntry(stored string) (chat.Entry, error) {
	m, err := decodeMessage(stored)
	if err != nil {
		return chat.Entry{}, err
	}
	return decodeEntry(m)
}

// decodeEntry reads the JSON of a message.
func decodeEntry(m chat.Message) (chat.Entry, error) {
	var e chat.Entry
	err := json.Unmarshal(m.JSON, &e)
	return e, err
}
