package notify

import (
	"cmp"
	"context"
	"errors"

	"github.com/chatd/chatd/chat"
)

// Level is what a member gets notified of in a group.
type Level string

// Every message, those that mention the member, or nothing.
const (
	All      Level = "all"
	Mentions Level = "mentions"
	None     Level = "none"
)

// Setting is a level and how long it holds; nil: until it is changed.
type Setting struct {
	Level Level      `json:"level"`
	Until *chat.Time `json:"until"`
}

// SetLevel sets what the caller gets notified of in a group, until a time if one is given. If that time has passed, or
// the level is All, which applies afterwards anyway, it simply sets All.
func (s *Service) SetLevel(ctx context.Context, by chat.Caller, group string, set Setting) (Setting, error) {
	if err := cmp.Or(chat.CheckGroup(by, group), chat.CheckWord("level", &set.Level, All, Mentions, None)); err != nil {
		return Setting{}, err
	}
	set = s.holding(set)
	if err := s.store.SetLevel(ctx, group, by.User, set); err != nil {
		return Setting{}, s.core.Refused(ctx, by, group, err)
	}
	return set, nil
}

// Level returns what the caller gets notified of in a group.
func (s *Service) Level(ctx context.Context, by chat.Caller, group string) (Setting, error) {
	if err := chat.CheckGroup(by, group); err != nil {
		return Setting{}, err
	}
	set, err := s.store.Level(ctx, group, by.User)
	if err != nil {
		return Setting{}, s.core.Refused(ctx, by, group, err)
	}
	return s.holding(set), nil
}

// holding returns the setting that applies now. The script that notifies decides by the clock of the store; this is for
// display.
func (s *Service) holding(set Setting) Setting {
	if set.Level == All || set.Until != nil && set.Until.UnixMilli() <= s.opt.Now() {
		return Setting{Level: All}
	}
	return set
}

// wantsStill reports whether a delivery is still wanted: the level may have changed since it was enqueued. It may have
// waited for long even without a failure: for a busy endpoint, or in a paused queue.
func (s *Service) wantsStill(ctx context.Context, t PushTask) (bool, error) {
	set, err := s.store.Level(ctx, t.Group, t.User)
	if errors.Is(err, chat.ErrNotFound) || errors.Is(err, chat.ErrForbidden) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	level := s.holding(set).Level
	return level == All || level == Mentions && t.Mentions > 0, nil
}
