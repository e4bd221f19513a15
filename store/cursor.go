package store

import (
	"context"
	"fmt"

	"github.com/chatd/chatd/chat"
)

var (
	ackScript      = newScript("cursor/ack")
	unreadScript   = newScript("cursor/unread")
	receiptsScript = newReader("cursor/receipts")
)

// Ack moves seen to id, and read too where read is true; never backward.
func (s *Store) Ack(ctx context.Context, group, user string, id int64, read bool) (chat.Cursors, error) {
	k := s.keys.group(group)
	keys := append([]string{k.id(), k.meta(), k.members(), k.msgs(), k.seen(), k.read(), k.skip(), k.by(user),
		k.reactions(), k.reacted(), k.joined()}, k.enqueue()...)
	keys = append(keys, s.keys.wants(k.partition))
	return asCursors(s.runSafe(ctx, call{ackScript, keys, []any{user, max(id, 0), flag(read), k.channel(), group, k.taskID()}}))
}

// Unread moves read back to id-1.
func (s *Store) Unread(ctx context.Context, group, user string, id int64) (chat.Cursors, error) {
	k := s.keys.group(group)
	return asCursors(s.runSafe(ctx, call{unreadScript, []string{k.id(), k.meta(), k.members(), k.msgs(), k.seen(), k.read(),
		k.skip(), k.by(user), k.joined()}, []any{user, max(id, 0), k.channel()}}))
}

func asCursors(r reply, err error) (chat.Cursors, error) {
	if err != nil {
		return chat.Cursors{}, err
	}
	return chat.Cursors{Seen: r.number(1), Read: r.number(2), Unread: r.number(3)}, nil
}

// Receipts of message id, over all members but its sender; over all members where it is trimmed. The sender is read first:
// who sent a message never changes.
func (s *Store) Receipts(ctx context.Context, group, user string, id, after int64, limit int) (chat.Receipts, error) {
	k := s.keys.group(group)
	sender := ""
	found, err := s.Entries(ctx, group, []int64{id})
	if err != nil {
		return chat.Receipts{}, err
	}
	if len(found) == 1 {
		entry, err := decodeEntry(found[0])
		if err != nil {
			return chat.Receipts{}, broke("receipts", fmt.Errorf("message %d: %w", id, err))
		}
		sender = entry.From
	}
	r, err := s.runSafe(ctx, call{receiptsScript, []string{k.id(), k.meta(), k.members(), k.joined(), k.seen(), k.read(),
		k.msgs()}, []any{user, id, sender, after, limit}})
	if err != nil {
		return chat.Receipts{}, err
	}
	out := chat.Receipts{ID: id, Members: r.number(1), Seen: r.number(2), Read: r.number(3), Next: r.number(4)}
	for i := 5; i+2 < len(r); i += 3 {
		receipt := chat.Receipt{User: r.text(i), Seen: r.number(i + 1), Read: r.number(i + 2)}
		if receipt.Seen >= id {
			out.SeenBy = append(out.SeenBy, receipt)
		} else {
			out.Pending = append(out.Pending, receipt.User)
		}
	}
	return out, nil
}
