// Package memberdata keeps custom fields of the members of groups: what those who manage a group note about them.
package memberdata

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/chatd/chatd/chat"
)

// Store keeps custom fields. Errors are those of chat.Store.
type Store interface {
	// MemberData reads the custom fields of a member; nil for none.
	MemberData(ctx context.Context, group, user string) (json.RawMessage, error)
	// SetMemberData changes the custom fields of m.User from was to data: owner, admin or operator. ErrNotFound: not a member;
	// ErrConflict: they are not was any more.
	SetMemberData(ctx context.Context, m chat.Membership, was, data json.RawMessage) (chat.Member, error)
}

// Service changes custom fields. It may be used from many goroutines.
type Service struct {
	core  *chat.Service
	store Store
}

// New makes a Service.
func New(core *chat.Service, store Store) *Service { return &Service{core, store} }

// tries is how often a merge is decided anew because others changed the same: one of them succeeds each time.
const tries = 200

// Put is PutMember of chat.Service by someone who manages the group, and merges custom fields.
func (s *Service) Put(ctx context.Context, by chat.Caller, group, user string, role chat.Role, patch json.RawMessage) (m chat.Member, created bool, err error) {
	if _, err := chat.MergeData(nil, patch); err != nil {
		return chat.Member{}, false, err
	}
	if err := s.check(ctx, by, group, user); err != nil {
		return chat.Member{}, false, err
	}
	if _, created, err = s.core.PutMember(ctx, by, group, user, role); err != nil {
		return chat.Member{}, false, err
	}
	m, err = s.Merge(ctx, by, group, user, patch)
	return m, created, err
}

// Merge merges custom fields of a member, see chat.MergeData: owner, admin, operator. Nothing is lost to others who do so at the same
// time. ErrNotFound: not a member.
func (s *Service) Merge(ctx context.Context, by chat.Caller, group, user string, patch json.RawMessage) (chat.Member, error) {
	if err := s.check(ctx, by, group, user); err != nil {
		return chat.Member{}, err
	}
	for range tries {
		was, err := s.store.MemberData(ctx, group, user)
		if err != nil {
			return chat.Member{}, chat.AsError(err)
		}
		data, err := chat.MergeData(was, patch)
		if err != nil {
			return chat.Member{}, err
		}
		now := s.core.Options().Now()
		change := chat.Membership{Group: group, User: user, By: by, AtMs: now}
		change.Notice.Mark, change.Notice.Rest = chat.NewEntry(chat.Entry{Group: group, From: by.User, Via: by.Via,
			Content: chat.Content{Kind: chat.Notice}, SentAt: chat.TimeMs(now), Notice: chat.NoticeData, User: user})
		m, err := s.store.SetMemberData(ctx, change, was, data)
		if !errors.Is(err, chat.ErrConflict) {
			return m, chat.AsError(err)
		}
	}
	return chat.Member{}, &chat.Error{Code: chat.CodeUnavailable, Message: "others keep changing it; try again", RetryAfter: time.Second}
}

// check refuses who does not manage the group.
func (s *Service) check(ctx context.Context, by chat.Caller, group, user string) error {
	if err := cmp.Or(chat.CheckGroup(by, group), chat.CheckUserID("user", user)); err != nil {
		return err
	}
	_, err := s.core.Managed(ctx, by, group)
	return err
}

// Own reads the caller's own custom fields in a group; nil for none.
func (s *Service) Own(ctx context.Context, by chat.Caller, group string) (json.RawMessage, error) {
	if err := chat.CheckGroup(by, group); err != nil {
		return nil, err
	}
	data, err := s.store.MemberData(ctx, group, by.User)
	return data, chat.AsError(err)
}
