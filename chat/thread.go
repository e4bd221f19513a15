package chat

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

// RootOf decodes a message that may have a thread: a text or data that is in none itself. ErrNotFound: it is deleted. ErrNoRoot.
func RootOf(m Message) (Entry, error) {
	var e Entry
	if err := json.Unmarshal(m.JSON, &e); err != nil {
		return e, AsError(fmt.Errorf("message %d: %w", m.ID, err))
	}
	switch {
	case e.DeletedAt != nil:
		return e, ErrNotFound
	case e.Kind != Text && e.Kind != Data, e.Thread != 0:
		return e, ErrNoRoot
	}
	return e, nil
}

// RootBelow is how the root of a thread stands that may be in the archive, for what sends there without being asked; nil: there is none
// that may have a thread, and the store refuses it.
func (s *sends) RootBelow(ctx context.Context, group string, root int64) (*Below, error) {
	info, err := s.Info(ctx, "", group)
	if err != nil {
		return nil, notThere(err)
	}
	found, err := s.store.Entries(ctx, group, []int64{root})
	if err != nil {
		return nil, AsError(err)
	}
	if len(found) == 0 {
		return nil, nil
	}
	e, err := RootOf(found[0])
	if err != nil {
		return nil, notThere(err)
	}
	return &Below{Epoch: info.Epoch, Late: info.Late, Author: e.From}, nil
}

// notThere is nil where an error says that a root cannot have a thread.
func notThere(err error) error {
	if errors.Is(err, ErrNotFound) || errors.Is(err, ErrNoRoot) {
		return nil
	}
	return err
}

// ReplyCount is how many replies there are in a thread, and the newest of them.
type ReplyCount struct {
	Replies int64
	LastID  int64
}

// replyCounts is a part of LogStore.
type replyCounts interface {
	// ReplyCounts tells of messages of a group how many replies their threads have: of those that have any.
	ReplyCounts(ctx context.Context, group string, ids []int64) (map[int64]ReplyCount, error)
}
