package chat

import "context"

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
	return r, r.Next, nil
}
