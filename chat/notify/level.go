package notify

import (
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

// SetLevel sets what the caller gets notified of in a group, for a time where until is given. A time that is over, and one
// for all, which holds anyway afterwards, set no more than the level all.
func (s *Service) SetLevel(ctx context.Context, by chat.Caller, group string, set Setting) (Setting, error) {
	if err := chat.CheckGroup(by, group); err != nil {
		return Setting{}, err
	}
	switch set.Level {
	case All, Mentions, None:
	default:
		return Setting{}, chat.Invalid("level: %s, %s or %s", All, Mentions, None)
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

// holding is a setting as it holds now. The script that notifies decides by the clock of the store; this is for display.
func (s *Service) holding(set Setting) Setting {
	if set.Level == All || set.Until != nil && set.Until.UnixMilli() <= s.opt.Now() {
		return Setting{Level: All}
	}
	return set
}

// wantsStill tells whether a delivery is still wanted: the level may have changed since it was made. It may have waited for
// long, and not only after a failure: for an endpoint that was busy, or in a queue that was paused.
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
