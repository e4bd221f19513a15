package store

import (
	"context"
	"errors"
	"strconv"

	"github.com/chatd/chatd/chat"
)

var (
	createScript = newScript("group/create")
	updateScript = newScript("group/update")
	deleteScript = newScript("group/delete")
	infoScript   = newReader("group/info")
)

// CreateGroup makes the group with its members and notices.
func (s *Store) CreateGroup(ctx context.Context, g chat.NewGroup) error {
	k := s.keys.group(g.ID)
	payload := memberTask(g.ID, g.Epoch, g.CreatedBy, append([]string{g.CreatedBy}, g.Members...), g.CreatedAt.UnixMilli())
	args := []any{g.CreatedBy, g.Epoch, g.Name, string(g.Visibility), g.CreatedAt.UnixMilli(), g.Keep, g.BacklogMax,
		string(g.Post), flag(g.History), shortHash(g.Key), publicMember(g.Name, g.ID), k.channel(), k.taskID(), payload,
		g.ID, len(g.Members)}
	for _, m := range g.Members {
		args = append(args, m)
	}
	if len(g.Notices) != 1+len(g.Members) {
		return broke("create", errors.New("a notice for the creation and for each member is needed"))
	}
	for _, n := range g.Notices {
		args = append(args, n.Mark, n.Rest)
	}
	_, err := s.run(ctx, call{createScript, k.core(), args})
	return err
}

// Infos reads each group as user stands to it.
func (s *Store) Infos(ctx context.Context, user string, groups []string) ([]chat.Info, error) {
	calls := make([]call, len(groups))
	for i, g := range groups {
		calls[i] = s.infoCall(user, g)
	}
	replies, err := s.runReads(ctx, calls)
	if err != nil {
		return nil, err
	}
	infos := make([]chat.Info, len(groups))
	for i, r := range replies {
		infos[i] = asInfo(groups[i], r)
	}
	return infos, nil
}

func (s *Store) infoCall(user, group string) call {
	k := s.keys.group(group)
	return call{infoScript, []string{k.id(), k.meta(), k.members(), k.joined(), k.seen(), k.read(), k.msgs(), k.skip(),
		k.by(user), k.at(user)}, []any{user}}
}

// asInfo reads what group/info.lua answers.
func asInfo(group string, r reply) chat.Info {
	in := chat.Info{Group: chat.Group{ID: group}}
	if r.text(1) == "" {
		return in
	}
	in.Epoch, in.Name, in.Visibility, in.CreatedBy = r.text(1), r.text(2), chat.Visibility(r.text(3)), r.text(4)
	in.CreatedAt = chat.TimeMs(r.number(5))
	in.Keep, in.BacklogMax, in.Post, in.History = r.number(6), r.number(7), chat.Posting(r.text(8)), r.text(9) == "1"
	in.ActiveMs, in.NewestID, in.LastMark = r.number(10), r.number(11), r.text(12)
	in.Last = r.number(13)
	in.First = in.Last - r.number(14) + 1
	in.Group.Members = r.number(15)
	in.Role, in.Joined = chat.Role(r.text(16)), r.number(18)
	in.Seen, in.Read, in.Unread, in.MentionsUnread = r.number(19), r.number(20), r.number(21), r.number(22)
	return in
}

// UpdateGroup changes name and settings and appends the notices. Where nothing would change, nothing is done, so that a
// repeat leaves no second notice.
func (s *Store) UpdateGroup(ctx context.Context, by chat.Caller, group string, change chat.GroupChange,
	notices []chat.NoticeEntry, atMs int64) error {
	k := s.keys.group(group)
	args := []any{by.User, flag(by.Admin), k.channel(), k.taskID(), group, atMs, len(notices)}
	for _, n := range notices {
		args = append(args, n.Mark, n.Rest)
	}
	set := func(field, value string) { args = append(args, field, value) }
	if change.Name != nil {
		set("name", *change.Name)
	}
	if change.Visibility != nil {
		set("visibility", string(*change.Visibility))
	}
	if change.Keep != nil {
		set("keep", strconv.FormatInt(*change.Keep, 10))
	}
	if change.BacklogMax != nil {
		set("backlog_max", strconv.FormatInt(*change.BacklogMax, 10))
	}
	if change.Post != nil {
		set("post", string(*change.Post))
	}
	if change.History != nil {
		set("history", flag(*change.History))
	}
	_, err := s.run(ctx, call{updateScript, k.core(), args})
	return err
}

// DeleteGroup removes the group in one step, but for the keys of its members, which are left to a task.
func (s *Store) DeleteGroup(ctx context.Context, by chat.Caller, group string) error {
	k := s.keys.group(group)
	_, err := s.run(ctx, call{deleteScript, k.core(), []any{by.User, flag(by.Admin), k.channel(), k.taskID(), group}})
	return err
}

// flag is a truth value as the scripts take it.
func flag(b bool) string {
	if b {
		return "1"
	}
	return "0"
}
