package person

import (
	"context"

	"github.com/chatd/chatd/chat"
)

// Following says how far the user has read a thread.
type Following struct {
	Group  string `json:"group"`
	ID     int64  `json:"id"` // of the root
	Read   int64  `json:"read"`
	Unread int64  `json:"unread"`
}

// threads writes which threads of a group the user follows.
func (e *export) threads(ctx context.Context, group string) error {
	for cursor := ""; ; {
		list, next, err := e.from.Threads.Followed(ctx, e.by, group, cursor, page)
		if err != nil {
			return unlessLeft(err)
		}
		records := make([]Record, len(list))
		for i, t := range list {
			records[i].Thread = &Following{Group: group, ID: t.ID, Read: t.Read, Unread: t.Unread}
		}
		if len(records) > 0 {
			err = e.write(records)
		}
		if err != nil || next == "" {
			return err
		}
		cursor = next
	}
}

// unlessLeft is no error where the user has left the group meanwhile, or it is gone.
func unlessLeft(err error) error {
	if code := chat.CodeOf(err); code == chat.CodeNotFound || code == chat.CodeForbidden || code == chat.CodeConflict {
		return nil
	}
	return err
}
