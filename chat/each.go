package chat

import (
	"context"

	"golang.org/x/sync/errgroup"
)

// eachAtOnce is how many steps of one request run at the same time: enough to share round trips, but too few for one request
// to take the store's connections away from others.
const eachAtOnce = 16

// Each calls do for every item, several at once, and waits for all of them. After the first error no further calls start.
func Each[T any](ctx context.Context, items []T, do func(context.Context, T) error) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(eachAtOnce)
	for _, item := range items {
		g.Go(func() error {
			if err := context.Cause(ctx); err != nil {
				return err
			}
			return do(ctx, item)
		})
	}
	return g.Wait()
}
