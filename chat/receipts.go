package chat

import (
	"context"
	"time"
)

// receiptsPause is the least time between two looks of one waiting call: in a large group the cursors move all the time.
const receiptsPause = 100 * time.Millisecond

// ReceiptsQuery asks for the receipts of one message.
type ReceiptsQuery struct {
	ID     int64
	Limit  int    // members of a page; 0: the default
	Cursor string // of the page before
	Wait   time.Duration
}

// Receipts tells members how far the other members are with a message. next is where the next page begins. With q.Wait it
// answers once nobody is pending, and else as things are when that time is over, or ctx ends.
func (s *Service) Receipts(ctx context.Context, by Caller, group string, q ReceiptsQuery) (r Receipts, next string, err error) {
	after, limit, err := s.joinedPage(by, group, q.Limit, q.Cursor)
	if err != nil {
		return Receipts{}, "", err
	}
	switch {
	case q.ID < 1:
		return Receipts{}, "", Invalid("id: must be at least 1")
	case q.Wait < 0:
		return Receipts{}, "", Invalid("wait_s: negative")
	}
	look := func() (Receipts, error) {
		r, err := s.stores.Receipts(ctx, group, by.User, min(q.ID, IDMax), after, limit)
		if err != nil {
			return Receipts{}, s.Refused(ctx, by, group, err)
		}
		return r, nil
	}
	// Before anything is followed: a node follows no group for somebody who is not in it.
	r, err = look()
	if err == nil && r.pending() && q.Wait > 0 {
		r, err = s.awaitReceipts(ctx, by, group, min(q.Wait, s.opt.Limits.WaitMax), look)
	}
	return r, joinedCursor(r.Next), err
}

// pending tells whether somebody has not seen the message.
func (r Receipts) pending() bool { return r.Seen < r.Members }

// awaitReceipts looks whenever a cursor of the group moved or its log grew, and now and then although no signal came.
func (s *Service) awaitReceipts(ctx context.Context, by Caller, group string, wait time.Duration, look func() (Receipts, error)) (Receipts, error) {
	over := time.NewTimer(wait)
	defer over.Stop()
	w, err := s.feeds.watchCursors(ctx, by.User, group)
	if err != nil {
		return Receipts{}, AsError(err)
	}
	defer w.Close()
	for {
		r, err := look()
		if err != nil || !r.pending() {
			return r, err
		}
		looked, check := time.Now(), time.NewTimer(jitter(s.opt.Limits.SafetyCheck))
		select {
		case <-w.C():
		case <-check.C:
		case <-over.C:
			return look()
		case <-ctx.Done():
			return r, nil
		}
		check.Stop()
		pause(ctx, receiptsPause-time.Since(looked))
	}
}
