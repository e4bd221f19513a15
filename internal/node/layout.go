package node

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/chatd/chatd/store"
)

// Layout says which layout of keys the configured store has. One that this chatd does not know is an error that says what to do.
func (c Config) Layout(ctx context.Context, output io.Writer) (text string, err error) {
	set, err := c.checkForStore()
	if err != nil {
		return "", err
	}
	s, err := set.open(ctx, store.Options{Existing: true}, newLogger(set, output))
	switch {
	case errors.Is(err, errNoStore), errors.Is(err, store.ErrEmpty):
		return "none: there is no store yet", nil
	case errors.Is(err, errRunning):
		return "that of the chatd which is running on " + set.Data, nil
	case err != nil:
		return "", err
	}
	return fmt.Sprintf("%d, the newest that this chatd knows", store.LayoutVersion), s.Close()
}
