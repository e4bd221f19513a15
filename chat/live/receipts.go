package live

import (
	"context"
	"time"

	"github.com/chatd/chatd/chat"
)

// receiptsPause is the minimum time between two checks of one waiting call: in a large group cursors move all the time.
const receiptsPause = 100 * time.Millisecond

// Receipts is the core's Receipts with a wait: it answers once nobody is pending, or with the current state when the time is up
// or ctx ends.
func (s *Service) Receipts(ctx context.Context, by chat.Caller, group string, q chat.ReceiptsQuery, wait time.Duration) (r chat.Receipts, next string, err error) {
	if wait < 0 {
		return chat.Receipts{}, "", chat.Invalid("wait_s: negative")
	}
	// Check before following: a node follows no group on behalf of someone who is not in it.
	r, next, err = s.core.Receipts(ctx, by, group, q)
	if err != nil || r.Seen == r.Members || wait == 0 {
		return r, next, err
	}
	over := time.NewTimer(min(wait, s.limits.WaitMax))
	defer over.Stop()
	w, err := s.hub.watchCursors(ctx, by.User, group)
	if err != nil {
		return chat.Receipts{}, "", chat.AsError(err)
	}
	defer w.Close()
	for {
		r, next, err = s.core.Receipts(ctx, by, group, q)
		if err != nil || r.Seen == r.Members {
			return r, next, err
		}
		looked, check := time.Now(), time.NewTimer(jitter(s.limits.SafetyCheck))
		select {
		case <-w.C():
		case <-check.C:
		case <-over.C:
			check.Stop()
			return s.core.Receipts(ctx, by, group, q)
		case <-ctx.Done():
			check.Stop()
			return r, next, nil
		}
		check.Stop()
		pause(ctx, receiptsPause-time.Since(looked))
	}
}
