package chat

import (
	"context"
	"sync"
)

// Run keeps the index near the cursors until ctx ends, and returns when the last of it is written.
func (s *Service) Run(ctx context.Context) error {
	// Where the last change of the webhooks was rolled back with the store, or came from elsewhere.
	if err := s.stores.SpreadWebhooks(ctx); err != nil && ctx.Err() == nil {
		s.opt.Log.WarnContext(ctx, "what is known of webhooks stays as it was", "error", err)
	}
	var wg sync.WaitGroup
	wg.Go(func() { s.runHints(ctx) })
	wg.Go(func() { s.runKnown(ctx) })
	wg.Wait()
	return nil
}
