package chat

import (
	"context"
)

// Members lists the members of a group by the order of joining.
func (s *Service) Members(ctx context.Context, by Caller, group string, limit int, cursor string) (List[Member], error) {
	return List[Member]{}, ErrUnavailable
}

// PutMember adds a user or changes a role; an empty role is none given.
func (s *Service) PutMember(ctx context.Context, by Caller, group, user string, role Role) (m Member, created bool, err error) {
	return Member{}, false, ErrUnavailable
}

// RemoveMember removes a user, or the caller itself.
func (s *Service) RemoveMember(ctx context.Context, by Caller, group, user string) error {
	return ErrUnavailable
}
