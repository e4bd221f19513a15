package chat

import (
	"context"
)

// Handlers are the tasks of the core, by kind.
func (s *Service) Handlers() map[string]func(ctx context.Context, payload []byte) error { return nil }
