package chat

import (
	"context"
)

// CreateGroup makes a group owned by the caller.
func (s *Service) CreateGroup(ctx context.Context, by Caller, draft GroupDraft) (Group, error) {
	return Group{}, ErrUnavailable
}

// Groups lists the caller's groups, latest activity first.
func (s *Service) Groups(ctx context.Context, by Caller, limit int, cursor string) (List[GroupView], error) {
	return List[GroupView]{}, ErrUnavailable
}

// PublicGroups lists the public groups by name.
func (s *Service) PublicGroups(ctx context.Context, by Caller, limit int, cursor string) (List[Group], error) {
	return List[Group]{}, ErrUnavailable
}

// Group describes one group.
func (s *Service) Group(ctx context.Context, by Caller, id string) (Group, error) {
	return Group{}, ErrUnavailable
}

// UpdateGroup changes name and settings.
func (s *Service) UpdateGroup(ctx context.Context, by Caller, id string, change GroupChange) (Group, error) {
	return Group{}, ErrUnavailable
}

// DeleteGroup removes a group.
func (s *Service) DeleteGroup(ctx context.Context, by Caller, id string) error { return ErrUnavailable }
