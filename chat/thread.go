package chat

import (
	"context"
	"encoding/json"
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
