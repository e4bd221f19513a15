package chat

import (
	"context"
)

// Sync acks, then answers with everything that is new to the caller, waiting for it when asked to.
func (s *Service) Sync(ctx context.Context, by Caller, req SyncRequest) (SyncAnswer, error) {
	return SyncAnswer{}, ErrUnavailable
}
