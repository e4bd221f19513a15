package live

import (
	"context"
	"time"

	"github.com/chatd/chatd/chat"
)

// awaitPause is the minimum time between two looks of one waiting call: in a large group cursors move all the time.
const awaitPause = 100 * time.Millisecond

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
	waitErr := s.Await(ctx, by.User, group, wait, func() bool {
		r, next, err = s.core.Receipts(ctx, by, group, q)
		return err != nil || r.Seen == r.Members
	})
	if waitErr != nil {
		return chat.Receipts{}, "", waitErr
	}
	return r, next, err
}

// Await looks at a group whenever a member's cursor moves or the log grows, and from time to time, until look says that it is done, the
// time is up or ctx ends. Whoever calls has made sure that the user may look.
func (s *Service) Await(ctx context.Context, user, group string, wait time.Duration, look func() (done bool)) error {
	over := time.NewTimer(min(wait, s.limits.WaitMax))
	defer over.Stop()
	w, err := s.hub.watchCursors(ctx, user, group)
	if err != nil {
		return chat.AsError(err)
	}
	defer w.Close()
	for {
		if look() {
			return nil
		}
		looked, check := time.Now(), time.NewTimer(jitter(s.limits.SafetyCheck))
		select {
		case <-w.C():
		case <-check.C:
		case <-over.C:
			check.Stop()
			look()
			return nil
		case <-ctx.Done():
			check.Stop()
			return nil
		}
		check.Stop()
		pause(ctx, awaitPause-time.Since(looked))
	}
}
