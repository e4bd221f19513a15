package chat

import (
	"context"
	"sync"
)

// Run keeps the index near the cursors until ctx ends, and returns when the last of it is written.
func (s *Service) Run(ctx context.Context) error {
	var wg sync.WaitGroup
	wg.Go(func() { s.runHints(ctx) })
	wg.Go(func() { s.runKnown(ctx) })
	wg.Wait()
	return nil
}
