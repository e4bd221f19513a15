package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/chatd/chatd/store"
	"github.com/chatd/chatd/store/embedded"
)

// Layout says which layout of keys the configured store has. One that this chatd does not know is an error that says what to do.
func (c Config) Layout(ctx context.Context, output io.Writer) (text string, err error) {
	set, err := c.checkForStore()
	if err != nil {
		return "", err
	}
	opt := store.Options{URL: set.Redis, Prefix: set.Prefix, Limits: set.limits, Existing: true}
	const none = "none: there is no store yet"
	if set.Redis == "" {
		dir := filepath.Join(set.Data, "store")
		if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) {
			return none, nil
		}
		server, err := embedded.Open(ctx, embedded.Options{Dir: dir, Log: newLogger(set, output)})
		if errors.Is(err, embedded.ErrLocked) {
			return "that of the chatd which is running on " + set.Data, nil
		}
		if err != nil {
			return "", fmt.Errorf("the embedded store in %s: %w", dir, err)
		}
		defer func() { err = errors.Join(err, server.Close()) }()
		opt.Embedded = server
	}
	s, err := set.open(ctx, opt)
	switch {
	case errors.Is(err, store.ErrEmpty):
		return none, nil
	case err != nil:
		return "", err
	}
	return fmt.Sprintf("%d, the newest that this chatd knows", store.LayoutVersion), s.Close()
}
