package chat

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Defaults of a new group.
const (
	keepDefault    = 100
	backlogDefault = 10_000
)

// Group describes one group to those who may know of it, to operators with its legal hold.
func (s *Service) Group(ctx context.Context, by Caller, id string) (Group, error) {
	if err := CheckGroup(by, id); err != nil {
		return Group{}, err
	}
	info, err := s.visible(ctx, by, id)
	if err != nil {
		return Group{}, err
	}
	view := info.view()
	if by.Admin {
		if view.Hold, err = s.stores.HoldOf(ctx, id); err != nil {
			return Group{}, AsError(err)
		}
	}
	return view, nil
}

// CreateGroup makes a group owned by the caller, who adds the members it names. ErrExists when the id is taken.
func (s *Service) CreateGroup(ctx context.Context, by Caller, draft GroupDraft) (Group, error) {
	g, err := s.NewGroup(by, draft)
	if err != nil {
		return Group{}, err
	}
	users := append([]string{by.User}, g.Members...)
	if err := s.mayAdd(ctx, by, users...); err != nil {
		return Group{}, err
	}
	if err := s.roomFor(ctx, by, g.ID, users...); err != nil {
		return Group{}, err
	}
	if err := s.createGroup(ctx, g); err != nil {
		return Group{}, AsError(err)
	}
	info, err := s.Info(ctx, by.User, g.ID)
	if err != nil {
		return Group{}, err
	}
	if info.Group.Members < int64(len(users)) {
		if err := s.invite(ctx, info.CreatedBy, g.ID, info.Epoch, info.CreatedAt.UnixMilli()); err != nil {
			return Group{}, AsError(err)
		}
		if info, err = s.Info(ctx, by.User, g.ID); err != nil {
			return Group{}, err
		}
	}
	if info.Epoch == g.Epoch {
		s.indexCreated(ctx, users, g)
	} else if _, err := s.repairIndex(ctx, by.User, g.ID, true); err != nil {
		// This creation was done before. The task finds out which of its members are still in the group.
		return Group{}, AsError(err)
	}
	if !info.Sees(by) {
		return Group{}, ErrNotFound
	}
	return info.Group, nil
}

// createGroup creates a group in the store. If an earlier group of this id is not cleaned up yet, it does that first.
func (s *Service) createGroup(ctx context.Context, g NewGroup) error {
	err := s.stores.CreateGroup(ctx, g)
	for step := 0; errors.Is(err, ErrGone) && step < cleanupInline; step++ {
		if _, err := s.cleanUpStep(ctx, g.ID); err != nil {
			return err
		}
		err = s.stores.CreateGroup(ctx, g)
	}
	if errors.Is(err, ErrGone) {
		return &Error{Code: CodeUnavailable, Message: ErrGone.Error() + "; try again", RetryAfter: time.Second, Cause: err}
	}
	return err
}

// NewGroup checks a draft and fills in what it leaves open, as CreateGroup does.
func (s *Service) NewGroup(by Caller, d GroupDraft) (NewGroup, error) {
	if err := CheckCaller(by); err != nil {
		return NewGroup{}, err
	}
	if err := d.check(); err != nil {
		return NewGroup{}, err
	}
	members, err := UniqueUsers("members", d.Members, s.opt.Limits.GroupCreateMembers, by.User)
	if err != nil {
		return NewGroup{}, err
	}
	if len(members)+1 > s.opt.Limits.GroupMembersMax {
		return NewGroup{}, Errorf(CodeOutOfRange, "members: at most %d", s.opt.Limits.GroupMembersMax)
	}
	now := s.opt.Now()
	g := NewGroup{Members: members, Group: Group{
		ID: d.ID, Name: d.Name, Visibility: cmp.Or(d.Visibility, Private), CreatedBy: by.User, CreatedAt: TimeMs(now),
		Epoch: newEpoch(), Keep: keepDefault, BacklogMax: backlogDefault,
		Overflow: cmp.Or(d.Overflow, OverflowDrop), BacklogBytes: backlogBytesDefault, Post: cmp.Or(d.Post, PostMembers), History: true,
	}}
	if d.Keep != nil {
		g.Keep = *d.Keep
	}
	if d.BacklogMax != nil {
		g.BacklogMax = *d.BacklogMax
	}
	if d.BacklogBytes != nil {
		g.BacklogBytes = *d.BacklogBytes
	}
	if d.History != nil {
		g.History = *d.History
	}
	if d.RetainDays != nil {
		g.RetainDays = *d.RetainDays
	}
	if d.Key != "" {
		g.Key = d.hash(by.User)
	}
	if g.ID == "" {
		g.ID = NewID(g.Key)
	}
	g.Notices = append(g.Notices, s.notice(by, g.ID, now, Entry{Notice: NoticeCreated, User: by.User}))
	for _, u := range members {
		g.Notices = append(g.Notices, s.notice(by, g.ID, now, Entry{Notice: NoticeJoined, User: u}))
	}
	return g, nil
}

func (d *GroupDraft) check() (err error) {
	if d.ID != "" && (!ValidGroupID(d.ID) || d.ID == PublicName) {
		return Invalid("id: not a valid group id")
	}
	if err := CheckKey("Idempotency-Key", d.Key); err != nil {
		return err
	}
	if d.Visibility != "" {
		if err := checkVisibility(d.Visibility); err != nil {
			return err
		}
	}
	if d.Post != "" {
		if err := checkPosting(d.Post); err != nil {
			return err
		}
	}
	if d.Overflow != "" {
		if err := checkOverflow(d.Overflow); err != nil {
			return err
		}
	}
	if d.Name, err = line("name", d.Name, nameMax); err != nil {
		return err
	}
	return checkNumbers(d.Keep, d.BacklogMax, d.BacklogBytes, d.RetainDays)
}

// checkNumbers checks the settings that are numbers.
func checkNumbers(keep, backlog, backlogBytes, retainDays *int64) error {
	return cmp.Or(CheckRange("keep", keep, 0, keepMax), CheckRange("backlog_max", backlog, backlogMin, backlogMax),
		CheckRange("backlog_bytes", backlogBytes, backlogMin, backlogBytesMax), CheckRange("retain_days", retainDays, 0, RetainDaysMax))
}

func checkOverflow(o Overflow) error {
	if o != OverflowDrop && o != OverflowBlock {
		return Invalid("overflow: %s or %s", OverflowDrop, OverflowBlock)
	}
	return nil
}

func checkVisibility(v Visibility) error {
	if v != Private && v != Public {
		return Invalid("visibility: %s or %s", Private, Public)
	}
	return nil
}

func checkPosting(p Posting) error {
	if p != PostMembers && p != PostAdmins {
		return Invalid("post: %s or %s", PostMembers, PostAdmins)
	}
	return nil
}

// hash names one creation: this user, this key, this content. It outlives the time for which the key's answer is kept,
// so a late retry finds the group it made, and another request with an old key makes another group.
func (d GroupDraft) hash(user string) string {
	key := d.Key
	d.Key = ""
	return Hash([]byte(user), []byte(key), Encode(d))
}

// roomFor refuses to put users into more groups than a user may be in. Groups that others put a user into, and in which the
// user has not acted, count separately, so that invitations never use up the room for the user's own groups. Another group
// may be added between this check and the write; the bound protects the size of the index and need not be exact. How many of the
// latter one caller makes is bounded apart, and exactly.
func (s *Service) roomFor(ctx context.Context, by Caller, group string, users ...string) error {
	indexes, err := s.stores.Indexed(ctx, group, users)
	if err != nil {
		return AsError(err)
	}
	most := int64(s.opt.Limits.UserGroupsMax)
	var added []string
	for i, index := range indexes {
		own := index.Groups - index.Invited
		switch {
		case index.Has:
		case users[i] == by.User && own >= most:
			return Errorf(CodeOutOfRange, "%s is already in %d groups, the maximum", users[i], own)
		case users[i] != by.User && (index.Invited >= most || index.Groups >= 2*most):
			return Errorf(CodeOutOfRange, "others already added %s to %d groups, the maximum", users[i], index.Invited)
		case users[i] != by.User:
			added = append(added, users[i])
		}
	}
	return s.claimAdds(ctx, by, group, added)
}

// invite adds the members that a creation named and its first step did not add. A large creation takes several steps, so
// that no single one blocks the store for long. The task that the creation enqueued does the same in case the node dies in
// between.
func (s *Service) invite(ctx context.Context, by, group, epoch string, atMs int64) error {
	for range stepsMax {
		users, err := s.stores.Waiting(ctx, group)
		if err != nil || len(users) == 0 {
			return err
		}
		notices := make([]NoticeEntry, len(users))
		for i, user := range users {
			notices[i] = s.notice(Caller{User: by}, group, atMs, Entry{Notice: NoticeJoined, User: user})
		}
		err = s.stores.Invite(ctx, group, epoch, atMs, users, notices)
		if errors.Is(err, ErrNotFound) {
			return nil // the group was deleted
		}
		if err != nil {
			return err
		}
	}
	return Errorf(CodeConflict, "more users left to add than one task handles")
}

// Groups lists the caller's groups, latest activity first. The cursor names the last one shown, by its activity. A group that
// becomes active meanwhile moves to the front and shows up when the list is read again; nothing is shown twice.
func (s *Service) Groups(ctx context.Context, by Caller, limit int, cursor string) (List[GroupView], error) {
	limit, err := s.opt.Limits.Page(limit)
	if err != nil {
		return List[GroupView]{}, err
	}
	after, err := parseActivity(cursor)
	if err != nil {
		return List[GroupView]{}, err
	}
	if err := CheckCaller(by); err != nil {
		return List[GroupView]{}, err
	}
	list, err := s.byActivity(ctx, by.User)
	if err != nil {
		return List[GroupView]{}, AsError(err)
	}
	out := List[GroupView]{Total: int64(len(list))}
	if cursor != "" {
		list = list[firstAfter(list, after):]
	}
	page := list[:min(len(list), limit)]
	groups := make([]string, len(page))
	for i, at := range page {
		groups[i] = at.group
	}
	infos, err := s.memberships(ctx, by.User, groups)
	if err != nil {
		return List[GroupView]{}, err
	}
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

// byActivity lists the groups that user is in, in the order of the list. It reads no more of each than that takes.
func (s *Service) byActivity(ctx context.Context, user string) ([]activeAt, error) {
	index, err := s.stores.UserGroups(ctx, user)
	if err != nil {
		return nil, err
	}
	LookedAll(ctx, len(index))
	groups := names(index)
	looks, err := s.stores.Looks(ctx, user, groups, LookAtActivity)
	if err != nil {
		return nil, err
	}
	list := make([]activeAt, 0, len(groups))
	for i, look := range looks {
		if look.Seen >= 0 {
			list = append(list, activeAt{look.ActiveMs, groups[i]})
		}
	}
	slices.SortFunc(list, activeAt.compare)
	return list, nil
}

// activeAt is a position in a list of groups sorted by activity.
type activeAt struct {
	ms    int64
	group string
}

func (a activeAt) String() string { return strconv.FormatInt(a.ms, 10) + "." + a.group }

// compare orders by activity, latest first, then by id.
func (a activeAt) compare(b activeAt) int {
	return cmp.Or(cmp.Compare(b.ms, a.ms), strings.Compare(a.group, b.group))
}

func parseActivity(cursor string) (activeAt, error) {
	if cursor == "" {
		return activeAt{}, nil
	}
	ms, group, _ := strings.Cut(cursor, ".")
	n, ok := ParseID(ms)
	if !ok || !ValidGroupID(group) {
		return activeAt{}, Invalid("cursor: not one of this list")
	}
	return activeAt{n, group}, nil
}

func firstAfter(list []activeAt, after activeAt) int {
	for i := range list {
		if after.compare(list[i]) < 0 {
			return i
		}
	}
	return len(list)
}

// groupBytes is an upper bound of the size of a group in an answer without its name and its newest message.
const groupBytes = 700

// groupViews adds the newest message to each group, in one round trip, for as many of infos as fit into one answer.
func (s *Service) groupViews(ctx context.Context, by Caller, infos []Info) ([]GroupView, error) {
	pulls := make([]Pull, len(infos))
	for i, info := range infos {
		pulls[i] = Pull{Group: info.ID}
		if info.NewestID > 0 {
			pulls[i].From, pulls[i].Limit = info.NewestID, 1
		}
	}
	pages, err := s.pulls(ctx, by.User, pulls)
	if err != nil {
		return nil, err
	}
	views := make([]GroupView, len(infos))
	bytes := 0
	for i, info := range infos {
		views[i] = GroupView{Group: info.view(), Seen: info.Seen, Read: info.Read, Unread: info.Unread,
			MentionsUnread: info.MentionsUnread, LastMessage: json.RawMessage("null")}
		if m := pages[i].Messages; pages[i].Err == nil && len(m) > 0 && m[0].ID == info.NewestID {
			views[i].LastMessage = m[0].JSON
		}
		bytes += groupBytes + len(Encode(info.Name)) + len(views[i].LastMessage)
		if i > 0 && (pages[i].Cut || bytes > s.opt.Limits.PageBytesMax) {
			return views[:i], nil
		}
	}
	return views, nil
}

// PublicGroups lists the public groups by name.
func (s *Service) PublicGroups(ctx context.Context, by Caller, limit int, cursor string) (List[Group], error) {
	limit, err := s.opt.Limits.Page(limit)
	if err != nil {
		return List[Group]{}, err
	}
	if err := CheckCaller(by); err != nil {
		return List[Group]{}, err
	}
	ids, next, err := s.stores.PublicGroups(ctx, cursor, limit)
	if err != nil {
		return List[Group]{}, AsError(err)
	}
	infos, err := s.infos(ctx, by.User, ids)
	if err != nil {
		return List[Group]{}, err
	}
	out := List[Group]{Next: next}
	for _, i := range infos {
		// The list of names is derived; the group itself is the truth.
		if i.Epoch != "" && i.Visibility == Public {
			out.Items = append(out.Items, i.view())
		}
	}
	return out, nil
}

// UpdateGroup changes name and settings: owner, admin, operator. Fields that keep their value cause no notice.
func (s *Service) UpdateGroup(ctx context.Context, by Caller, id string, change GroupChange) (Group, error) {
	if err := CheckGroup(by, id); err != nil {
		return Group{}, err
	}
	if err := change.check(); err != nil {
		return Group{}, err
	}
	info, err := s.managed(ctx, by, id)
	if err != nil {
		return Group{}, err
	}
	renamed, settings := change.reduce(info.Group)
	now := s.opt.Now()
	var notices []NoticeEntry
	if renamed {
		notices = append(notices, s.notice(by, id, now, Entry{Notice: NoticeRenamed, Name: change.Name}))
	}
	if settings {
		changed := change
		changed.Name = nil
		notices = append(notices, s.notice(by, id, now, Entry{Notice: NoticeSettings, Settings: &changed}))
	}
	if len(notices) > 0 {
		if err := s.stores.UpdateGroup(ctx, by, id, change, notices, now); err != nil {
			return Group{}, AsError(err)
		}
	}
	return s.Group(ctx, by, id)
}

func (c *GroupChange) check() error {
	if c.Name != nil {
		name, err := line("name", *c.Name, nameMax)
		if err != nil {
			return err
		}
		c.Name = &name
	}
	if c.Visibility != nil {
		if err := checkVisibility(*c.Visibility); err != nil {
			return err
		}
	}
	if c.Post != nil {
		if err := checkPosting(*c.Post); err != nil {
			return err
		}
	}
	if c.Overflow != nil {
		if err := checkOverflow(*c.Overflow); err != nil {
			return err
		}
	}
	return checkNumbers(c.Keep, c.BacklogMax, c.BacklogBytes, c.RetainDays)
}

// reduce drops the fields that g already has and reports what is left.
func (c *GroupChange) reduce(g Group) (renamed, settings bool) {
	c.Name = changed(c.Name, g.Name)
	c.Visibility = changed(c.Visibility, g.Visibility)
	c.Keep = changed(c.Keep, g.Keep)
	c.BacklogMax = changed(c.BacklogMax, g.BacklogMax)
	c.Overflow = changed(c.Overflow, g.Overflow)
	c.BacklogBytes = changed(c.BacklogBytes, g.BacklogBytes)
	c.Post = changed(c.Post, g.Post)
	c.History = changed(c.History, g.History)
	c.RetainDays = changed(c.RetainDays, g.RetainDays)
	return c.Name != nil, *c != GroupChange{Name: c.Name}
}

func changed[T comparable](to *T, from T) *T {
	if to != nil && *to == from {
		return nil
	}
	return to
}

// DeleteGroup removes a group with all its content: owner or operator; Held where it is under legal hold. A task updates the other members' indexes.
func (s *Service) DeleteGroup(ctx context.Context, by Caller, id string) error {
	if err := CheckGroup(by, id); err != nil {
		return err
	}
	if err := s.stores.DeleteGroup(ctx, by, id); err != nil {
		return AsError(err)
	}
	s.index(ctx, by.User, id, false)
	return nil
}
