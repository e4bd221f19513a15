// Package direct makes direct groups: a group for each two users, whose members never change.
package direct

import (
	"cmp"
	"context"
	"errors"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/blocks"
)

// Service finds and makes direct groups. It is safe for concurrent use.
type Service struct {
	core   *chat.Service
	store  chat.MemberStore
	blocks *blocks.Service
}

// New makes a Service.
func New(core *chat.Service, store chat.MemberStore, blocks *blocks.Service) *Service {
	return &Service{core, store, blocks}
}

// Put returns the direct group of the caller and another user, and creates it where there is none, if the caller may write to that
// user. Of any number of calls at once, by either of the two, one creates it. CodeInvalid for oneself, CodeForbidden, ErrBlocked.
func (s *Service) Put(ctx context.Context, by chat.Caller, with string) (g chat.Group, created bool, err error) {
	if err := cmp.Or(chat.CheckInbox(by), chat.CheckUserID("user", with)); err != nil {
		return chat.Group{}, false, err
	}
	if with == by.User {
		return chat.Group{}, false, chat.Invalid("user: a direct group is with another user")
	}
	id := chat.DirectID(by.User, with)
	info, err := s.core.Info(ctx, by.User, id)
	switch {
	case errors.Is(err, chat.ErrNotFound):
		if err = s.blocks.Know(ctx, by.User, with); err != nil {
			return chat.Group{}, false, err
		}
		if g, created, err = s.core.PutGroup(ctx, by, chat.GroupDraft{ID: id, Members: []string{with}, Direct: true}); created || err != nil {
			return g, created, err
		}
	case err != nil:
		return chat.Group{}, false, err
	case info.Group.Members < 2:
		if err := s.complete(ctx, by, info.Group); err != nil {
			return chat.Group{}, false, err
		}
	}
	g, err = s.core.Group(ctx, by, id)
	return g, false, err
}

// complete takes those back in whom an erasure took out: they use the server again.
func (s *Service) complete(ctx context.Context, by chat.Caller, g chat.Group) error {
	for _, user := range g.Direct {
		if user != by.User {
			if err := s.core.MayWrite(ctx, by, user); err != nil {
				return err
			}
		}
	}
	if err := s.blocks.Know(ctx, g.Direct[0], g.Direct[1]); err != nil {
		return err
	}
	for _, user := range g.Direct {
		err := s.core.Admit(ctx, by, g.ID, user, func(m chat.Membership) error {
			m.By.Admin = true // nobody in the group may add members
			_, _, err := s.store.Join(ctx, m)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}
