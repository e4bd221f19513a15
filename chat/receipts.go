package chat

import "context"

// Receipt is how far one member is.
type Receipt struct {
	User string `json:"user"`
	Seen int64  `json:"seen"`
	Read int64  `json:"read"`
}

// Receipts of one message, over all members but its sender; over all members where it is trimmed, because nothing says any
// longer who sent it.
type Receipts struct {
	ID      int64
	Members int64     // how many members the receipts are over
	Seen    int64     // how many of them have seen it
	Read    int64     // how many have read it
	SeenBy  []Receipt // of this page
	Pending []string  // of this page
	Next    string    // `<joined id>.<user>` to go on from; empty: no more

	All        int64      // members, with the sender
	Receipting Receipting // of the group
	LastUser   string     // of this page
}

// ReceiptsQuery asks for the receipts of one message.
type ReceiptsQuery struct {
	ID     int64
	Limit  int    // members of a page; 0: the default
	Cursor string // next of the previous page
}

// Receipts shows members how far the other members have got with a message. next is where the next page begins.
func (s *cursors) Receipts(ctx context.Context, by Caller, group string, q ReceiptsQuery) (r Receipts, next string, err error) {
	after, limit, err := joinedPage(s.opt.Limits, by, group, q.Limit, q.Cursor)
	if err != nil {
		return Receipts{}, "", err
	}
	if q.ID < 1 {
		return Receipts{}, "", Invalid("id: must be at least 1")
	}
	r, err = s.store.Receipts(ctx, group, by.User, min(q.ID, IDMax), after, limit)
	if err != nil {
		return Receipts{}, "", s.Refused(ctx, by, group, err)
	}
	id := r.ID
	r, err = s.veiled(ctx, by, r, after, func(after string, limit int) (Receipts, error) {
		return s.store.Receipts(ctx, group, by.User, id, after, limit)
	})
	return r, r.Next, AsError(err)
}
