package store

import (
	"context"
	"slices"

	"github.com/chatd/chatd/chat"
)

// Lasts returns where the log of each group ends.
func (s *Index) Lasts(ctx context.Context, groups []string) ([]chat.LogEnd, error) {
	ends := make([]chat.LogEnd, len(groups))
	return ends, s.ends(ctx, groups, logEndFields, lastsScript.Sized, func(c call, group string) call {
		return lastsCall(c, s.keys.group(group))
	}, func(i int, r reply) {
		ends[i] = chat.LogEnd{Last: r.number(0), Epoch: r.text(1), Trimmed: asTrimmed(r.text(2)), Streams: r.text(3) != ""}
	})
}

// How many fields a script answers about each id.
const (
	logEndFields   = 4
	inboxEndFields = 3
)

// ends runs a script over the keys of all ids, at most lastsMax in a call, in one round trip. begin begins a call that gets
// about so many keys, add adds those of an id to it; take gets what was answered about ids[i].
func (s *base) ends(ctx context.Context, ids []string, fields int, begin func(k *partKeys, keys int) call, add func(c call, id string) call,
	take func(i int, answer reply)) error {
	var calls []call
	var asked [][]int
	for p, here := range s.indexesByPartition(ids) {
		for chunk := range slices.Chunk(here, lastsMax) {
			c := begin(s.keys.part(p), 2*len(chunk))
			for _, i := range chunk {
				c = add(c, ids[i])
			}
			calls, asked = append(calls, c), append(asked, chunk)
		}
	}
	replies, err := s.runReads(ctx, calls)
	if err != nil {
		return err
	}
	for c, r := range replies {
		for j, i := range asked[c] {
			take(i, r[1+j*fields:])
		}
	}
	return nil
}

// Looks tells for each group how far user has got, and where it ends.
func (s *Index) Looks(ctx context.Context, user string, groups []string, at chat.LookAt) ([]chat.Look, error) {
	looks := make([]chat.Look, len(groups))
	read := s.looks(user, groups, at, looks)
	replies, err := s.runReads(ctx, read.calls)
	if err != nil {
		return nil, err
	}
	for c, r := range replies {
		read.answer(c, r)
	}
	return looks, nil
}

// looksRead are calls of log/looks.lua, one for each partition, and what they are about.
type looksRead struct {
	calls []call
	asked [][]int
	looks []chat.Look
	at    chat.LookAt
}

// looks prepares reading the looks of groups, at most lastsMax in a call.
func (s *Index) looks(user string, groups []string, at chat.LookAt, looks []chat.Look) looksRead {
	read := looksRead{looks: looks, at: at}
	for p, here := range s.indexesByPartition(groups) {
		for chunk := range slices.Chunk(here, lastsMax) {
			read.calls = append(read.calls, s.looksCall(s.keys.part(p), user, groups, chunk, at))
			read.asked = append(read.asked, chunk)
		}
	}
	return read
}

func (s *Index) looksCall(part *partKeys, user string, groups []string, chunk []int, at chat.LookAt) call {
	c := looksScript.Sized(part, 3*len(chunk)).Arg("user", user).Arg("groups", len(chunk)).
		Arg("activity", at == chat.LookAtActivity).Arg("followed", at == chat.LookAtRead)
	end := groupKeys.lastID
	if at == chat.LookAtActivity {
		end = groupKeys.meta
	}
	for _, i := range chunk {
		c = c.More("last_ids", end(s.keys.group(groups[i])))
	}
	for _, i := range chunk {
		cursors := groupKeys.seen
		if at == chat.LookAtRead {
			cursors = groupKeys.read
		}
		c = c.More("cursors", cursors(s.keys.group(groups[i])))
	}
	if at == chat.LookAtRead {
		for _, i := range chunk {
			c = c.More("replies_of", s.keys.group(groups[i]).replies())
		}
	}
	if at == chat.LookAtPosition {
		for _, i := range chunk {
			c = c.More("metas", s.keys.group(groups[i]).meta())
		}
	}
	return c
}

// answer takes the answer to a call.
func (l *looksRead) answer(c int, r reply) {
	n := len(l.asked[c])
	for j, i := range l.asked[c] {
		end, cursor := r.number(1+2*j), r.number(2+2*j)
		look := chat.Look{Last: end, Seen: cursor, Read: -1}
		switch l.at {
		case chat.LookAtRead:
			look.Seen, look.Read, look.Follows = -1, cursor, r.number(1+2*n+j) == 1
		case chat.LookAtPosition:
			look.Epoch, look.Mark = r.text(1+2*n+2*j), r.text(2+2*n+2*j)
		case chat.LookAtActivity:
			look.Last, look.ActiveMs = -1, end
		case chat.LookAtSeen:
		}
		l.looks[i] = look
	}
}

// indexesByPartition groups the indexes of ids by the partition of the id.
func (s *base) indexesByPartition(ids []string) [][]int {
	indexes := make([][]int, s.partitions())
	for i, id := range ids {
		p := s.keys.partition(id)
		indexes[p] = append(indexes[p], i)
	}
	return indexes
}
