package chat

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/chatd/chatd/internal/each"
)

// groups makes, changes and deletes groups.
type groups struct {
	*base
	store     GroupStore
	holds     HoldStore
	index     *index
	strangers *strangers
}

// Defaults of a new group.
const (
	keepDefault    = 100
	backlogDefault = 10_000
)

// Group describes one group to those who may know of it, to operators with its legal hold.
func (s *groups) Group(ctx context.Context, by Caller, id string) (Group, error) {
	if err := CheckGroup(by, id); err != nil {
		return Group{}, err
	}
	info, err := s.visible(ctx, by, id)
	if err != nil {
		return Group{}, err
	}
	view := info.view()
	if by.Admin {
		if view.Hold, err = s.holds.HoldOf(ctx, id); err != nil {
			return Group{}, AsError(err)
		}
	}
	return view, nil
}

// CreateGroup makes a group owned by the caller, who adds the members it names. ErrExists when the id is taken.
func (s *groups) CreateGroup(ctx context.Context, by Caller, draft GroupDraft) (Group, error) {
	g, _, err := s.PutGroup(ctx, by, draft)
	return g, err
}

// PutGroup is CreateGroup that tells whether the group was created now: not by an earlier creation with this key, or of this direct
// group.
func (s *groups) PutGroup(ctx context.Context, by Caller, draft GroupDraft) (made Group, created bool, err error) {
	g, err := s.NewGroup(by, draft)
	if err != nil {
		return Group{}, false, err
	}
	users := g.Members
	if !by.Program() {
		users = append([]string{by.User}, users...)
	}
	if !draft.Direct {
		err = s.strangers.MayPut(ctx, by, g.ID, users...)
	} else if err = s.strangers.MayWrite(ctx, by, g.Members[0]); err == nil {
		err = s.strangers.roomFor(ctx, by, g.ID, users...)
	}
	if err != nil {
		return Group{}, false, err
	}
	if err := s.createGroup(ctx, g); err != nil {
		return Group{}, false, AsError(err)
	}
	info, err := s.Info(ctx, by.User, g.ID)
	if err != nil {
		return Group{}, false, err
	}
	if info.Group.Members < int64(len(users)) {
		if err := s.invite(ctx, info.CreatedBy, g.ID, info.Epoch, info.CreatedAt.UnixMilli()); err != nil {
			return Group{}, false, AsError(err)
		}
		if info, err = s.Info(ctx, by.User, g.ID); err != nil {
			return Group{}, false, err
		}
	}
	created = info.Epoch == g.Epoch
	if created {
		s.index.created(ctx, users, g)
	} else if by.Program() {
		return info.Group, false, nil // this creation was done before, and its task is there
	} else if _, err := s.index.repair(ctx, by.User, g.ID, true, ""); err != nil {
		// This creation was done before. The task finds out which of its members are still in the group.
		return Group{}, false, AsError(err)
	}
	if !info.Sees(by) {
		return Group{}, false, ErrNotFound
	}
	return info.Group, created, nil
}

// createGroup creates a group in the store. If an earlier group of this id is not cleaned up yet, it does that first.
func (s *groups) createGroup(ctx context.Context, g NewGroup) error {
	err := s.store.CreateGroup(ctx, g)
	for step := 0; errors.Is(err, ErrGone) && step < cleanupInline; step++ {
		if _, err := s.cleanUpStep(ctx, g.ID); err != nil {
			return err
		}
		err = s.store.CreateGroup(ctx, g)
	}
	if errors.Is(err, ErrGone) {
		return &Error{Code: CodeUnavailable, Message: ErrGone.Error() + "; try again", RetryAfter: time.Second, Cause: err}
	}
	return err
}

// NewGroup checks a draft and fills in what it leaves open, as CreateGroup does.
func (s *groups) NewGroup(by Caller, d GroupDraft) (NewGroup, error) {
	if err := cmp.Or(CheckCaller(by), d.check()); err != nil {
		return NewGroup{}, err
	}
	if !by.Reaches(d.ID) {
		return NewGroup{}, ErrReach
	}
	members, err := UniqueUsers("members", d.Members, s.opt.Limits.GroupCreateMembers, by.User)
	if err != nil {
		return NewGroup{}, err
	}
	if len(members)+1 > s.opt.Limits.GroupMembersMax {
		return NewGroup{}, Errorf(CodeOutOfRange, "members: at most %d", s.opt.Limits.GroupMembersMax)
	}
	data, err := MergeData(nil, d.Data)
	if err != nil {
		return NewGroup{}, err
	}
	now := s.opt.Now()
	g := NewGroup{Members: members, Group: Group{
		ID: d.ID, Name: d.Name, Visibility: cmp.Or(d.Visibility, Private), CreatedBy: by.User, CreatedAt: TimeMs(now),
		Epoch: newEpoch(), Keep: or(d.Keep, keepDefault), BacklogMax: or(d.BacklogMax, backlogDefault),
		Overflow: cmp.Or(d.Overflow, OverflowDrop), BacklogBytes: or(d.BacklogBytes, backlogBytesDefault),
		Post: cmp.Or(d.Post, PostMembers), History: or(d.History, true), RetainDays: or(d.RetainDays, 0), SlowS: or(d.SlowS, 0), Data: data,
		ExpireS: or(d.ExpireS, 0), Receipts: cmp.Or(d.Receipts, ReceiptsOptional),
		Join: d.Join, Pins: d.Pins, MentionAll: cmp.Or(d.MentionAll, MentionManagers),
	}}
	if d.Direct {
		g.Direct = slices.Sorted(slices.Values([]string{by.User, members[0]}))
	}
	if d.Key != "" {
		g.Key = d.hash(by.User)
	}
	if g.ID == "" {
		g.ID = NewID(g.Key)
	}
	g.Notices = append(g.Notices, newNotice(by, g.ID, now, Entry{Notice: NoticeCreated, User: by.User}))
	for some := range slices.Chunk(members, NoticeUsersMax) {
		g.Notices = append(g.Notices, newNotice(by, g.ID, now, Entry{Notice: NoticeJoined}.concerning(some)))
	}
	return g, nil
}

func or[T any](value *T, otherwise T) T {
	if value == nil {
		return otherwise
	}
	return *value
}

func (d *GroupDraft) check() error {
	switch {
	case d.ID == PublicName, IsDirect(d.ID) != d.Direct:
		return Invalid("id: not a valid group id")
	case d.ID != "" && !ValidGroupID(d.ID):
		return CheckGroupID("id", d.ID)
	}
	c := GroupChange{Name: &d.Name, Visibility: given(d.Visibility), Keep: d.Keep, BacklogMax: d.BacklogMax, Overflow: given(d.Overflow),
		BacklogBytes: d.BacklogBytes, Post: given(d.Post), RetainDays: d.RetainDays, SlowS: d.SlowS, ExpireS: d.ExpireS, Receipts: given(d.Receipts), Join: given(d.Join), Pins: given(d.Pins),
		MentionAll: given(d.MentionAll)}
	err := cmp.Or(CheckKey("Idempotency-Key", d.Key), c.check())
	d.Name = *c.Name
	return err
}

// given is value, nil where it is empty.
func given[T ~string](value T) *T {
	if value == "" {
		return nil
	}
	return &value
}

// hash names one creation: this user, this key, this content. It outlives the time for which the key's answer is kept,
// so a late retry finds the group it made, and another request with an old key makes another group.
func (d GroupDraft) hash(user string) string {
	key := d.Key
	d.Key = ""
	return Hash([]byte(user), []byte(key), Encode(d))
}

// invite adds the members that a creation named and its first step did not add. A large creation takes several steps, so
// that no single one blocks the store for long. The task that the creation enqueued does the same in case the node dies in
// between.
func (s *groups) invite(ctx context.Context, by, group, epoch string, atMs int64) error {
	return toTheEnd("users left to add", func() (more bool, err error) {
		users, err := s.store.Waiting(ctx, group)
		if err != nil || len(users) == 0 {
			return false, err
		}
		return true, s.store.Invite(ctx, group, epoch, atMs, users, NewUsersNotice(Caller{User: by}, group, atMs, Entry{Notice: NoticeJoined}))
	})
}

// changeTries is how often a change is decided anew because others changed the group meanwhile: one of them succeeds each time.
const changeTries = 200

// UpdateGroup changes name, settings and data: owner, admin, operator. Fields that keep their value cause no notice. What it decides
// by what it has read, a merge or a match, holds at the instant of the write. ErrConflict: the group does not match.
func (s *groups) UpdateGroup(ctx context.Context, by Caller, id string, change GroupChange, matches ...Match) (Group, error) {
	if err := cmp.Or(CheckGroup(by, id), change.check()); err != nil {
		return Group{}, err
	}
	if IsDirect(id) && change.Visibility != nil && *change.Visibility == Public {
		if _, err := s.Managed(ctx, by, id); err != nil {
			return Group{}, err
		}
		return Group{}, ErrDirectFixed
	}
	err := s.decide(ctx, by, id, s.Managed, matches, change.Data != nil, func(has Group, was *Group) error {
		return s.change(ctx, by, has, was, change)
	})
	if err != nil {
		return Group{}, err
	}
	return s.Group(ctx, by, id)
}

// decide reads a group and does something to it. If that depends on what was read, because of matches or otherwise, do gets it as
// was too, and is done again if it returns ErrConflict.
func (s *groups) decide(ctx context.Context, by Caller, id string, read func(context.Context, Caller, string) (Info, error), matches []Match,
	depends bool, do func(has Group, was *Group) error) error {
	depends = depends || slices.ContainsFunc(matches, func(m Match) bool { return m != nil })
	for range changeTries {
		info, err := read(ctx, by, id)
		if err != nil {
			return err
		}
		if err := info.matched(matches); err != nil {
			return err
		}
		var was *Group
		if depends {
			was = &info.Group
		}
		if err = AsError(do(info.Group, was)); !depends || !errors.Is(err, ErrConflict) || IsHeld(err) {
			return err
		}
	}
	return errKeepsChanging
}

var errKeepsChanging = &Error{Code: CodeUnavailable, Message: "others keep changing it; try again", RetryAfter: time.Second}

// change makes a change of a group that was read, with its notices, unless it has all of it already.
func (s *groups) change(ctx context.Context, by Caller, has Group, was *Group, change GroupChange) error {
	id := has.ID
	renamed, settings, err := change.reduce(has)
	if err != nil {
		return err
	}
	now := s.opt.Now()
	var notices []NoticeEntry
	if renamed {
		notices = append(notices, newNotice(by, id, now, Entry{Notice: NoticeRenamed, Name: change.Name}))
	}
	if settings {
		changed := change
		changed.Name = nil
		notices = append(notices, newNotice(by, id, now, Entry{Notice: NoticeSettings, Settings: &changed}))
	}
	if len(notices) == 0 {
		return nil
	}
	return s.store.UpdateGroup(ctx, by, id, was, change, notices, now)
}

func (c *GroupChange) check() error {
	if c.Name != nil {
		name, err := Line("name", *c.Name, nameMax)
		if err != nil {
			return err
		}
		c.Name = &name
	}
	return cmp.Or(CheckWord("visibility", c.Visibility, Private, Public), CheckWord("post", c.Post, PostMembers, PostAdmins, PostNone),
		CheckWord("overflow", c.Overflow, OverflowDrop, OverflowBlock), CheckRange("keep", c.Keep, 0, keepMax),
		CheckRange("backlog_max", c.BacklogMax, backlogMin, backlogMax), CheckRange("backlog_bytes", c.BacklogBytes, backlogMin, backlogBytesMax),
		CheckRange("retain_days", c.RetainDays, 0, RetainDaysMax), CheckRange("slow_s", c.SlowS, 0, slowMax), CheckExpire("expire_s", c.ExpireS),
		CheckWord("receipts", c.Receipts, ReceiptsOptional, ReceiptsRequired, ReceiptsCounts, ReceiptsOff), CheckWord("join", c.Join, JoinOpen, JoinAsk, JoinClosed),
		CheckWord("pins", c.Pins, PinManagers, PinMembers), CheckWord("mention_all", c.MentionAll, MentionMembers, MentionManagers, MentionOff))
}

// reduce drops the fields that g already has, merges the data, and reports what is left.
func (c *GroupChange) reduce(g Group) (renamed, settings bool, err error) {
	if c.Data != nil {
		merged, err := MergeData(g.Data, c.Data)
		if err != nil {
			return false, false, err
		}
		if c.Data = nil; !bytes.Equal(merged, g.Data) {
			c.Data = json.RawMessage(cmp.Or(string(merged), "{}"))
		}
	}
	c.Name = changed(c.Name, g.Name)
	c.Visibility = changed(c.Visibility, g.Visibility)
	if c.Visibility == nil && g.Visibility == Public { // else what the group has may be by its visibility, and go with it
		c.Join = changed(c.Join, g.Join)
	}
	c.Keep = changed(c.Keep, g.Keep)
	c.BacklogMax = changed(c.BacklogMax, g.BacklogMax)
	c.Overflow = changed(c.Overflow, g.Overflow)
	c.BacklogBytes = changed(c.BacklogBytes, g.BacklogBytes)
	c.Post = changed(c.Post, g.Post)
	c.History = changed(c.History, g.History)
	c.RetainDays = changed(c.RetainDays, g.RetainDays)
	c.SlowS = changed(c.SlowS, g.SlowS)
	c.ExpireS = changed(c.ExpireS, g.ExpireS)
	c.Receipts = changed(c.Receipts, g.Receipts)
	c.Pins = changed(c.Pins, g.Pins)
	c.MentionAll = changed(c.MentionAll, g.MentionAll)
	rest := *c
	rest.Name = nil
	return c.Name != nil, string(Encode(rest)) != "{}", nil
}

func changed[T comparable](to *T, from T) *T {
	if to != nil && *to == from {
		return nil
	}
	return to
}

// DeleteGroup removes a group with all its content: owner or operator; Held where it is under legal hold. A task updates the other
// members' indexes. ErrConflict: the group does not match.
func (s *groups) DeleteGroup(ctx context.Context, by Caller, id string, matches ...Match) error {
	if err := CheckGroup(by, id); err != nil {
		return err
	}
	err := s.decide(ctx, by, id, s.visible, matches, false, func(_ Group, was *Group) error { return s.store.DeleteGroup(ctx, by, id, was) })
	if err != nil {
		return err
	}
	_ = s.index.update(ctx, by.User, id, false, "")
	return nil
}

// cleanUpStep cleans up after some users of a deleted group. Their index comes first: once they are off the list, nothing
// says any longer whose index may contain the group.
func (s *groups) cleanUpStep(ctx context.Context, group string) (more bool, err error) {
	users, err := s.store.Gone(ctx, group)
	if err != nil || len(users) == 0 {
		return false, err
	}
	err = each.Of(ctx, users, func(ctx context.Context, user string) error {
		_, err := s.index.repair(ctx, user, group, false, "")
		return err
	})
	if err != nil {
		return false, err
	}
	return s.store.Cleanup(ctx, group, users)
}
