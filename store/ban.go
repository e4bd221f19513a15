package store

import (
	"context"
	"errors"
	"strings"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/audit"
	"github.com/chatd/chatd/chat/rules"
)

var (
	banScript   = newScript("ban/put", memberNames)
	unbanScript = newFreeing("ban/end", groupNames)
	bansScript  = newReader("ban/list", groupNames)
)

// banned is what the audit says of a ban.
type banned struct {
	Until       *chat.Time `json:"until"`
	Reason      string     `json:"reason,omitempty"`
	DeleteHours int64      `json:"delete_hours,omitempty"`
}

// Ban keeps a user out, and removes a member.
func (s *Groups) Ban(ctx context.Context, m chat.Membership, ban rules.Ban, hours int64, notice chat.NoticeEntry) (kept rules.Ban, created, left bool, err error) {
	k := s.keys.group(m.Group)
	ends := int64(0)
	if ban.Until != nil {
		ends = ban.Until.UnixMilli()
	}
	r, err := s.run(ctx, s.noted(banScript.On(k.of(m.User)).Arg("user", m.User).Arg("caller", m.By.User).Arg("operator", m.By.Admin).
		Arg("via", m.By.Via).Arg("until_ms", ends).Arg("reason", ban.Reason).Arg("hours", hours).Arg("at_ms", m.AtMs).Arg("bans_max", s.limits.GroupBannedMax).
		Arg("mark", m.Notice.Mark).Arg("rest", m.Notice.Rest).Arg("ban_mark", notice.Mark).Arg("ban_rest", notice.Rest).
		Arg("channel", k.channel()).Arg("task_id", k.taskID()).Arg("trim_id", k.taskID()).Arg("purge_id", k.taskID()).Arg("group", m.Group), audit.Note(m.By, audit.MemberBan, m.Group, m.User, banned{ban.Until, ban.Reason, hours})))
	if err != nil {
		return rules.Ban{}, false, false, err
	}
	return asBan(m.User, r.text(3)), r.number(1) == 1, r.number(2) == 1, nil
}

// Unban ends a ban.
func (s *Groups) Unban(ctx context.Context, by chat.Caller, group, user string) error {
	return s.do(ctx, s.noted(unbanScript.On(s.keys.group(group)).Arg("user", user).Arg("caller", by.User).Arg("operator", by.Admin),
		audit.Note(by, audit.MemberUnban, group, user, nil)))
}

// Bans pages through the bans that hold, the newest first.
func (s *Groups) Bans(ctx context.Context, by chat.Caller, group, after string, limit int) (bans []rules.Ban, next string, err error) {
	r, err := s.runSafe(ctx, bansScript.On(s.keys.group(group)).Arg("caller", by.User).Arg("operator", by.Admin).
		Arg("after", after).Arg("limit", limit))
	if errors.Is(err, chat.ErrGone) {
		return nil, "", chat.Invalid("cursor: not one of this list any longer")
	}
	if err != nil {
		return nil, "", err
	}
	for i := 2; i+1 < len(r); i += 2 {
		bans = append(bans, asBan(r.text(i), r.text(i+1)))
	}
	return bans, r.text(1), nil
}

// asBan reads a ban as the scripts write it.
func asBan(user, record string) rules.Ban {
	words := strings.SplitN(record, " ", 4)
	return rules.Ban{User: user, Until: endOf(number(words[0])), At: chat.TimeMs(number(words[1])), By: words[2], Reason: words[3]}
}

// endOf is the end of something; nil for 0.
func endOf(ms int64) *chat.Time {
	if ms == 0 {
		return nil
	}
	return new(chat.TimeMs(ms))
}
