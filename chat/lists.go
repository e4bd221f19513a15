package chat

import (
	"context"
	"encoding/json"
	"slices"
	"sort"
)

// lists shows callers their groups, and the public ones.
type lists struct {
	*base
	groups GroupStore
	index  IndexStore
	logs   PullStore
}

// Groups lists the caller's groups, latest activity first. The cursor names the last one shown, by its activity. A group that
// becomes active meanwhile moves to the front and shows up when the list is read again; nothing is shown twice.
func (s *lists) Groups(ctx context.Context, by Caller, limit int, cursor string) (List[GroupView], error) {
	limit, err := s.opt.Limits.Page(limit)
	if err != nil {
		return List[GroupView]{}, err
	}
	after, err := ParseRank(cursor)
	if err != nil {
		return List[GroupView]{}, err
	}
	if err := CheckCaller(by); err != nil {
		return List[GroupView]{}, err
	}
	list, err := s.byActivity(ctx, by)
	if err != nil {
		return List[GroupView]{}, AsError(err)
	}
	out := List[GroupView]{Total: int64(len(list))}
	if cursor != "" {
		list = list[sort.Search(len(list), func(i int) bool { return after.Compare(list[i]) < 0 }):]
	}
	page := list[:min(len(list), limit)]
	groups := make([]string, len(page))
	for i, at := range page {
		groups[i] = at.Group
	}
	infos, err := s.Views(ctx, by.User, groups)
	if err != nil {
		return List[GroupView]{}, err
	}
	infos = slices.DeleteFunc(infos, outside)
	out.Items, err = s.groupViews(ctx, by, infos)
	end := len(page)
	if n := len(out.Items); n < len(infos) {
		end = slices.Index(groups, infos[n].ID)
	}
	if end > 0 && end < len(list) {
		out.Next = page[end-1].String()
	}
	return out, AsError(err)
}

// byActivity lists the groups of the caller, in the order of the list. It reads no more of each than that takes.
func (s *lists) byActivity(ctx context.Context, by Caller) ([]Rank, error) {
	index, err := s.index.UserGroups(ctx, by.User)
	if err != nil {
		return nil, err
	}
	LookedAll(ctx, len(index))
	groups := names(by.Reached(index))
	looks, err := s.index.Looks(ctx, by.User, groups, LookAtActivity)
	if err != nil {
		return nil, err
	}
	list := make([]Rank, 0, len(groups))
	for i, look := range looks {
		if look.Seen >= 0 {
			list = append(list, Rank{look.ActiveMs, groups[i]})
		}
	}
	slices.SortFunc(list, Rank.Compare)
	return list, nil
}

// groupBytes is an upper bound of the size of a group in an answer without its name, its data and its newest message.
const groupBytes = 1000

// groupViews adds the newest message to each group, in one round trip, for as many of infos as fit into one answer.
func (s *lists) groupViews(ctx context.Context, by Caller, infos []Info) ([]GroupView, error) {
	pulls := make([]Pull, len(infos))
	for i, info := range infos {
		pulls[i] = Pull{Group: info.ID}
		if info.NewestID > 0 {
			pulls[i].From, pulls[i].Limit = info.NewestID, 1
		}
	}
	pages, err := s.logs.Pull(ctx, by.User, pulls)
	if err != nil {
		return nil, err
	}
	views := make([]GroupView, len(infos))
	bytes := 0
	for i, info := range infos {
		views[i] = GroupView{Group: info.view(), Seen: info.Seen, Read: info.Read, Unread: info.Unread,
			MentionsUnread: info.MentionsUnread, ThreadsUnread: info.ThreadsUnread, LastMessage: json.RawMessage("null")}
		if m := pages[i].Messages; pages[i].Err == nil && len(m) > 0 && m[0].ID == info.NewestID {
			views[i].LastMessage = m[0].JSON
		}
		bytes += groupBytes + len(Encode(info.Name)) + len(info.Data) + len(views[i].LastMessage)
		if i > 0 && (pages[i].Cut || bytes > s.opt.Limits.PageBytesMax) {
			return views[:i], nil
		}
	}
	return views, nil
}

// PublicGroups lists the public groups by name.
func (s *lists) PublicGroups(ctx context.Context, by Caller, limit int, cursor string) (List[Group], error) {
	limit, err := s.opt.Limits.Page(limit)
	if err != nil {
		return List[Group]{}, err
	}
	if err := CheckCaller(by); err != nil {
		return List[Group]{}, err
	}
	ids, next, err := s.groups.PublicGroups(ctx, by, cursor, limit)
	if err != nil {
		return List[Group]{}, AsError(err)
	}
	infos, err := s.Views(ctx, by.User, ids)
	if err != nil {
		return List[Group]{}, err
	}
	out, bytes := List[Group]{Next: next}, 0
	for n, i := range infos {
		if bytes += len(i.Data); n > 0 && bytes > s.opt.Limits.PageBytesMax {
			return s.PublicGroups(ctx, by, n, cursor) // only the store knows where that page ends
		}
		// The list of names is derived; the group itself is the truth.
		if i.Epoch != "" && i.Visibility == Public {
			out.Items = append(out.Items, i.view())
		}
	}
	return out, nil
}

// UnreadCounts counts unread messages over all groups of the caller, from the groups themselves.
func (s *lists) UnreadCounts(ctx context.Context, by Caller) (UnreadCounts, error) {
	if err := CheckCaller(by); err != nil {
		return UnreadCounts{}, err
	}
	index, err := s.index.UserGroups(ctx, by.User)
	if err != nil {
		return UnreadCounts{}, AsError(err)
	}
	LookedAll(ctx, len(index))
	c := UnreadCounts{Groups: map[string]int64{}}
	for some := range slices.Chunk(names(by.Reached(index)), unreadGroups) {
		if err := s.addUnread(ctx, by.User, some, &c); err != nil {
			return UnreadCounts{}, AsError(err)
		}
	}
	return c, nil
}

// unreadGroups is how many groups are counted at once: what is read of each takes about 2 KB in memory.
const unreadGroups = 1000

// addUnread counts what user has not read in groups. Where they have read to the end, and follow no thread, no more is read of the group.
func (s *lists) addUnread(ctx context.Context, user string, groups []string, c *UnreadCounts) error {
	looks, err := s.index.Looks(ctx, user, groups, LookAtRead)
	if err != nil {
		return err
	}
	var unread []string
	for i, l := range looks {
		if l.Read >= 0 && (l.Read < l.Last || l.Follows) {
			unread = append(unread, groups[i])
		}
	}
	Looked(ctx, PageLooks*len(unread))
	infos, err := s.memberships(ctx, user, unread)
	for _, i := range infos {
		c.Total += i.Unread
		c.Mentions += i.MentionsUnread
		c.Threads += i.ThreadsUnread
		if i.Unread > 0 {
			c.Groups[i.ID] = i.Unread
		}
	}
	return err
}

// Memberships reads the groups that the caller is in. The index only says where to look.
func (s *lists) Memberships(ctx context.Context, by Caller) ([]Info, error) {
	if err := CheckCaller(by); err != nil {
		return nil, err
	}
	index, err := s.index.UserGroups(ctx, by.User)
	if err != nil {
		return nil, AsError(err)
	}
	LookedAll(ctx, len(index))
	index = by.Reached(index)
	Looked(ctx, (PageLooks-1)*len(index))
	return s.memberships(ctx, by.User, names(index))
}

func names(index []UserGroup) []string {
	groups := make([]string, len(index))
	for i, g := range index {
		groups[i] = g.Group
	}
	return groups
}
