package chat

import (
	"context"
)

// Send appends what draft asks for to a group's log.
func (s *Service) Send(ctx context.Context, by Caller, group string, draft Draft, durability Durability) (Sent, error) {
	return Sent{}, ErrUnavailable
}
