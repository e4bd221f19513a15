package store

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/redis/go-redis/v9"
	"golang.org/x/sync/errgroup"

	"github.com/chatd/chatd/chat"
)

// reads runs reads in one round trip, and once more, calling fill again, if the connection broke.
func (s *Store) reads(ctx context.Context, fill func(redis.Pipeliner)) error {
	return s.readWith(ctx, s.client.Pipeline, fill)
}

// transaction runs reads at one instant, in MULTI/EXEC. All their keys are in one partition.
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
// at the same time. See chat.PullStore for what is read where there is more than one answer holds.
func (s *Store) Pull(ctx context.Context, user string, pulls []chat.Pull) ([]chat.Page, error) {
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
				bytes, err := s.pullTransaction(ctx, user, pulls, pages, chunk, left)
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

// pullTransaction reads the pulls of indexes and writes what it got to the same places of pages. It returns how many bytes
// of entries it read, which is not much more than room.
func (s *Store) pullTransaction(ctx context.Context, user string, pulls []chat.Pull, pages []chat.Page, indexes []int, room int) (int, error) {
	asked := make([]chat.Pull, len(indexes))
	for j, i := range indexes {
		asked[j] = pulls[i]
	}
	groups := make([]string, len(indexes))
	for j, p := range asked {
		groups[j] = p.Group
	}
	var infos *redis.Cmd
	var read entriesRead
	err := s.transaction(ctx, func(pipe redis.Pipeliner) {
		infos = queueCall(ctx, pipe, s.infosCall(user, groups))
		read = s.queueEntries(ctx, pipe, asked, room)
	})
	if queuesNothing(err) {
		if bytes, failed := s.pullScripts(ctx, user, pulls, pages, indexes, room); failed == nil {
			return bytes, nil
		}
	}
	if err != nil {
		return 0, err
	}
	found, bytes, err := read.entries()
	if err != nil {
		return 0, err
	}
	r, err := asReply(infosScript.Name, infos.Val())
	if err != nil {
		return 0, err
	}
	for j, i := range indexes {
		pages[i].Info = asInfo(pulls[i].Group, r.list(1+j))
		pages[i].Cut = pulls[i].Limit > 0 && len(found[j]) == 0 && bytes >= room
		fillPage(&pages[i], pulls[i], found[j])
	}
	return bytes, nil
}

// queuesNothing tells whether a transaction may have been refused because the server's memory is full: MULTI adds to it.
func queuesNothing(err error) bool {
	return redis.HasErrorPrefix(err, "OOM") || redis.HasErrorPrefix(err, "EXECABORT")
}

// pullScripts is pullTransaction by scripts, one a group, which a full server runs. They cost it three times as much.
func (s *Store) pullScripts(ctx context.Context, user string, pulls []chat.Pull, pages []chat.Page, indexes []int, room int) (bytes int, err error) {
	for _, i := range indexes {
		p := pulls[i]
		r, err := s.runSafe(ctx, logPageScript.On(s.keys.group(p.Group).of(user)).Arg("user", user).Arg("from", max(p.Before, p.From)).
			Arg("before", p.Before > 0).Arg("limit", p.Limit).Arg("bytes_max", max(room-bytes, 0)))
		if err != nil {
			return bytes, err
		}
		pages[i].Info = asInfo(p.Group, r.list(1))
		stored := r.texts(2)
		pages[i].Cut = p.Limit > 0 && len(stored) == 0 && bytes >= room
		fillPage(&pages[i], p, stored)
		for _, entry := range stored {
			bytes += len(entry)
		}
	}
	return bytes, nil
}

// fillPage puts what was read into a page, as far as the user may see it. A log that cannot be read is no reason to serve
// none of the others.
func fillPage(page *chat.Page, p chat.Pull, stored []string) {
	if page.Info.Role == "" {
		page.Err = chat.ErrNotFound
		if page.Info.Epoch != "" && page.Info.Visibility == chat.Public {
			page.Err = chat.ErrMembersOnly
		}
		return
	}
	messages, err := decodeMessages(p.Group, stored)
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
