package store

import (
	"context"
	"slices"

	"github.com/chatd/chatd/chat"
)

// Lasts returns where the log of each group ends.
func (s *Store) Lasts(ctx context.Context, groups []string) ([]chat.LogEnd, error) {
	ends := make([]chat.LogEnd, len(groups))
	err := s.readEnds(ctx, groups, lastsScript.Sized, func(c call, group string) call {
		return lastsCall(c, s.keys.group(group))
	}, func(i int, r reply) {
		ends[i] = chat.LogEnd{Last: r.number(0), Epoch: r.text(1), Trimmed: asTrimmed(r.text(2))}
	}, 3)
	return ends, err
}

// Looks tells of each group how far user is in it, and where it ends.
func (s *Store) Looks(ctx context.Context, user string, groups []string) ([]chat.Look, error) {
	looks := make([]chat.Look, len(groups))
	begin := func(k *partKeys, keys int) call { return looksScript.Sized(k, keys).Arg("user", user) }
	err := s.readEnds(ctx, groups, begin, func(c call, group string) call {
		k := s.keys.group(group)
		return c.More("groups", "last_id", k.lastID(), "meta", k.meta(), "seen", k.seen(), "read", k.read())
	}, func(i int, r reply) {
		looks[i] = chat.Look{Last: r.number(0), Epoch: r.text(1), Mark: r.text(2), Seen: r.number(3), Read: r.number(4)}
	}, 5)
	return looks, err
}

// readEnds runs a reading script once for each partition, over the keys of all ids there, at most lastsMax in a call: one
// round trip. begin begins a call that gets about so many keys, add adds those of an id to it; take gets what was answered
// about ids[i], so many fields.
func (s *Store) readEnds(ctx context.Context, ids []string, begin func(k *partKeys, keys int) call,
	add func(c call, id string) call, take func(i int, answer reply), fields int) error {
	var calls []call
	var asked [][]int
	for p, here := range s.indexesByPartition(ids) {
		for chunk := range slices.Chunk(here, lastsMax) {
			c := begin(s.keys.part(p), 4*len(chunk))
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

// indexesByPartition groups the indexes of ids by the partition of the id.
func (s *Store) indexesByPartition(ids []string) [][]int {
	indexes := make([][]int, s.Partitions())
	for i, id := range ids {
		p := s.keys.partition(id)
		indexes[p] = append(indexes[p], i)
	}
	return indexes
}
