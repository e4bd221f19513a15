package chat

import (
	"context"
	"errors"
)

// NotifyLevel is what a member is told of in a group.
type NotifyLevel string

// Every message, those that mention the member, or nothing.
const (
	NotifyAll      NotifyLevel = "all"
	NotifyMentions NotifyLevel = "mentions"
	NotifyNone     NotifyLevel = "none"
)

// NotifySetting is a level and how long it holds; nil: until it is changed.
type NotifySetting struct {
	Level NotifyLevel `json:"level"`
	Until *Time       `json:"until"`
}

// LevelStore keeps what members want to be told of.
type LevelStore interface {
	// SetLevel sets what a member is told of. ErrNotFound, ErrForbidden: not a member.
	SetLevel(ctx context.Context, group, user string, set NotifySetting) error
	// Level reads it as it was set; what is over by the clock is for the caller to see.
	Level(ctx context.Context, group, user string) (NotifySetting, error)
}

// SetNotify sets what the caller is told of in a group, for a time where until is given. A time that is over, and one
// for all, which holds anyway afterwards, set no more than the level all.
func (s *Service) SetNotify(ctx context.Context, by Caller, group string, set NotifySetting) (NotifySetting, error) {
	if err := CheckGroup(by, group); err != nil {
		return NotifySetting{}, err
	}
	switch set.Level {
	case NotifyAll, NotifyMentions, NotifyNone:
	default:
		return NotifySetting{}, Invalid("level: %s, %s or %s", NotifyAll, NotifyMentions, NotifyNone)
	}
	set = s.holding(set)
	if err := s.stores.SetLevel(ctx, group, by.User, set); err != nil {
		return NotifySetting{}, s.Refused(ctx, by, group, err)
	}
	return set, nil
}

// Notify is what the caller is told of in a group.
func (s *Service) Notify(ctx context.Context, by Caller, group string) (NotifySetting, error) {
	if err := CheckGroup(by, group); err != nil {
		return NotifySetting{}, err
	}
	set, err := s.stores.Level(ctx, group, by.User)
	if err != nil {
		return NotifySetting{}, s.Refused(ctx, by, group, err)
	}
	return s.holding(set), nil
}

// holding is a setting as it holds now. The store's step that tells decides by its own clock; this is for display.
func (s *Service) holding(set NotifySetting) NotifySetting {
	if set.Level == NotifyAll || set.Until != nil && set.Until.UnixMilli() <= s.opt.Now() {
		return NotifySetting{Level: NotifyAll}
	}
	return set
}

// wantsStill tells whether a delivery is still wanted: the level may have changed since it was made. It may have waited for
// long, and not only after a failure: for an endpoint that was busy, or in a queue that was paused.
func (s *Service) wantsStill(ctx context.Context, t PushTask) (bool, error) {
	set, err := s.stores.Level(ctx, t.Group, t.User)
	if errors.Is(err, ErrNotFound) || errors.Is(err, ErrForbidden) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	level := s.holding(set).Level
	return level == NotifyAll || level == NotifyMentions && t.Mentions > 0, nil
}
