package rules

import (
	"cmp"
	"context"

	"github.com/chatd/chatd/chat"
)

const (
	reasonMax = 200    // characters
	hoursMax  = 7 * 24 // whose messages a ban deletes
)

// Ban keeps a user out of a group.
type Ban struct {
	User   string     `json:"user"`
	Reason string     `json:"reason,omitempty"` // for those who manage the group
	Until  *chat.Time `json:"until"`            // nil: for ever
	By     string     `json:"by"`
	At     chat.Time  `json:"at"`
}

// BanDraft is what a client asks for. Until is an RFC 3339 time; nil: no end. DeleteHours deletes what the user sent in that time.
type BanDraft struct {
	Reason      string
	Until       *string
	DeleteHours *int64
}

// Ban keeps a user out of a group, and removes a member: owner, admin, operator. The owner cannot be banned, an admin only by the
// owner or an operator. created: the user was not banned before.
func (s *Service) Ban(ctx context.Context, by chat.Caller, group, user string, d BanDraft) (ban Ban, created bool, err error) {
	now := s.core.Options().Now()
	until, err := endOf("until", chat.Encode(d.Until), now)
	if err := cmp.Or(chat.CheckGroup(by, group), chat.CheckUserID("user", user), err,
		chat.CheckRange("delete_hours", d.DeleteHours, 1, hoursMax)); err != nil {
		return Ban{}, false, err
	}
	reason, err := chat.Line("reason", d.Reason, reasonMax)
	if err != nil {
		return Ban{}, false, err
	}
	if _, err := s.core.Managed(ctx, by, group); err != nil {
		return Ban{}, false, err
	}
	if chat.IsDirect(group) {
		return Ban{}, false, chat.ErrDirectFixed
	}
	remove := chat.Membership{Group: group, User: user, By: by, AtMs: now,
		Notice: chat.NewNotice(by, group, now, chat.Entry{Notice: chat.NoticeRemoved, User: user})}
	notice := chat.NewNotice(by, group, now, chat.Entry{Notice: chat.NoticeBanned, User: user, Until: until})
	hours := int64(0)
	if d.DeleteHours != nil {
		hours = *d.DeleteHours
	}
	ban, created, left, err := s.store.Ban(ctx, remove, Ban{Reason: reason, Until: until}, hours, notice)
	if left {
		s.core.Moved(ctx, group, user)
	}
	return ban, created, chat.AsError(err)
}

// Unban lets a user in again: owner, admin, operator. ErrNotFound: they are not banned.
func (s *Service) Unban(ctx context.Context, by chat.Caller, group, user string) error {
	if err := cmp.Or(chat.CheckGroup(by, group), chat.CheckUserID("user", user)); err != nil {
		return err
	}
	return chat.AsError(s.store.Unban(ctx, by, group, user))
}

// Bans lists the bans that hold, the newest first: owner, admin, operator.
func (s *Service) Bans(ctx context.Context, by chat.Caller, group string, limit int, cursor string) (chat.List[Ban], error) {
	most, err := s.core.Options().Limits.Page(limit)
	if err := cmp.Or(chat.CheckGroup(by, group), err); err != nil {
		return chat.List[Ban]{}, err
	}
	if cursor != "" && !chat.ValidUserID(cursor) {
		return chat.List[Ban]{}, chat.Invalid("cursor: not one of this list")
	}
	bans, next, err := s.store.Bans(ctx, by, group, cursor, most)
	return chat.List[Ban]{Items: bans, Next: next}, chat.AsError(err)
}
