package chat

import "context"

// feeds follows, on behalf of one node, the logs that have a live reader here.
type feeds struct {
	stores Stores
	opt    Options
}


// run listens until ctx ends.
func (f *feeds) run(ctx context.Context) error { <-ctx.Done(); return nil }
