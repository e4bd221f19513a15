// Package each does the steps of one request side by side.
package each

import (
	"context"

	"golang.org/x/sync/errgroup"
)

// atOnce is how many steps of one request run at the same time: enough to share round trips, but too few for one request
// to take the store's connections away from others.
const atOnce = 16

// Of calls do for every item, several at once, and waits for all of them. After the first error no further calls start.
func Of[T any](ctx context.Context, items []T, do func(context.Context, T) error) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(atOnce)
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
