package store

import (
	"cmp"
	"context"
	"fmt"

	"github.com/chatd/chatd/chat"
)

var (
	ackScript      = newFreeing("cursor/ack", memberNames)
	unreadScript   = newFreeing("cursor/unread", memberNames)
	receiptsScript = newReader("cursor/receipts", groupNames)
)

// Cursors are how far each member has seen and read.
type Cursors struct {
	*base
	logs *Logs
}

// Ack moves seen to a position, and read too where read is true; never backward.
func (s *Cursors) Ack(ctx context.Context, group, user string, at chat.Position, read bool, origin string) (chat.Cursors, error) {
	k := s.keys.group(group)
	return asCursors(s.runSafe(ctx, ackScript.On(k.of(user)).Arg("user", user).Arg("id", max(at.ID, 0)).Arg("with_read", read).
		Arg("at_epoch", at.Epoch).Arg("at_mark", at.Mark).
		Arg("channel", k.channel()).Arg("group", group).Arg("task_id", k.taskID()).Arg("origin", origin)))
}

// Unread moves read back to id-1.
func (s *Cursors) Unread(ctx context.Context, group, user string, id int64) (chat.Cursors, error) {
	k := s.keys.group(group)
	return asCursors(s.runSafe(ctx, unreadScript.On(k.of(user)).Arg("user", user).Arg("id", max(id, 0)).
		Arg("channel", k.channel()).Arg("group", group)))
}

func asCursors(r reply, err error) (chat.Cursors, error) {
	if err != nil {
		return chat.Cursors{}, err
	}
	return chat.Cursors{Seen: r.number(1), Read: r.number(2), Unread: r.number(3)}, nil
}

// Receipts of message id, over all members but its sender; over all members where it is trimmed. The sender is read first,
// because it never changes.
func (s *Cursors) Receipts(ctx context.Context, group, user string, id int64, after string, limit int) (chat.Receipts, error) {
	k := s.keys.group(group)
	sender := ""
	found, err := s.logs.Entries(ctx, group, []int64{id})
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
	r, err := s.runSafe(ctx, receiptsScript.On(k).Arg("user", user).Arg("id", id).Arg("found", len(found)).Arg("sender", sender).
		Arg("after", cmp.Or(after, "0")).Arg("limit", limit))
	if err != nil {
		return chat.Receipts{}, err
	}
	out := chat.Receipts{ID: id, Members: r.number(1), Seen: r.number(2), Read: r.number(3), Next: r.text(4)}
	out.All, out.Receipting = r.number(5), cmp.Or(chat.Receipting(r.text(6)), chat.ReceiptsOptional)
	for i := 7; i+2 < len(r); i += 3 {
		receipt := chat.Receipt{User: r.text(i), Seen: r.number(i + 1), Read: r.number(i + 2)}
		out.LastUser = receipt.User
		if receipt.Seen >= id {
			out.SeenBy = append(out.SeenBy, receipt)
		} else {
			out.Pending = append(out.Pending, receipt.User)
		}
	}
	return out, nil
}
