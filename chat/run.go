package chat

import (
	"context"
	"sync"
)

// Run keeps the index near the cursors and tells the store who is live here until ctx ends, and returns when all of it has
// stopped.
func (s *Service) Run(ctx context.Context) error {
	// Where devices are, the delay that this node was given holds from now on.
	if err := s.stores.WantNotify(ctx, s.opt.NotifyDelay, true); err != nil && ctx.Err() == nil {
		s.opt.Log.WarnContext(ctx, "the delay of notifications stays as it was", "error", err)
	}
	// Where the last change of the webhooks was rolled back with the store, or came from elsewhere.
	if err := s.stores.SpreadWebhooks(ctx); err != nil && ctx.Err() == nil {
		s.opt.Log.WarnContext(ctx, "what is known of webhooks stays as it was", "error", err)
	}
	var wg sync.WaitGroup
	wg.Go(func() { s.runHints(ctx) })
	wg.Go(func() { s.runKnown(ctx) })
	wg.Go(func() { s.runPresence(ctx) })
	wg.Wait()
	return nil
}
