package rules

import (
	"cmp"
	"context"
	"fmt"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/webhook"
)

// TaskRequested tells webhooks that a user asks to join. A kind is stored with its tasks, so it keeps its name when the code is renamed.
const TaskRequested = "requested"

const noteMax = 500 // characters

// RequestedTask names who asked to join a group.
type RequestedTask struct {
	Group string `json:"group"`
	Epoch string `json:"epoch"`
	User  string `json:"user"`
	Note  string `json:"note"`
	AtMs  int64  `json:"at_ms"`
}

// Request is that a user asks to join a group.
type Request struct {
	User string    `json:"user"`
	Note string    `json:"note,omitempty"`
	At   chat.Time `json:"at"`
}

// Ask asks those who manage a public group to let the caller in, where JoinAsk says so. A repeat replaces the note. created: the
// caller had not asked before.
func (s *Service) Ask(ctx context.Context, by chat.Caller, group, note string) (r Request, created bool, err error) {
	note, invalid := chat.Line("note", note, noteMax)
	if err := cmp.Or(chat.CheckGroup(by, group), invalid); err != nil {
		return Request{}, false, err
	}
	r, created, err = s.store.Ask(ctx, group, by.User, note, s.core.Options().Now())
	return r, created, chat.AsError(err)
}

// Unask takes back that the caller asked to join. ErrNotFound: they did not.
func (s *Service) Unask(ctx context.Context, by chat.Caller, group string) error {
	if err := chat.CheckGroup(by, group); err != nil {
		return err
	}
	return chat.AsError(s.store.Unask(ctx, group, by.User))
}

// Requests lists the open requests, the oldest first: owner, admin, operator.
func (s *Service) Requests(ctx context.Context, by chat.Caller, group string, limit int, cursor string) (chat.List[Request], error) {
	most, err := s.core.Options().Limits.Page(limit)
	if err := cmp.Or(chat.CheckGroup(by, group), err); err != nil {
		return chat.List[Request]{}, err
	}
	if cursor != "" && !chat.ValidUserID(cursor) {
		return chat.List[Request]{}, chat.Invalid("cursor: not one of this list")
	}
	list, next, err := s.store.Requests(ctx, by, group, cursor, most)
	return chat.List[Request]{Items: list, Next: next}, chat.AsError(err)
}

// Answer lets a user in who asked to join, or does not: owner, admin, operator. The user's inbox says which. ErrNotFound: there is no
// open request of theirs.
func (s *Service) Answer(ctx context.Context, by chat.Caller, group, user string, accept bool) error {
	if err := cmp.Or(chat.CheckGroup(by, group), chat.CheckUserID("user", user)); err != nil {
		return err
	}
	now := s.core.Options().Now()
	answer := chat.Membership{Group: group, User: user, By: by, AtMs: now,
		Notice: chat.NewNotice(by, group, now, chat.Entry{Notice: chat.NoticeJoined, User: user})}
	if err := s.store.Answer(ctx, answer, accept); err != nil {
		return chat.AsError(err)
	}
	if accept {
		s.core.Moved(ctx, group, user)
	}
	return nil
}

// requested tells webhooks that a user asks to join.
func (s *Service) requested(ctx context.Context, t RequestedTask) error {
	if err := chat.CheckTask(t.Group, t.Epoch, t.User); err != nil {
		return err
	}
	return s.events.Publish(ctx, t.Group, webhook.Event{Type: webhook.EventMemberRequested, At: chat.TimeMs(t.AtMs),
		Key: fmt.Sprintf("%s %s %s %d", t.Group, t.Epoch, t.User, t.AtMs), Data: struct {
			Group string    `json:"group"`
			User  string    `json:"user"`
			Note  string    `json:"note,omitempty"`
			At    chat.Time `json:"at"`
		}{t.Group, t.User, t.Note, chat.TimeMs(t.AtMs)}})
}
