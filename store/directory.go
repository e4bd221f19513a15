package store

import (
	"context"
	"slices"

	"github.com/redis/go-redis/v9"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/directory"
	"github.com/chatd/chatd/internal/fold"
)

var (
	directoryListScript     = newScript("directory/list", groupNames)
	directoryNotedScript    = newScript("directory/noted", partNames)
	directoryBacklogsScript = newReader("directory/backlogs", partNames)
)

// backlogsAtOnce is how many groups one step reads: about 1 ms.
const backlogsAtOnce = 100

// Directory is the list of all groups: each is on it twice, by its id and by its folded name, in the partition of the group. The
// steps that create, rename and delete groups keep it.
type Directory struct {
	*base
	groups *Groups
}

// Listed pages through the list: a page of each partition, merged.
func (s *Directory) Listed(ctx context.Context, prefix, after string, count int) (entries []string, more bool, err error) {
	return s.groups.lexical(ctx, (*partKeys).named, prefix, after, count)
}

// CountListed counts the groups of the list, on which each is twice.
func (s *Directory) CountListed(ctx context.Context) (groups int64, err error) {
	var counts []*redis.IntCmd
	err = s.reads(ctx, func(pipe redis.Pipeliner) {
		counts = counts[:0]
		for _, p := range s.keys.partitions {
			counts = append(counts, pipe.ZCard(ctx, p.named()))
		}
	})
	for _, c := range counts {
		groups += c.Val()
	}
	return groups / 2, err
}

// ListedAll tells whether every group is on the list.
func (s *Directory) ListedAll(ctx context.Context) (bool, error) {
	var listed *redis.StringCmd
	if err := s.reads(ctx, func(pipe redis.Pipeliner) { listed = pipe.HGet(ctx, s.keys.part(0).layout(), "listed") }); err != nil {
		return false, err
	}
	return listed.Val() == "1", nil
}

// NoteListedAll records that every group is on the list.
func (s *Directory) NoteListedAll(ctx context.Context) error {
	return s.doSafe(ctx, directoryNotedScript.On(s.keys.part(0)))
}

// ListGroups puts groups on the list, by the names that they have now. Whoever renames a group meanwhile lists it, too.
func (s *Directory) ListGroups(ctx context.Context, groups []string) error {
	var names []*redis.StringCmd
	err := s.reads(ctx, func(pipe redis.Pipeliner) {
		names = names[:0]
		for _, g := range groups {
			names = append(names, pipe.HGet(ctx, s.keys.group(g).meta(), "name"))
		}
	})
	if err != nil {
		return err
	}
	calls := make([]call, len(groups))
	for i, g := range groups {
		name := names[i].Val()
		calls[i] = directoryListScript.On(s.keys.group(g)).Arg("group", g).Arg("name", name).Arg("folded", fold.Fold(name))
	}
	_, _, err = s.runAll(ctx, calls)
	return err
}

// Activities reads when the newest entry of each group was sent.
func (s *Directory) Activities(ctx context.Context, groups []string) ([]int64, error) {
	var times []*redis.StringCmd
	err := s.reads(ctx, func(pipe redis.Pipeliner) {
		times = times[:0]
		for _, g := range groups {
			times = append(times, pipe.HGet(ctx, s.keys.group(g).meta(), "active_ms"))
		}
	})
	if err != nil {
		return nil, err
	}
	ms := make([]int64, len(groups))
	for i, t := range times {
		if ms[i] = -1; t.Err() == nil {
			ms[i] = number(t.Val())
		}
	}
	return ms, nil
}

// Backlogs reads what groups keep only because members are behind.
func (s *Directory) Backlogs(ctx context.Context, groups []string, blockers int) ([]directory.Backlog, error) {
	var calls []call
	var asked [][]int
	for _, here := range s.groups.indexesByPartition(groups) {
		for some := range slices.Chunk(here, backlogsAtOnce) {
			c := directoryBacklogsScript.Sized(s.keys.home(groups[some[0]]), 5*len(some)).Arg("max", blockers)
			for _, i := range some {
				k := s.keys.group(groups[i])
				c = c.More("groups", "last_id", k.lastID(), "meta", k.meta(), "seen", k.seen(), "msgs", k.msgs(), "files_named", k.filesNamed())
			}
			calls, asked = append(calls, c), append(asked, some)
		}
	}
	replies, err := s.runReads(ctx, calls)
	if err != nil {
		return nil, err
	}
	backlogs := make([]directory.Backlog, len(groups))
	for c, r := range replies {
		for j, i := range asked[c] {
			row := r.list(1 + j)
			backlogs[i] = directory.Backlog{Held: row.number(0), Since: sentAt(row.text(1)), Blockers: row.waitedFor(2)}
		}
	}
	return backlogs, nil
}

// sentAt is when a stored entry was sent; nil if that is not known.
func sentAt(stored string) *chat.Time {
	if ms := sentAtMs(stored, 0); ms > 0 {
		return new(chat.TimeMs(ms))
	}
	return nil
}
