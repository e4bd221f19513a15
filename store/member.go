package store

import (
	"context"
	"encoding/json"

	"github.com/chatd/chatd/chat"
)

var (
	joinScript    = newScript("member/join")
	roleScript    = newScript("member/role")
	leaveScript   = newScript("member/leave")
	membersScript = newReader("member/list")
)

// Join adds m.User.
func (s *Store) Join(ctx context.Context, m chat.Membership) (chat.Member, bool, error) {
	if m.Role == chat.Owner {
		return chat.Member{}, false, chat.Errorf(chat.CodeInvalid, "add the member first, then make them the owner")
	}
	role := m.Role
	if role == "" {
		role = chat.Ordinary
	}
	k := s.keys.group(m.Group)
	r, err := s.run(ctx, call{joinScript, k.core(), []any{m.User, m.By.User, flag(m.By.Admin), string(role), m.AtMs,
		m.Notice.Mark, m.Notice.Rest, s.limits.GroupMembersMax, k.channel(), k.taskID(), m.Group, k.taskID()}})
	if err != nil {
		return chat.Member{}, false, err
	}
	return asMember(m.User, r[2:]), r.number(1) == 1, nil
}

// SetRole changes a member's role. To make someone the owner makes the former owner an admin.
func (s *Store) SetRole(ctx context.Context, m chat.Membership) (chat.Member, bool, error) {
	k := s.keys.group(m.Group)
	r, err := s.run(ctx, call{roleScript, k.core(), []any{m.User, m.By.User, flag(m.By.Admin), string(m.Role), m.AtMs,
		m.Notice.Mark, m.Notice.Rest, k.channel(), k.taskID(), m.Group}})
	if err != nil {
		return chat.Member{}, false, err
	}
	return asMember(m.User, r[2:]), r.number(1) == 1, nil
}

// Leave removes m.User; the last one out deletes the group.
func (s *Store) Leave(ctx context.Context, m chat.Membership) (deleted bool, err error) {
	k := s.keys.group(m.Group)
	what := "left"
	if m.By.User != m.User {
		what = "removed"
	}
	r, err := s.run(ctx, call{leaveScript, append(k.core(), k.at(m.User)), []any{m.User, m.By.User, flag(m.By.Admin), m.AtMs,
		m.Notice.Mark, m.Notice.Rest, m.HeirMark, m.HeirHead, m.HeirTail, k.channel(), k.taskID(), k.taskID(), m.Group,
		what}})
	if err != nil {
		return false, err
	}
	return r.number(1) == 1, nil
}

// asMember reads role, joined_at, seen and read.
func asMember(user string, r reply) chat.Member {
	return chat.Member{User: user, Role: chat.Role(r.text(0)), JoinedAt: chat.TimeMs(r.number(1)), Seen: r.number(2),
		Read: r.number(3)}
}

// Members pages through the members by the order of joining, for a member.
func (s *Store) Members(ctx context.Context, group, user string, after int64, limit int) ([]chat.Member, int64, error) {
	k := s.keys.group(group)
	r, err := s.runSafe(ctx, call{membersScript, []string{k.meta(), k.members(), k.joined(), k.seen(), k.read()},
		[]any{user, after, limit}})
	if err != nil {
		return nil, 0, err
	}
	members := []chat.Member{}
	for i := 2; i+4 < len(r); i += 5 {
		members = append(members, asMember(r.text(i), r[i+1:]))
	}
	return members, r.number(1), nil
}

// memberTask is the payload of the task that brings the index in line after a creation; member/join.lua and
// member/leave.lua write
// the same for one user.
func memberTask(group, epoch, by string, users []string, atMs int64) []byte {
	payload, err := json.Marshal(chat.MemberTask{Group: group, Epoch: epoch, ID: 1, By: by, What: "joined", Users: users,
		AtMs: atMs})
	if err != nil {
		panic(err) //nolint:forbidigo // strings and numbers only: it cannot fail
	}
	return payload
}
