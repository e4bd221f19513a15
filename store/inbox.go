package store

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"slices"

	"github.com/chatd/chatd/chat"
)

var (
	inboxAppendScript = newScript("inbox/append")
	inboxAckScript    = newScript("inbox/ack")
	inboxOpenScript   = newScript("inbox/open")
	inboxForgetScript = newScript("inbox/forget")
	inboxPullScript   = newReader("inbox/pull")
	inboxEndsScript   = newReader("inbox/ends")
)

// InboxAppend puts an item into an inbox. With a key it is repeated once after a connection that broke.
func (s *Store) InboxAppend(ctx context.Context, item chat.NewItem) (seq, sentAtMs int64, duplicate bool, err error) {
	keys, args := s.inboxArgs(item)
	run := s.run
	if item.Key != "" {
		run = s.runSafe
	}
	r, err := run(ctx, call{inboxAppendScript, keys, args})
	if err != nil {
		return 0, 0, false, err
	}
	s.forgetInboxSender(ctx, item.To, r.text(4))
	return r.number(1), r.number(2), r.number(3) == 1, nil
}

// inboxArgs are the keys and arguments that inbox_args of lib/inbox_put.lua binds.
func (s *Store) inboxArgs(item chat.NewItem) (keys []string, args []any) {
	k, p := s.keys.user(item.To), s.keys.partition(item.To)
	keys = []string{k.inbox(), k.inboxBase(), k.inboxSenders(), k.inboxSent(item.From), s.keys.users(p)}
	if item.Notify != "" {
		keys = append(append(keys, s.keys.wants(p), s.keys.reachable(p)), s.keys.queue(p).Enqueue()...)
	}
	return keys, []any{item.From, item.Rest, item.SentAtMs, shortHash(item.Key), shortHash(item.Content), flag(item.System),
		s.limits.InboxItemsMax, s.limits.KeysMax, newEpoch(), k.channel(), item.To, string(item.Notify)}
}

// forgetInboxSender drops what is kept of a sender who was idle for a day, where there is one. The next item finds the
// sender again if it fails.
func (s *Store) forgetInboxSender(ctx context.Context, user, sender string) {
	if sender == "" {
		return
	}
	k := s.keys.user(user)
	forget := call{inboxForgetScript, []string{k.inboxSenders(), k.inboxSent(sender)}, []any{sender}}
	if _, err := s.run(ctx, forget); err != nil {
		s.log.Debug("an idle sender was not forgotten", "error", err)
	}
}

// InboxPull reads up to limit items after a seq, or after what was acked.
func (s *Store) InboxPull(ctx context.Context, user string, after *int64, limit int) (chat.InboxBatch, error) {
	k := s.keys.user(user)
	pull := inboxPullCall(k, after, limit)
	r, err := s.runSafe(ctx, pull)
	if err == nil && r.text(1) == "" {
		// Nobody wrote here yet. The inbox gets its epoch, so that a reader notices if it is ever lost.
		if _, err = s.runSafe(ctx, call{inboxOpenScript, []string{k.inboxBase()}, []any{newEpoch()}}); err == nil {
			r, err = s.runSafe(ctx, pull)
		}
	}
	if err != nil {
		return chat.InboxBatch{}, err
	}
	return asInboxBatch(r, after), nil
}

func inboxPullCall(k userKeys, after *int64, limit int) call {
	position := any("")
	if after != nil {
		position = max(*after, 0)
	}
	return call{inboxPullScript, []string{k.inbox(), k.inboxBase()}, []any{position, limit}}
}

// asInboxBatch reads what inbox/pull.lua answers: epoch, base, lost, acked, length, then the items.
func asInboxBatch(r reply, after *int64) chat.InboxBatch {
	base, lost, acked := r.number(2), r.number(3), r.number(4)
	b := chat.InboxBatch{Epoch: r.text(1), Last: base + r.number(5)}
	position := acked
	if after != nil {
		position = max(*after, 0)
	}
	b.Complete = position >= lost && position <= b.Last
	b.From = max(position, base) + 1
	if position > b.Last {
		b.From = base + 1 // as in inbox/pull.lua
	}
	for i := 6; i < len(r); i++ {
		b.Items = append(b.Items, []byte(r.text(i)))
	}
	b.To = b.From - 1 + int64(len(b.Items))
	b.HasMore = b.To < b.Last
	return b
}

// InboxAck removes all items up to and including seq.
func (s *Store) InboxAck(ctx context.Context, user string, seq int64) error {
	k := s.keys.user(user)
	_, err := s.runSafe(ctx, call{inboxAckScript, []string{k.inbox(), k.inboxBase()}, []any{max(seq, 0)}})
	return err
}

// InboxEnds returns the highest seq of each user's inbox.
func (s *Store) InboxEnds(ctx context.Context, users []string) ([]int64, error) {
	ends := make([]int64, len(users))
	err := s.endsByPartition(ctx, users, inboxEndsScript, func(user string) []string {
		k := s.keys.user(user)
		return []string{k.inbox(), k.inboxBase()}
	}, func(i int, r reply) { ends[i] = r.number(0) }, 1)
	return ends, err
}

// Lasts returns where the log of each group ends.
func (s *Store) Lasts(ctx context.Context, groups []string) ([]chat.LogEnd, error) {
	ends := make([]chat.LogEnd, len(groups))
	err := s.endsByPartition(ctx, groups, lastsScript, func(group string) []string {
		k := s.keys.group(group)
		return []string{k.id(), k.meta()}
	}, func(i int, r reply) { ends[i] = chat.LogEnd{Last: r.number(0), Epoch: r.text(1)} }, 2)
	return ends, err
}

// endsByPartition runs a reading script once for each partition, over the keys of all ids there, at most lastsMax of
// them in a call. take gets the fields of ids[i].
func (s *Store) endsByPartition(ctx context.Context, ids []string, script *script, keysOf func(string) []string,
	take func(i int, fields reply), fields int) error {
	byPartition := make([][]int, s.keys.partitions)
	for i, id := range ids {
		p := s.keys.partition(id)
		byPartition[p] = append(byPartition[p], i)
	}
	var calls []call
	var asked [][]int
	for _, indexes := range byPartition {
		for chunk := range slices.Chunk(indexes, lastsMax) {
			c := call{script: script}
			for _, i := range chunk {
				c.keys = append(c.keys, keysOf(ids[i])...)
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

// newEpoch is the name of one life of an inbox.
func newEpoch() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails, by its documentation
	return base64.RawURLEncoding.EncodeToString(b[:])
}
