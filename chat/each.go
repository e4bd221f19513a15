package chat

import (
	"context"

	"golang.org/x/sync/errgroup"
)

// eachAtOnce is how many steps of one request are on their way to the store at a time: enough to share round trips,
// too few for one request to take the store's connections from others.
const eachAtOnce = 16

// Each does do for every item, several at once, and waits for all of them. The first error stops those that have not
// begun.
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
