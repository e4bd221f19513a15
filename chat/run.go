package chat

import (
	"context"
	"sync"
)

// Run runs the live part (the node's subscription, fills, safety check, hints) until ctx ends, and returns when all of it
// has stopped. Follow and long polls need it.
func (s *Service) Run(ctx context.Context) error {
	var wg sync.WaitGroup
	wg.Go(func() { s.runHints(ctx) })
	defer wg.Wait()
	return s.feeds.run(ctx)
}
