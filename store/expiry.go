package store

import (
	"context"
	"strconv"

	"github.com/chatd/chatd/chat/expiry"
)

var _ expiry.Store = (*Expiry)(nil)

var (
	expiryDueScript    = newReader("expiry/due", groupNames)
	expirySettleScript = newFreeing("expiry/settle", groupNames)
)

// Expiry knows which messages go when.
type Expiry struct{ *base }

// Due reads which messages of a group have to go by now.
func (s *Expiry) Due(ctx context.Context, group, epoch string, limit int) ([]int64, error) {
	r, err := s.runSafe(ctx, expiryDueScript.On(s.keys.group(group)).Arg("epoch", epoch).Arg("limit", limit))
	if err != nil {
		return nil, err
	}
	texts := r.list(1)
	ids := make([]int64, len(texts))
	for i := range texts {
		ids[i] = texts.number(i)
	}
	return ids, nil
}

// Settle forgets the ends of messages that are gone, and has a task wait for the next.
func (s *Expiry) Settle(ctx context.Context, group, epoch string, gone []int64) error {
	ids := make([]string, len(gone))
	for i, id := range gone {
		ids[i] = strconv.FormatInt(id, 10)
	}
	return s.doSafe(ctx, expirySettleScript.On(s.keys.group(group)).Arg("group", group).Arg("epoch", epoch).List("gone", ids))
}
