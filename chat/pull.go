package chat

import (
	"context"
)

// Pull reads a page of a group, with its reactions.
func (s *Service) Pull(ctx context.Context, by Caller, group string, q PullQuery) (Batch, []MessageView, error) {
	return Batch{}, nil, ErrUnavailable
}

// UnreadCounts counts unread messages over all groups of the caller.
func (s *Service) UnreadCounts(ctx context.Context, by Caller) (UnreadCounts, error) {
	return UnreadCounts{}, ErrUnavailable
}
