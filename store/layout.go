package store

import (
	"context"
	"fmt"

	"github.com/chatd/chatd/store/queue"
)

var layoutScript = newFreeing("layout/record", partNames)

// checkLayout records the layout of a new store, and refuses a store with a different one: with another number of partitions
// every key would be looked up in the wrong place. The store's queues use the same number.
func (s *Store) checkLayout(ctx context.Context, partitions int) error {
	r, err := s.run(ctx, layoutScript.On(s.keys.part(0)).Arg("version", layoutVersion))
	if err != nil {
		return fmt.Errorf("store: layout: %w", err)
	}
	if v := r.number(1); v != layoutVersion {
		return fmt.Errorf("store: its layout is version %d, this chatd knows version %d: use the chatd that wrote it, "+
			"or export and import", v, layoutVersion)
	}
	has, err := queue.CheckPartitions(ctx, s.client, s.keys.prefix, partitions)
	if err != nil {
		return fmt.Errorf("store: layout: %w", err)
	}
	s.keys = newKeyspace(s.keys.prefix, has)
	return nil
}

// checkExists refuses an empty store: the prefix may be misspelt.
func (s *Store) checkExists(ctx context.Context) error {
	n, err := s.client.Exists(ctx, s.keys.part(0).layout()).Result()
	if err != nil {
		return fmt.Errorf("store: layout: %w", err)
	}
	if n == 0 {
		return fmt.Errorf("store: %s holds no chatd store under the prefix %q", s.address, s.keys.prefix)
	}
	return nil
}
