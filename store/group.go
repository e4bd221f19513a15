package store

import (
	"context"
	"errors"
	"strconv"

	"github.com/chatd/chatd/chat"
)

var (
	createScript = newScript("group/create", groupNames)
	updateScript = newScript("group/update", groupNames)
	deleteScript = newScript("group/delete", groupNames)
	infoScript   = newReader("group/info", memberNames)
)

// CreateGroup makes the group with its members and notices.
func (s *Store) CreateGroup(ctx context.Context, g chat.NewGroup) error {
	k := s.keys.group(g.ID)
	if len(g.Notices) != 1+len(g.Members) {
		return broke("create", errors.New("a notice for the creation and for each member is needed"))
	}
	c := createScript.Sized(k, len(g.Members)+2*len(g.Notices)).Arg("creator", g.CreatedBy).Arg("epoch", g.Epoch).
		Arg("name", g.Name).Arg("visibility", string(g.Visibility)).Arg("created_ms", g.CreatedAt.UnixMilli()).
		Arg("keep", g.Keep).Arg("backlog_max", g.BacklogMax).Arg("post", string(g.Post)).Arg("history", flag(g.History)).
		Arg("key", shortHash(g.Key)).Arg("channel", k.channel()).Arg("task_id", k.taskID()).Arg("group", g.ID).
		Arg("others", len(g.Members)).List("invited", g.Members)
	for _, n := range g.Notices {
		c = c.MoreArgs("notices", "mark", n.Mark, "rest", n.Rest)
	}
	_, err := s.run(ctx, c)
	return err
}

// Infos reads each group as user stands to it.
func (s *Store) Infos(ctx context.Context, user string, groups []string) ([]chat.Info, error) {
	calls := make([]call, len(groups))
	for i, g := range groups {
		calls[i] = infoCall(s.keys.group(g), user)
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

func infoCall(k groupKeys, user string) call { return infoScript.On(k.of(user)).Arg("user", user) }

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
	c := updateScript.On(k).Arg("caller", by.User).Arg("operator", by.Admin).Arg("channel", k.channel()).
		Arg("task_id", k.taskID()).Arg("group", group).Arg("at_ms", atMs).Arg("count", len(notices))
	for _, n := range notices {
		c = c.MoreArgs("notices", "mark", n.Mark, "rest", n.Rest)
	}
	set := func(field, value string) { c = c.MoreArgs("changes", "field", field, "value", value) }
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
	_, err := s.run(ctx, c)
	return err
}

// DeleteGroup removes the group in one step, but for the keys of its members, which are left to a task.
func (s *Store) DeleteGroup(ctx context.Context, by chat.Caller, group string) error {
	k := s.keys.group(group)
	_, err := s.run(ctx, deleteScript.On(k).Arg("caller", by.User).Arg("operator", by.Admin).Arg("channel", k.channel()).
		Arg("task_id", k.taskID()).Arg("group", group))
	return err
}

// flag is a truth value as it is stored.
func flag(b bool) string {
	if b {
		return "1"
	}
	return "0"
}
