package chat

import (
	"context"
	"sync"
)

// eachAtOnce is how many steps of one request are on their way to the store at a time: enough to share round trips,
// too few for one request to take the store's connections from others.
const eachAtOnce = 16

// Each does do for every item, several at once, and waits for all of them. The first error stops those that have not
// begun.
func Each[T any](ctx context.Context, items []T, do func(context.Context, T) error) error {
	if len(items) == 1 {
		return do(ctx, items[0])
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var wg sync.WaitGroup
	next := make(chan T)
	for range min(len(items), eachAtOnce) {
		wg.Go(func() {
			for item := range next {
				if err := do(ctx, item); err != nil {
					stop(err)
				}
			}
		})
	}
	for _, item := range items {
		if ctx.Err() != nil {
			break
		}
		select {
		case next <- item:
		case <-ctx.Done():
		}
	}
	close(next)
	wg.Wait()
	return context.Cause(ctx)
}
