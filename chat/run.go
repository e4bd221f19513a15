package chat

import (
	"context"
)

// Run runs the live part until ctx ends.
func (s *Service) Run(ctx context.Context) error { return nil }
