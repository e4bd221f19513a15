package chat

import (
	"bytes"
	"cmp"
	"context"
	"strings"
)

// members adds and removes the members of groups.
type members struct {
	*base
	store     MemberStore
	index     *index
	strangers *strangers
}

// Members lists the members of a group, in the order of joining, to its members, and to operators, who manage them.
func (s *members) Members(ctx context.Context, by Caller, group string, limit int, cursor string) (List[Member], error) {
	after, limit, err := joinedPage(s.opt.Limits, by, group, limit, cursor)
	if err != nil {
		return List[Member]{}, err
	}
	reader := by.User
	if by.Admin {
		reader = ""
	}
	members, next, err := s.store.Members(ctx, group, reader, after, limit)
	if err != nil {
		return List[Member]{}, AsError(err)
	}
	for i := range members {
		members[i].Veiled = s.Veiled(by.User, members[i].Receipts, members[i].User)
	}
	return List[Member]{Items: members, Next: next}, nil
}

// joinedPage checks the parameters of a page of members in the order of joining.
func joinedPage(limits Limits, by Caller, group string, limit int, cursor string) (after string, most int, err error) {
	if err := CheckGroup(by, group); err != nil {
		return "", 0, err
	}
	if most, err = limits.Page(limit); err != nil {
		return "", 0, err
	}
	if cursor == "" {
		return "", most, nil
	}
	// The id at which a member joined, and the member, because others may have joined with the same notice. Older cursors have the id alone.
	at, user, both := strings.Cut(cursor, ".")
	if id, ok := ParseID(at); !ok || id > IDMax || both && !ValidUserID(user) {
		return "", 0, Invalid("cursor: not one of this list")
	}
	return cursor, most, nil
}

// PutMember adds user to a group, or changes the role; role may be empty. Owner and admins add anyone, and anyone may join a
// public group. Only the owner (or an operator) can make someone else the owner, and becomes an admin by that.
func (s *members) PutMember(ctx context.Context, by Caller, group, user string, role Role) (m Member, created bool, err error) {
	if err := cmp.Or(CheckGroup(by, group), CheckUserID("user", user), CheckWord("role", given(role), Owner, Admin, Ordinary)); err != nil {
		return Member{}, false, err
	}
	if err := s.fixed(ctx, by, group); err != nil {
		return Member{}, false, err
	}
	if user != by.User || role == Admin || role == Owner {
		if err := s.mayGrant(ctx, by, group, role); err != nil {
			return Member{}, false, err
		}
	}
	if err := s.strangers.mayAddTo(ctx, by, group, user); err != nil {
		return Member{}, false, err
	}
	if err := s.strangers.roomFor(ctx, by, group, user); err != nil {
		return Member{}, false, err
	}
	join := s.membership(by, group, user, Entry{Notice: NoticeJoined, User: user})
	join.Role = cmp.Or(role, Ordinary)
	if role == Owner {
		// There is only one owner: a new member joins first, and then takes over from the former owner.
		join.Role = Ordinary
	}
	m, created, err = s.store.Join(ctx, join)
	if err != nil {
		return Member{}, false, AsError(err)
	}
	if created && user == by.User {
		_ = s.index.update(ctx, user, group, true, "")
	} else if created {
		if err := s.index.update(ctx, user, group, false, by.User); err != nil {
			return Member{}, false, cmp.Or(s.takeBack(ctx, user, group), err)
		}
	}
	if role == "" || m.Role == role {
		return m, created, nil
	}
	if m.Role == Owner {
		return Member{}, false, s.ownerStays(ctx, by, group)
	}
	set := s.membership(by, group, user, Entry{Notice: NoticeRole, User: user, Role: role})
	set.Role = role
	m, _, err = s.store.SetRole(ctx, set)
	return m, created, AsError(err)
}

// mayGrant refuses, before anything is done, what the store would refuse only after the user had joined. It reveals nothing
// about a user to callers without rights here.
func (s *members) mayGrant(ctx context.Context, by Caller, group string, role Role) error {
	info, err := s.Managed(ctx, by, group)
	if err != nil {
		return err
	}
	if role == Owner && info.Role != Owner && !by.Admin {
		return Errorf(CodeForbidden, "only the owner may make another member the owner")
	}
	return nil
}

// ownerStays says why the owner's role cannot change: others may not change it, and the owner only by naming a successor.
func (s *members) ownerStays(ctx context.Context, by Caller, group string) error {
	info, err := s.Managed(ctx, by, group)
	if err != nil {
		return err
	}
	if info.Role == Owner || by.Admin {
		return Errorf(CodeConflict, "a group needs an owner: make another member the owner instead")
	}
	return Errorf(CodeForbidden, "only the owner may change the owner's role, by making another member the owner")
}

// RemoveMember removes user from a group; everyone may leave. Nobody but an operator removes the owner. The last one
// out deletes the group.
func (s *members) RemoveMember(ctx context.Context, by Caller, group, user string) error {
	if err := cmp.Or(CheckGroup(by, group), CheckUserID("user", user)); err != nil {
		return err
	}
	if err := s.fixed(ctx, by, group); err != nil {
		return err
	}
	return s.DropMember(ctx, by, group, user)
}

// ErrDirectFixed refuses changes of a direct group.
var ErrDirectFixed = Errorf(CodeConflict, "a direct group is of its two users and stays private")

// fixed refuses to change who is in a direct group, to those who may know of it.
func (s *members) fixed(ctx context.Context, by Caller, group string) error {
	if !IsDirect(group) {
		return nil
	}
	_, err := s.visible(ctx, by, group)
	return cmp.Or(err, error(ErrDirectFixed))
}

// Admit makes a user a member by a step of the store that decides whether they may: join, which gets the notice of it.
func (s *members) Admit(ctx context.Context, by Caller, group, user string, join func(Membership) error) error {
	if err := s.strangers.roomFor(ctx, by, group, user); err != nil {
		return err
	}
	if err := join(s.membership(by, group, user, Entry{Notice: NoticeJoined, User: user})); err != nil {
		return AsError(err)
	}
	_ = s.index.update(ctx, user, group, user == by.User, "")
	return nil
}

// takeBack takes a user out of a group into which someone has put them whom they block, if they have done nothing there yet.
func (s *members) takeBack(ctx context.Context, user, group string) error {
	info, err := s.truth(ctx, user, group)
	if err != nil || info.Role == "" || info.Acted {
		return AsError(err)
	}
	err = s.DropMember(ctx, Caller{User: user}, group, user)
	if code := CodeOf(err); code == CodeNotFound || code == CodeForbidden {
		return nil // the addition and its task both come here
	}
	return err
}

// DropMember is RemoveMember also for direct groups, which nobody leaves but who is erased.
func (s *members) DropMember(ctx context.Context, by Caller, group, user string) error {
	what := NoticeRemoved
	if user == by.User {
		what = NoticeLeft
	}
	leave := s.membership(by, group, user, Entry{Notice: what, User: user})
	leave.nameHeir()
	if _, err := s.store.Leave(ctx, leave); err != nil {
		return AsError(err)
	}
	_ = s.index.update(ctx, user, group, false, "")
	return nil
}

// Joined has the indexes of users, whom by added with the entry last of a group, show it; start is where they begin.
func (s *members) Joined(ctx context.Context, by Caller, group, epoch string, users []string, start, last int64) {
	s.index.joined(ctx, users, UserGroup{Group: group, Seen: start, Invited: true, By: by.User}, epoch, last)
}

// Moved has the index of a user whom someone let into a group, or removed from it, show that.
func (s *members) Moved(ctx context.Context, group, user string) {
	_ = s.index.update(ctx, user, group, false, "")
}

// membership is the record of a change with the notice that tells of it.
func (s *members) membership(by Caller, group, user string, notice Entry) Membership {
	now := s.opt.Now()
	return Membership{Group: group, User: user, By: by, AtMs: now, Notice: newNotice(by, group, now, notice)}
}

// nameHeir adds the notice of the succession. Only the store's step knows who succeeds, so the notice comes in two halves
// around the id, which needs no escaping in JSON.
func (m *Membership) nameHeir() {
	n := newNotice(m.By, m.Group, m.AtMs, Entry{Notice: NoticeRole, User: noticeHole, Role: Owner})
	m.HeirMark = n.Mark
	m.HeirHead, m.HeirTail, _ = bytes.Cut(n.Rest, []byte(noticeHole))
}
