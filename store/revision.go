package store

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/chatd/chatd/chat"
)

var reviseScript = newScript("revision/revise")

// Revise appends an edit or a delete entry and changes what it touches, in one step. The script adds the id of an edit
// to the edits of its target; those of Change.New are not looked at.
func (s *Store) Revise(ctx context.Context, a chat.Append, changes []chat.Change, asAdmin bool) (chat.Appended, error) {
	if len(changes) == 0 {
		return chat.Appended{}, broke("revise", errors.New("there is no target"))
	}
	// What the target says is compared in the script, so what is derived from it here holds there.
	target, err := decodeEntry(changes[0].Old)
	if err != nil {
		return chat.Appended{}, broke("revise", fmt.Errorf("message %d: %w", changes[0].Old.ID, err))
	}
	if !asAdmin && target.From != a.From {
		return chat.Appended{}, chat.ErrForbidden
	}
	k := s.keys.group(a.Group)
	keys := []string{k.id(), k.meta(), k.members(), k.msgs(), k.seen(), k.read(), k.skip(), k.senders(), k.sent(a.From),
		k.reactions(), k.reacted(), k.by(target.From), s.keys.wants(k.partition)}
	keys = append(keys, k.enqueue()...)
	for _, user := range target.Mentions {
		keys = append(keys, k.at(user))
	}
	args := make([]any, 0, 13+5*len(changes))
	args = append(args, a.From, string(a.Kind), a.Mark, a.Rest, a.SentAtMs, shortHash(a.Key), shortHash(a.Content),
		flag(asAdmin && !a.Operator), flag(durable(a.Durability)), k.channel(), s.limits.KeysMax, s.limits.EditsMax, a.Group)
	for _, c := range changes {
		if c.Old.ID != c.New.ID || c.Old.Mark != c.New.Mark {
			return chat.Appended{}, broke("revise", fmt.Errorf("message %d would lose its identity", c.Old.ID))
		}
		id := strconv.FormatInt(c.Old.ID, 10)
		args = append(args, id, id+" "+c.Old.Mark, encodeEdits(c.Old.Edits), c.Old.JSON, c.New.JSON)
	}
	return s.append(ctx, call{reviseScript, keys, args}, a)
}
