package store

import (
	"context"
	"slices"

	"github.com/chatd/chatd/chat"
)

// Lasts returns where the log of each group ends.
func (s *Store) Lasts(ctx context.Context, groups []string) ([]chat.LogEnd, error) {
	ends := make([]chat.LogEnd, len(groups))
	read := s.ends(groups, lastsScript.Sized, func(c call, group string) call {
		return lastsCall(c, s.keys.group(group))
	}, func(i int, r reply) {
		ends[i] = chat.LogEnd{Last: r.number(0), Epoch: r.text(1), Trimmed: asTrimmed(r.text(2))}
	}, 3)
	return ends, read.run(ctx, s)
}

// Looks tells of each group how far user is in it, and where it ends.
func (s *Store) Looks(ctx context.Context, user string, groups []string) ([]chat.Look, error) {
	looks := make([]chat.Look, len(groups))
	read := s.looks(user, groups, looks)
	return looks, read.run(ctx, s)
}

// looks prepares reading the looks of groups.
func (s *Store) looks(user string, groups []string, looks []chat.Look) endsRead {
	begin := func(k *partKeys, keys int) call { return looksScript.Sized(k, keys).Arg("user", user) }
	return s.ends(groups, begin, func(c call, group string) call {
		k := s.keys.group(group)
		return c.More("groups", "last_id", k.lastID(), "meta", k.meta(), "seen", k.seen(), "read", k.read())
	}, func(i int, r reply) {
		looks[i] = chat.Look{Last: r.number(0), Epoch: r.text(1), Mark: r.text(2), Seen: r.number(3), Read: r.number(4)}
	}, 5)
}

// endsRead are calls of a reading script, one for each partition, and what takes what they answer.
type endsRead struct {
	calls  []call
	asked  [][]int // what each call is about
	take   func(i int, answer reply)
	fields int // that are answered about each
}

// ends prepares a reading script over the keys of all ids, at most lastsMax in a call. begin begins a call that gets about so
// many keys, add adds those of an id to it; take gets what was answered about ids[i], so many fields.
func (s *Store) ends(ids []string, begin func(k *partKeys, keys int) call, add func(c call, id string) call,
	take func(i int, answer reply), fields int) endsRead {
	read := endsRead{take: take, fields: fields}
	for p, here := range s.indexesByPartition(ids) {
		for chunk := range slices.Chunk(here, lastsMax) {
			c := begin(s.keys.part(p), 4*len(chunk))
			for _, i := range chunk {
				c = add(c, ids[i])
			}
			read.calls, read.asked = append(read.calls, c), append(read.asked, chunk)
		}
	}
	return read
}

// run reads in one round trip.
func (e *endsRead) run(ctx context.Context, s *Store) error {
	replies, err := s.runReads(ctx, e.calls)
	if err != nil {
		return err
	}
	for c, r := range replies {
		e.answer(c, r)
	}
	return nil
}

// answer takes the answer to a call.
func (e *endsRead) answer(c int, r reply) {
	for j, i := range e.asked[c] {
		e.take(i, r[1+j*e.fields:])
	}
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
