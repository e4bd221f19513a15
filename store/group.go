package store

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/audit"
	"github.com/chatd/chatd/internal/fold"
	"github.com/chatd/chatd/store/conn"
)

var (
	createScript    = newScript("group/create", groupNames)
	updateScript    = newScript("group/update", groupNames)
	inviteScript    = newScript("group/invite", groupNames)
	wordsScript     = newScript("group/words", groupNames)
	deleteScript    = newFreeing("group/delete", groupNames)
	infosScript     = newReader("group/infos", partNames)
	standingsScript = newReader("group/standings", partNames)
)

// createAtOnce is how many members one step of a creation adds, a multiple of chat.NoticeUsersMax: it blocks the server for about 2 ms.
const createAtOnce = 200

// Groups are the groups and their members.
type Groups struct {
	*base
	standings *conn.Joined[[]standing, []chat.Info]
}

// CreateGroup makes the group with its first members and their notices.
func (s *Groups) CreateGroup(ctx context.Context, g chat.NewGroup) error {
	k := s.keys.group(g.ID)
	notices := func(users int) int { return 1 + (users+chat.NoticeUsersMax-1)/chat.NoticeUsersMax }
	if len(g.Notices) != notices(len(g.Members)) {
		return broke("create", errors.New("a notice for the creation and for each part of the members is needed"))
	}
	now := min(len(g.Members), createAtOnce)
	c := createScript.Sized(k, len(g.Members)+2*notices(now)).Arg("creator", g.CreatedBy).Arg("owner", g.Owner()).
		Arg("direct", strings.Join(g.Direct, " ")).Arg("epoch", g.Epoch).
		Arg("name", g.Name).Arg("folded", fold.Fold(g.Name)).Arg("visibility", string(g.Visibility)).Arg("created_ms", g.CreatedAt.UnixMilli()).
		Arg("keep", g.Keep).Arg("backlog_max", g.BacklogMax).
		Arg("overflow", string(g.Overflow)).Arg("backlog_bytes", g.BacklogBytes).Arg("post", string(g.Post)).Arg("history", flag(g.History)).Arg("retain_days", g.RetainDays).
		Arg("slow_s", g.SlowS).Arg("expire_s", g.ExpireS).Arg("receipting", string(g.Receipts)).Arg("join", string(g.Join)).Arg("pinning", string(g.Pins)).Arg("mention_all", string(g.MentionAll)).Arg("data", string(g.Data)).Arg("key", shortHash(g.Key)).Arg("channel", k.channel()).Arg("task_id", k.taskID()).Arg("retain_id", k.taskID()).Arg("group", g.ID).
		Arg("others", len(g.Members)).Arg("now", now).Arg("per", chat.NoticeUsersMax).List("invited", g.Members)
	for _, n := range g.Notices[:notices(now)] {
		c = c.MoreArgs("notices", "mark", n.Mark, "rest", n.Rest)
	}
	return s.do(ctx, c)
}

// Waiting reads some of the users whom a creation named and who are not members yet.
func (s *Groups) Waiting(ctx context.Context, group string) ([]string, error) {
	var users *redis.StringSliceCmd
	err := s.reads(ctx, func(pipe redis.Pipeliner) {
		users = pipe.ZRange(ctx, s.keys.group(group).waiting(), 0, chat.NoticeUsersMax-1)
	})
	if err != nil {
		return nil, err
	}
	return users.Val(), nil
}

// Invite adds those of users who still have to be added.
func (s *Groups) Invite(ctx context.Context, group, epoch string, atMs int64, users []string, notice chat.UsersNotice) error {
	k := s.keys.group(group)
	return s.doSafe(ctx, inviteScript.Sized(k, len(users)).Arg("epoch", epoch).Arg("at_ms", atMs).Arg("channel", k.channel()).Arg("group", group).
		Arg("mark", notice.Mark).Arg("head", notice.Head).Arg("tail", notice.Tail).List("users", users))
}

// Infos reads each group from the view of user.
func (s *Groups) Infos(ctx context.Context, user string, groups []string) ([]chat.Info, error) {
	return s.infos(ctx, user, groups, false)
}

// Views is Infos with the data of groups.
func (s *Groups) Views(ctx context.Context, user string, groups []string) ([]chat.Info, error) {
	return s.infos(ctx, user, groups, true)
}

func (s *Groups) infos(ctx context.Context, user string, groups []string, data bool) ([]chat.Info, error) {
	infos := make([]chat.Info, len(groups))
	var calls []call
	var asked [][]int
	for _, here := range s.indexesByPartition(groups) {
		for chunk := range slices.Chunk(here, transactionMax) {
			some := make([]string, len(chunk))
			for j, i := range chunk {
				some[j] = groups[i]
			}
			calls, asked = append(calls, s.infosCall(user, some, data)), append(asked, chunk)
		}
	}
	replies, err := s.runReads(ctx, calls)
	if err != nil {
		return nil, err
	}
	for c, r := range replies {
		for j, i := range asked[c] {
			infos[i] = asInfo(groups[i], r.list(1+j))
		}
	}
	return infos, nil
}

// infosCall reads groups of one partition.
func (s *Groups) infosCall(user string, groups []string, data bool) call {
	c := infosScript.Sized(s.keys.group(groups[0]).partKeys, 14*len(groups)).Arg("user", user).Arg("data", data)
	for _, group := range groups {
		k := s.keys.group(group)
		c = c.More("groups", "last_id", k.lastID(), "meta", k.meta(), "members", k.members(), "joined", k.joined(), "seen", k.seen(),
			"read", k.read(), "msgs", k.msgs(), "skip", k.skip(), "by", k.by(user), "at", k.at(user), "at_all", k.at(chat.MentionAll), "mutes", k.mutes(),
			"threads", k.threads(), "replies", k.replies())
	}
	return c
}

// asInfo reads an info as group/infos.lua answers it.
func asInfo(group string, r reply) chat.Info {
	in := chat.Info{Group: chat.Group{ID: group}}
	if r.text(0) == "" {
		return in
	}
	in.Epoch, in.Name, in.Visibility, in.CreatedBy = r.text(0), r.text(1), chat.Visibility(r.text(2)), r.text(3)
	in.CreatedAt = chat.TimeMs(r.number(4))
	in.Keep, in.BacklogMax, in.Post, in.History = r.number(5), r.number(6), chat.Posting(r.text(7)), r.text(8) == "1"
	in.ActiveMs, in.NewestID, in.LastMark = r.number(9), r.number(10), r.text(11)
	in.Late, in.Changed, in.Trimmed = r.number(14), r.number(15), asTrimmed(r.text(16))
	in.RetainDays = r.number(17)
	in.Overflow, in.BacklogBytes = chat.Overflow(r.text(18)), r.number(19)
	if direct := r.text(20); direct != "" {
		in.Direct = strings.Fields(direct)
	}
	in.Version, in.Data, in.SlowS = r.number(21), servedData(r.text(22)), r.number(23)
	in.Join = cmp.Or(chat.Joining(r.text(25)), chat.JoiningOf(in.Visibility))
	in.Pins = cmp.Or(chat.Pinning(r.text(26)), chat.PinningOf(len(in.Direct) > 0))
	in.MentionAll = cmp.Or(chat.Mentioning(r.text(27)), chat.MentionManagers)
	in.ExpireS, in.Receipts = r.number(29), cmp.Or(chat.Receipting(r.text(30)), chat.ReceiptsOptional)
	in.Last = r.number(31)
	in.Held = in.Last - r.number(32) + 1
	in.Group.Members, in.Archived = r.number(33), r.number(34)
	in.First = in.Held
	if from := r.number(13); in.Archived > 0 && from > 0 {
		in.First = min(from, in.Held)
	}
	in.Role, in.Joined = chat.Role(r.text(35)), r.number(37)
	in.Seen, in.Read, in.Unread, in.MentionsUnread = r.number(38), r.number(39), r.number(40), r.number(41)
	in.Acted = r.number(42) == 1
	in.Threads, in.ThreadsUnread = r.text(44) != "", r.number(44)
	in.MutedUntil, in.Blocked = mutedUntil(r.text(43)), r.number(43) == blockedMs
	return in
}

// asTrimmed reads the field `trimmed` of a group.
func asTrimmed(field string) chat.Trimmed {
	id, mark, _ := strings.Cut(field, " ")
	return chat.Trimmed{ID: number(id), Mark: mark}
}

// standing asks for the standing of a user in a group.
type standing struct{ user, group string }

// Standings reads the standing of user in groups, without what has to be counted. Calls at the same time share round trips and
// what they read of a group, except in a cluster, as with Begin.
func (s *Groups) Standings(ctx context.Context, user string, groups []string) ([]chat.Info, error) {
	asked := standingsOfUser(nil, user, groups)
	if s.conn.IsCluster() {
		return s.readInfos(ctx, asked)
	}
	infos, err := s.standings.Ask(ctx, asked)
	return infos, fail("read", err)
}

// standingsOfUser appends the questions for the standing of user in groups.
func standingsOfUser(asked []standing, user string, groups []string) []standing {
	asked = slices.Grow(asked, len(groups))
	for _, g := range groups {
		asked = append(asked, standing{user, g})
	}
	return asked
}

// readStandings answers many callers at once.
func (s *Groups) readStandings(ctx context.Context, asked [][]standing) ([][]chat.Info, error) {
	all := slices.Concat(asked...)
	infos, err := s.readInfos(ctx, all)
	if err != nil {
		return nil, err
	}
	answers := make([][]chat.Info, len(asked))
	for i, list := range asked {
		answers[i], infos = infos[:len(list):len(list)], infos[len(list):]
	}
	return answers, nil
}

// usersOf are some of those who ask about one group: where their answers belong.
type usersOf struct {
	group   string
	indexes []int
}

// readInfos reads one standing each, with a step for standingsMax users of groups of a partition.
func (s *Groups) readInfos(ctx context.Context, asked []standing) ([]chat.Info, error) {
	read := s.standingsOf(asked)
	replies, err := s.runReads(ctx, read.calls)
	if err != nil {
		return nil, err
	}
	return read.infos(replies), nil
}

// standingsRead is how standings are read: calls, of which each answers about some users of groups.
type standingsRead struct {
	asked []standing
	calls []call
	parts [][]usersOf // by call
}

func (s *base) standingsOf(asked []standing) standingsRead {
	read := standingsRead{asked: asked}
	for p, groups := range s.usersByGroup(asked) {
		for len(groups) > 0 {
			users, n := 0, 0
			for n < len(groups) && (n == 0 || users+len(groups[n].indexes) <= standingsMax) {
				users += len(groups[n].indexes)
				n++
			}
			read.calls, read.parts = append(read.calls, s.standingsCall(p, asked, groups[:n], users)), append(read.parts, groups[:n])
			groups = groups[n:]
		}
	}
	return read
}

// infos are the standings, in the order in which they were asked for.
func (read standingsRead) infos(replies []reply) []chat.Info {
	infos := make([]chat.Info, len(read.asked))
	for c, r := range replies {
		for g, of := range read.parts[c] {
			log, members := r.list(1+2*g), r.list(2+2*g)
			for j, i := range of.indexes {
				infos[i] = asStanding(of.group, log, members[4*j:])
			}
		}
	}
	return infos
}

// usersByGroup divides questions by partition and group, with at most standingsMax users of a group together.
func (s *base) usersByGroup(asked []standing) [][]usersOf {
	byGroup := make(map[string]int, len(asked))
	parts := make([][]usersOf, s.partitions())
	for i, a := range asked {
		p := s.keys.partition(a.group)
		at, ok := byGroup[a.group]
		if !ok || len(parts[p][at].indexes) == standingsMax {
			at = len(parts[p])
			byGroup[a.group] = at
			parts[p] = append(parts[p], usersOf{group: a.group})
		}
		parts[p][at].indexes = append(parts[p][at].indexes, i)
	}
	return parts
}

func (s *base) standingsCall(p int, asked []standing, groups []usersOf, users int) call {
	c := standingsScript.Sized(s.keys.part(p), 7*len(groups)+len(groups)+users)
	for _, of := range groups {
		k := s.keys.group(of.group)
		c = c.More("groups", "last_id", k.lastID(), "meta", k.meta(), "members", k.members(), "joined", k.joined(), "seen", k.seen(),
			"read", k.read(), "msgs", k.msgs())
	}
	for _, of := range groups {
		c = c.MoreArgs("users", len(of.indexes))
		for _, i := range of.indexes {
			c = c.MoreArgs("users", asked[i].user)
		}
	}
	return c
}

// asStanding reads a group and one of those who asked, as group/standings.lua answers them.
func asStanding(group string, log, member reply) chat.Info {
	in := chat.Info{Group: chat.Group{ID: group}}
	if in.Epoch = log.text(0); in.Epoch == "" {
		return in
	}
	in.Visibility, in.History, in.LastMark = chat.Visibility(log.text(1)), log.text(2) == "1", log.text(3)
	in.Late, in.Changed, in.Trimmed = log.number(5), log.number(6), asTrimmed(log.text(7))
	in.Last = log.number(8)
	in.Held = in.Last - log.number(9) + 1
	in.Group.Members, in.Archived = log.number(10), log.number(11)
	in.Streams = log.text(12) != ""
	in.First = in.Held
	if from := log.number(4); in.Archived > 0 && from > 0 {
		in.First = min(from, in.Held)
	}
	in.Role, in.Joined = chat.Role(member.text(0)), member.number(1)
	in.Seen, in.Read = member.number(2), member.number(3)
	return in
}

// lifeOf is the life and the version of a group as a step compares them; empty: it does not.
func lifeOf(was *chat.Group) (epoch, version string) {
	if was == nil {
		return "", ""
	}
	return was.Epoch, strconv.FormatInt(was.Version, 10)
}

// UpdateGroup changes name, settings and data and appends the notices. If nothing would change, it does nothing, so a repeat leaves
// no second notice.
func (s *Groups) UpdateGroup(ctx context.Context, by chat.Caller, group string, was *chat.Group, change chat.GroupChange,
	notices []chat.NoticeEntry, atMs int64) error {
	k := s.keys.group(group)
	epoch, version := lifeOf(was)
	detail := change
	if detail.Data != nil {
		detail.Data = json.RawMessage("true") // that it is another one says enough
	}
	c := s.noted(updateScript.On(k).Arg("caller", by.User).Arg("operator", by.Admin).Arg("was_epoch", epoch).Arg("was_version", version).Arg("channel", k.channel()).
		Arg("task_id", k.taskID()).Arg("retain_id", k.taskID()).Arg("group", group).Arg("at_ms", atMs), audit.Note(by, audit.GroupUpdate, group, "", detail)).Arg("count", len(notices))
	for _, n := range notices {
		c = c.MoreArgs("notices", "mark", n.Mark, "rest", n.Rest)
	}
	set := func(field, value string) { c = c.MoreArgs("changes", "field", field, "value", value) }
	if change.Name != nil {
		set("name", *change.Name)
		set("folded", fold.Fold(*change.Name))
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
	if change.Overflow != nil {
		set("overflow", string(*change.Overflow))
	}
	if change.BacklogBytes != nil {
		set("backlog_bytes", strconv.FormatInt(*change.BacklogBytes, 10))
	}
	if change.Post != nil {
		set("post", string(*change.Post))
	}
	if change.History != nil {
		set("history", flag(*change.History))
	}
	if change.RetainDays != nil {
		set("retain_days", strconv.FormatInt(*change.RetainDays, 10))
	}
	if change.SlowS != nil {
		set("slow_s", strings.TrimPrefix(strconv.FormatInt(*change.SlowS, 10), "0"))
	}
	if change.ExpireS != nil {
		set("expire_s", strings.TrimPrefix(strconv.FormatInt(*change.ExpireS, 10), "0"))
	}
	if change.Receipts != nil {
		set("receipts", string(*change.Receipts))
	}
	if change.Join != nil {
		set("join", string(*change.Join))
	}
	if change.Pins != nil {
		set("pins", string(*change.Pins))
	}
	if change.MentionAll != nil {
		set("mention_all", string(*change.MentionAll))
	}
	if change.Data != nil {
		set("data", storedData(change.Data))
	}
	return s.do(ctx, c)
}

// storedData is custom data as it is stored: an object, empty for one without members.
func storedData(data json.RawMessage) string {
	if string(data) == "{}" {
		return ""
	}
	return string(data)
}

// servedData is the inverse of storedData.
func servedData(stored string) json.RawMessage {
	if stored == "" {
		return nil
	}
	return json.RawMessage(stored)
}

// DeleteGroup removes the group in one step, except for the keys of its members, which are left to a task.
func (s *Groups) DeleteGroup(ctx context.Context, by chat.Caller, group string, was *chat.Group) error {
	k := s.keys.group(group)
	epoch, version := lifeOf(was)
	return s.do(ctx, s.noted(deleteScript.On(k).Arg("caller", by.User).Arg("operator", by.Admin).Arg("was_epoch", epoch).Arg("was_version", version).Arg("channel", k.channel()).
		Arg("task_id", k.taskID()).Arg("group", group), audit.Note(by, audit.GroupDelete, group, "", nil)))
}

// flag is a truth value as it is stored.
func flag(b bool) string {
	if b {
		return "1"
	}
	return "0"
}
