// Package rules is what those who manage a group decide about the people in it: who may not write until when, and who is kept out. The scripts of the
// store that write obey it, so nothing passes between a check and the write.
package rules

import (
	"cmp"
	"context"
	"encoding/json"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/webhook"
)

// Store keeps rules. Errors are those of chat.Store.
type Store interface {
	// Mute lets m.User write again from untilMs on; 0: now. CodeQuotaFull: Limits.GroupMutedMax are muted.
	Mute(ctx context.Context, m chat.Membership, untilMs int64) (chat.Member, error)
	// Ban keeps m.User out, and removes a member with m.Notice. CodeQuotaFull: Limits.GroupBannedMax are banned; left: they were a
	// member.
	// hours: a PurgeTask deletes what they sent in them; 0: none does.
	Ban(ctx context.Context, m chat.Membership, ban Ban, hours int64, notice chat.NoticeEntry) (kept Ban, created, left bool, err error)
	// Unban ends a ban. ErrNotFound: there is none.
	Unban(ctx context.Context, by chat.Caller, group, user string) error
	// Bans pages through the bans that hold, the newest first. after is next of the page before.
	Bans(ctx context.Context, by chat.Caller, group, after string, limit int) (bans []Ban, next string, err error)
	// Ask asks that user may join, or replaces the note. CodeBanned; ErrConflict: a member, or everybody may join; ErrForbidden: nobody
	// may; CodeQuotaFull: Limits.GroupRequestsMax ask.
	Ask(ctx context.Context, group, user, note string, atMs int64) (r Request, created bool, err error)
	// Unask takes that back. ErrNotFound: there is no such request.
	Unask(ctx context.Context, group, user string) error
	// Requests pages through the open requests, the oldest first. after is next of the page before.
	Requests(ctx context.Context, by chat.Caller, group, after string, limit int) (requests []Request, next string, err error)
	// Answer ends a request, and makes m.User a member with m.Notice if accept. ErrNotFound: there is none.
	Answer(ctx context.Context, m chat.Membership, accept bool) error
	// PinsOf reads the pinned messages of a group that a user wrote.
	PinsOf(ctx context.Context, group, user string) ([]chat.Message, error)
	chat.TaskStore
}

// Events tells webhooks what is in no log.
type Events interface {
	// Publish is that of webhook.Service.
	Publish(ctx context.Context, subject string, events ...webhook.Event) error
}

// Service changes rules. It may be used from many goroutines.
type Service struct {
	core   *chat.Service
	store  Store
	logs   Logs
	events Events
}

// New makes a Service. logs are those that the core serves, with what is in the archive.
func New(core *chat.Service, store Store, logs Logs, events Events) *Service {
	return &Service{core, store, logs, events}
}

// Mute takes from a member of a group the right to write until a time, or gives it back: owner, admin, operator. The owner is muted
// by nobody, an admin only by the owner or an operator. until is JSON: an RFC 3339 time, or null.
func (s *Service) Mute(ctx context.Context, by chat.Caller, group, user string, until json.RawMessage) (chat.Member, error) {
	now := s.core.Options().Now()
	end, err := endOf("muted_until", until, now)
	if err := cmp.Or(chat.CheckGroup(by, group), chat.CheckUserID("user", user), err); err != nil {
		return chat.Member{}, err
	}
	if _, err := s.core.Managed(ctx, by, group); err != nil {
		return chat.Member{}, err
	}
	e := chat.Entry{Notice: chat.NoticeMuted, User: user, MutedUntil: end}
	change := chat.Membership{Group: group, User: user, By: by, AtMs: now, Notice: chat.NewNotice(by, group, now, e)}
	m, err := s.store.Mute(ctx, change, endMs(end))
	return m, chat.AsError(err)
}

// endOf reads until when something holds; nil for null.
func endOf(field string, text json.RawMessage, nowMs int64) (*chat.Time, error) {
	var end *string
	if err := json.Unmarshal(text, &end); err != nil {
		return nil, chat.Invalid("%s: want a time as RFC 3339 has it, or null", field)
	}
	if end == nil {
		return nil, nil
	}
	at, ok := chat.ParseTime(*end)
	switch {
	case !ok:
		return nil, chat.Invalid("%s: want a time as RFC 3339 has it, or null", field)
	case at.UnixMilli() <= nowMs:
		return nil, chat.Errorf(chat.CodeOutOfRange, "%s: must be in the future", field)
	}
	return &chat.Time{Time: at.UTC().Truncate(time.Millisecond)}, nil
}

func endMs(end *chat.Time) int64 {
	if end == nil {
		return 0
	}
	return end.UnixMilli()
}
