package chat

import (
	"context"
	"sync"
)

// Run keeps users' indexes close to their cursors until ctx ends, and returns once everything is written.
func (s *Service) Run(ctx context.Context) error {
	var wg sync.WaitGroup
	wg.Go(func() { s.runHints(ctx) })
	wg.Go(func() { s.runKnown(ctx) })
	wg.Wait()
	return nil
}
