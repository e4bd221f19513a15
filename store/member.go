package store

import (
	"cmp"
	"context"
	"encoding/json"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/audit"
	"github.com/chatd/chatd/chat/bulk"
)

var (
	joinScript    = newScript("member/join", groupNames)
	roleScript    = newScript("member/role", groupNames)
	leaveScript   = newFreeing("member/leave", memberNames)
	addScript     = newScript("member/add", groupNames)
	removeScript  = newFreeing("member/remove", groupNames)
	membersScript = newReader("member/list", groupNames)
	dataScript    = newScript("member/data", groupNames)
	muteScript    = newScript("member/mute", groupNames)
)

// Join adds m.User.
func (s *Groups) Join(ctx context.Context, m chat.Membership) (chat.Member, bool, error) {
	if m.Role == chat.Owner {
		return chat.Member{}, false, chat.Errorf(chat.CodeInvalid, "add the member first, then make them the owner")
	}
	role := m.Role
	if role == "" {
		role = chat.Ordinary
	}
	k := s.keys.group(m.Group)
	r, err := s.run(ctx, s.noted(joinScript.On(k).Arg("user", m.User).Arg("caller", m.By.User).Arg("operator", m.By.Admin).
		Arg("role", string(role)).Arg("at_ms", m.AtMs).Arg("mark", m.Notice.Mark).Arg("rest", m.Notice.Rest).
		Arg("members_max", s.limits.GroupMembersMax).Arg("channel", k.channel()).Arg("task_id", k.taskID()).
		Arg("group", m.Group).Arg("trim_id", k.taskID()), audit.Note(m.By, audit.MemberRole, m.Group, m.User, given{role})))
	if err != nil {
		return chat.Member{}, false, err
	}
	return asMember(m.User, r[2:]), r.number(1) == 1, nil
}

// SetRole changes a member's role. If it makes someone the owner, the former owner becomes an admin.
func (s *Groups) SetRole(ctx context.Context, m chat.Membership) (chat.Member, bool, error) {
	k := s.keys.group(m.Group)
	r, err := s.run(ctx, s.noted(roleScript.On(k).Arg("user", m.User).Arg("caller", m.By.User).Arg("operator", m.By.Admin).
		Arg("role", string(m.Role)).Arg("at_ms", m.AtMs).Arg("mark", m.Notice.Mark).Arg("rest", m.Notice.Rest).
		Arg("channel", k.channel()).Arg("task_id", k.taskID()).Arg("group", m.Group),
		audit.Note(m.By, audit.MemberRole, m.Group, m.User, given{m.Role})))
	if err != nil {
		return chat.Member{}, false, err
	}
	return asMember(m.User, r[2:]), r.number(1) == 1, nil
}

// given is what the audit says of a role.
type given struct {
	Role chat.Role `json:"role"`
}

// Leave removes m.User; the last one out deletes the group.
func (s *Groups) Leave(ctx context.Context, m chat.Membership) (deleted bool, err error) {
	k := s.keys.group(m.Group)
	what := "left"
	if m.By.User != m.User {
		what = "removed"
	}
	_, gone := s.entryOf(audit.Note(m.By, audit.GroupDelete, m.Group, "", nil))
	r, err := s.run(ctx, s.noted(leaveScript.On(k.of(m.User)).Arg("user", m.User).Arg("caller", m.By.User).
		Arg("operator", m.By.Admin).Arg("at_ms", m.AtMs).Arg("mark", m.Notice.Mark).Arg("rest", m.Notice.Rest).
		Arg("heir_mark", m.HeirMark).Arg("heir_head", m.HeirHead).Arg("heir_tail", m.HeirTail).Arg("channel", k.channel()).
		Arg("task_id", k.taskID()).Arg("trim_id", k.taskID()).Arg("group", m.Group).Arg("what", what).Arg("audited_gone", gone),
		audit.Note(m.By, audit.MemberRemove, m.Group, m.User, nil)))
	return r.number(1) == 1, err
}

// AddMembers adds users with one notice.
func (s *Groups) AddMembers(ctx context.Context, ch bulk.Change) (bulk.Added, error) {
	k := s.keys.group(ch.Group)
	c := addScript.Sized(k, 4*len(ch.Users)).Arg("caller", ch.By.User).Arg("operator", ch.By.Admin).Arg("at_ms", ch.AtMs).
		Arg("mark", ch.Notice.Mark).Arg("head", ch.Notice.Head).Arg("tail", ch.Notice.Tail).Arg("members_max", s.limits.GroupMembersMax).
		Arg("channel", k.channel()).Arg("task_id", k.taskID()).Arg("group", ch.Group).Arg("trim_id", k.taskID())
	c = s.among(c, audit.Note(ch.By, audit.MemberRole, ch.Group, "", nil))
	for i, user := range ch.Users {
		id, entry := "", ""
		if ch.Roles[i] == chat.Admin {
			id, entry = s.entryOf(audit.Note(ch.By, audit.MemberRole, ch.Group, user, given{chat.Admin}))
		}
		c = c.MoreArgs("users", "user", user, "role", string(ch.Roles[i]), "audit_id", id, "audited", entry)
	}
	r, err := s.run(ctx, c)
	if err != nil {
		return bulk.Added{}, err
	}
	added := bulk.Added{Epoch: r.text(1), Start: r.number(2), Last: r.number(3)}
	for i := range ch.Users {
		added.Had = append(added.Had, chat.Role(r.text(4+i)))
	}
	return added, nil
}

// RemoveMembers removes users with one notice.
func (s *Groups) RemoveMembers(ctx context.Context, ch bulk.Change) (removed, left []string, err error) {
	k := s.keys.group(ch.Group)
	c := removeScript.Sized(k, 4*len(ch.Users)).Arg("caller", ch.By.User).Arg("operator", ch.By.Admin).Arg("at_ms", ch.AtMs).
		Arg("mark", ch.Notice.Mark).Arg("head", ch.Notice.Head).Arg("tail", ch.Notice.Tail).Arg("channel", k.channel()).
		Arg("task_id", k.taskID()).Arg("trim_id", k.taskID()).Arg("group", ch.Group)
	c = s.among(c, audit.Note(ch.By, audit.MemberRemove, ch.Group, "", nil))
	for _, user := range ch.Users {
		id, entry := s.entryOf(audit.Note(ch.By, audit.MemberRemove, ch.Group, user, nil))
		c = c.More("at", k.at(user)).MoreArgs("users", "user", user, "audit_id", id, "audited", entry)
	}
	r, err := s.run(ctx, c)
	if err != nil {
		return nil, nil, err
	}
	for i, user := range ch.Users {
		switch r.number(1 + i) {
		case 1:
			removed = append(removed, user)
		case 2:
			left = append(left, user)
		}
	}
	return removed, left, nil
}

// MemberData reads the custom fields of a member; nil for none.
func (s *Groups) MemberData(ctx context.Context, group, user string) (json.RawMessage, error) {
	var data *redis.StringCmd
	err := s.reads(ctx, func(pipe redis.Pipeliner) { data = pipe.HGet(ctx, s.keys.group(group).memberData(), user) })
	if err != nil {
		return nil, err
	}
	return servedData(data.Val()), nil
}

// SetMemberData changes the custom fields of a member from was to data.
func (s *Groups) SetMemberData(ctx context.Context, m chat.Membership, was, data json.RawMessage) (chat.Member, error) {
	k := s.keys.group(m.Group)
	r, err := s.run(ctx, dataScript.On(k).Arg("user", m.User).Arg("caller", m.By.User).Arg("operator", m.By.Admin).
		Arg("was", string(was)).Arg("data", string(data)).Arg("at_ms", m.AtMs).Arg("mark", m.Notice.Mark).Arg("rest", m.Notice.Rest).
		Arg("channel", k.channel()).Arg("task_id", k.taskID()).Arg("group", m.Group))
	if err != nil {
		return chat.Member{}, err
	}
	return asMember(m.User, r[1:]), nil
}

// muted is what the audit says of a mute.
type muted struct {
	Until chat.Time `json:"until"`
}

// Mute mutes a member until a time, or, with 0, lets them write again.
func (s *Groups) Mute(ctx context.Context, m chat.Membership, untilMs int64) (chat.Member, error) {
	k := s.keys.group(m.Group)
	note := audit.Note(m.By, audit.MemberUnmute, m.Group, m.User, nil)
	if untilMs > 0 {
		note = audit.Note(m.By, audit.MemberMute, m.Group, m.User, muted{chat.TimeMs(untilMs)})
	}
	r, err := s.run(ctx, s.noted(muteScript.On(k).Arg("user", m.User).Arg("caller", m.By.User).Arg("operator", m.By.Admin).
		Arg("until_ms", untilMs).Arg("at_ms", m.AtMs).Arg("mark", m.Notice.Mark).Arg("rest", m.Notice.Rest).
		Arg("mutes_max", s.limits.GroupMutedMax).Arg("channel", k.channel()).Arg("task_id", k.taskID()).Arg("group", m.Group), note))
	if err != nil {
		return chat.Member{}, err
	}
	return asMember(m.User, r[1:]), nil
}

// mutedUntil reads until when someone is muted; nil: they are not. Nobody but the two learns of a block from a list of members.
func mutedUntil(ms string) *chat.Time {
	if number(ms) <= time.Now().UnixMilli() || number(ms) == blockedMs {
		return nil
	}
	return new(chat.TimeMs(number(ms)))
}

// asMember reads role, joined_at, seen, read, data and until when the member is muted.
func asMember(user string, r reply) chat.Member {
	return chat.Member{User: user, Role: chat.Role(r.text(0)), JoinedAt: chat.TimeMs(r.number(1)), Seen: r.number(2),
		Read: r.number(3), Data: servedData(r.text(4)), MutedUntil: mutedUntil(r.text(5))}
}

// Members pages through the members by the order of joining, for a member.
func (s *Groups) Members(ctx context.Context, group, user, after string, limit int) ([]chat.Member, string, error) {
	k := s.keys.group(group)
	r, err := s.runSafe(ctx, membersScript.On(k).Arg("user", user).Arg("after", cmp.Or(after, "0")).Arg("limit", limit).
		Arg("bytes", s.limits.PageBytesMax))
	if err != nil {
		return nil, "", err
	}
	members := []chat.Member{}
	for i := 3; i+6 < len(r); i += 7 {
		m := asMember(r.text(i), r[i+1:])
		m.Receipts = chat.Receipting(r.text(2))
		members = append(members, m)
	}
	return members, r.text(1), nil
}
