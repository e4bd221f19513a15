package chat

import (
	"context"
	"iter"
	"slices"
)

// Pull reads a page of a group, with its reactions. It moves no cursor. ErrNotFound or ErrForbidden for those outside.
func (s *Service) Pull(ctx context.Context, by Caller, group string, q PullQuery) (Batch, []MessageView, error) {
	if err := CheckGroup(by, group); err != nil {
		return Batch{}, nil, err
	}
	limit, err := s.opt.Limits.Page(q.Limit)
	if err != nil {
		return Batch{}, nil, err
	}
	var b Batch
	var views []MessageView
	if q.Before != nil {
		if q.After != nil {
			return Batch{}, nil, Invalid("after and before: only one of them")
		}
		b, views, err = s.pullBefore(ctx, by, group, *q.Before, limit)
	} else {
		var pos Position
		if q.After != nil {
			if pos, err = ParsePosition(*q.After); err != nil {
				return Batch{}, nil, err
			}
		}
		b, views, err = s.pullAfter(ctx, by, group, pos, limit)
	}
	if err != nil {
		return Batch{}, nil, s.Refused(ctx, by, group, AsError(err))
	}
	return b, views, nil
}

// pullAfter reads the batch after a position. One round trip, but where the position leads elsewhere than it says.
func (s *Service) pullAfter(ctx context.Context, by Caller, group string, pos Position, limit int) (Batch, []MessageView, error) {
	r := NewCounted(group, pos, limit)
	if err := Read(ctx, s.stores, by.User, []*Reading{&r}); err != nil {
		return Batch{}, nil, err
	}
	if r.Err != nil {
		return Batch{}, nil, r.Err
	}
	if len(r.Messages) == 0 && r.Owed() > 0 {
		return Batch{}, nil, ErrUnavailable
	}
	views, err := s.views(ctx, by.User, r.Info, s.fit(r.Messages), r.Reactions)
	if err != nil {
		return Batch{}, nil, err
	}
	views = views[:fitViews(slices.Values(views), s.opt.Limits.PageBytesMax)]
	return r.Batch(r.Messages[:len(views)]), views, nil
}

// page pulls from one group.
func (s *Service) page(ctx context.Context, user string, p Pull) (Page, error) {
	pages, err := s.stores.Pull(ctx, user, []Pull{p})
	if err != nil {
		return Page{}, err
	}
	return pages[0], pages[0].Err
}

// fit cuts messages after PageBytesMax bytes; one message always fits.
func (s *Service) fit(messages []Message) []Message {
	bytes := 0
	for i, m := range messages {
		bytes += len(m.JSON) + 1 // and a comma
		if i > 0 && bytes > s.opt.Limits.PageBytesMax {
			return messages[:i]
		}
	}
	return messages
}

// pullBefore reads the page that ends just before an id. What is asked for and was trimmed makes it incomplete; what
// lies before the member's joining of a group without history does not.
func (s *Service) pullBefore(ctx context.Context, by Caller, group string, before int64, limit int) (Batch, []MessageView, error) {
	if before < 1 {
		return Batch{}, nil, Invalid("before: must be at least 1")
	}
	page, err := s.page(ctx, by.User, Pull{Group: group, Before: min(before, IDMax), Limit: limit, Counted: true})
	if err != nil {
		return Batch{}, nil, err
	}
	info, messages := page.Info, s.fitEnd(page.Messages)
	views, err := s.views(ctx, by.User, info, messages, page.Reactions)
	if err != nil {
		return Batch{}, nil, err
	}
	cut := len(views) - fitViews(backward(views), s.opt.Limits.PageBytesMax)
	messages, views = messages[cut:], views[cut:]
	oldest := info.Visible()
	start := Start{ID: oldest, Complete: true}
	switch n := len(messages); {
	case n > 0:
		start.ID = messages[0].ID
	case !info.History && before <= info.Joined:
		// Nothing is missing there for this member.
	default:
		start.ID = min(before, info.Last+1)
		start.Complete = before <= 1 || info.First <= 1
	}
	b := newBatch(info, start, info.MarkAt(start.ID-1, ""), messages)
	b.HasMore = start.ID > oldest
	return b, views, nil
}

// fitEnd cuts the oldest messages so that the rest fits into PageBytesMax bytes; the newest always does.
func (s *Service) fitEnd(messages []Message) []Message {
	bytes := 0
	for i := len(messages) - 1; i >= 0; i-- {
		bytes += len(messages[i].JSON) + 1
		if i < len(messages)-1 && bytes > s.opt.Limits.PageBytesMax {
			return messages[i+1:]
		}
	}
	return messages
}

// views adds reactions to messages of a group: those that were read with them, or freshly read ones if some are missing.
func (s *Service) views(ctx context.Context, user string, info Info, messages []Message, reactions map[int64]map[string]ReactionCount) ([]MessageView, error) {
	if len(messages) == 0 {
		return nil, nil
	}
	if reactions == nil || messages[0].ID < info.Held {
		var err error
		reactions, err = s.stores.Reactions(ctx, info.ID, user, messages[0].ID, messages[len(messages)-1].ID)
		if err != nil {
			return nil, err
		}
	}
	views := make([]MessageView, len(messages))
	for i, m := range messages {
		views[i] = MessageView{Message: m, Reactions: joined(reactions[m.ID])}
	}
	return views, nil
}

// reactionBytes is more than what the reactions with one emoji take in an answer beside the emoji.
const reactionBytes = 60

// fitViews is how many of views go into an answer of bytesMax bytes with their reactions, one at least.
func fitViews(views iter.Seq[MessageView], bytesMax int) (n int) {
	bytes := 0
	for v := range views {
		bytes += len(v.JSON) + 1
		for emoji := range v.Reactions {
			bytes += reactionBytes + len(emoji)
		}
		if n > 0 && bytes > bytesMax {
			break
		}
		n++
	}
	return n
}

func backward(views []MessageView) iter.Seq[MessageView] {
	return func(yield func(MessageView) bool) {
		for _, v := range slices.Backward(views) {
			if !yield(v) {
				return
			}
		}
	}
}

// UnreadCounts counts unread messages over all groups of the caller, from the groups themselves.
func (s *Service) UnreadCounts(ctx context.Context, by Caller) (UnreadCounts, error) {
	if err := CheckCaller(by); err != nil {
		return UnreadCounts{}, err
	}
	index, err := s.stores.UserGroups(ctx, by.User)
	if err != nil {
		return UnreadCounts{}, AsError(err)
	}
	LookedAll(ctx, len(index))
	c := UnreadCounts{Groups: map[string]int64{}}
	for some := range slices.Chunk(names(index), unreadGroups) {
		if err := s.addUnread(ctx, by.User, some, &c); err != nil {
			return UnreadCounts{}, AsError(err)
		}
	}
	return c, nil
}

// unreadGroups is how many groups are counted at once: what is read of each takes about 2 KB in memory.
const unreadGroups = 1000

// addUnread counts what user has not read in groups. Where they have read to the end, no more is read of the group.
func (s *Service) addUnread(ctx context.Context, user string, groups []string, c *UnreadCounts) error {
	looks, err := s.stores.Looks(ctx, user, groups, LookAtRead)
	if err != nil {
		return err
	}
	var unread []string
	for i, l := range looks {
		if l.Read >= 0 && l.Read < l.Last {
			unread = append(unread, groups[i])
		}
	}
	Looked(ctx, PageLooks*len(unread))
	infos, err := s.memberships(ctx, user, unread)
	for _, i := range infos {
		c.Total += i.Unread
		c.Mentions += i.MentionsUnread
		if i.Unread > 0 {
			c.Groups[i.ID] = i.Unread
		}
	}
	return err
}

// Memberships reads the groups that the caller is in. The index only says where to look.
func (s *Service) Memberships(ctx context.Context, by Caller) ([]Info, error) {
	if err := CheckCaller(by); err != nil {
		return nil, err
	}
	index, err := s.stores.UserGroups(ctx, by.User)
	if err != nil {
		return nil, AsError(err)
	}
	LookedAll(ctx, len(index))
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

// memberships reads those of groups that user is in.
func (s *Service) memberships(ctx context.Context, user string, groups []string) ([]Info, error) {
	all, err := s.infos(ctx, user, groups)
	if err != nil {
		return nil, err
	}
	infos := all[:0]
	for _, i := range all {
		if i.Epoch != "" && i.Role != "" {
			infos = append(infos, i)
		}
	}
	return infos, nil
}
