package chat

import (
	"bytes"
	"cmp"
	"context"
	"strconv"
)

// Members lists the members of a group, in the order of joining, to its members, and to operators, who manage them.
func (s *Service) Members(ctx context.Context, by Caller, group string, limit int, cursor string) (List[Member], error) {
	after, limit, err := s.joinedPage(by, group, limit, cursor)
	if err != nil {
		return List[Member]{}, err
	}
	reader := by.User
	if by.Admin {
		reader = ""
	}
	members, next, err := s.stores.Members(ctx, group, reader, after, limit)
	if err != nil {
		return List[Member]{}, AsError(err)
	}
	return List[Member]{Items: members, Next: joinedCursor(next)}, nil
}

// joinedPage checks the parameters of a page of members in the order of joining.
func (s *Service) joinedPage(by Caller, group string, limit int, cursor string) (after int64, most int, err error) {
	if err := CheckGroup(by, group); err != nil {
		return 0, 0, err
	}
	if most, err = s.opt.Limits.Page(limit); err != nil {
		return 0, 0, err
	}
	if cursor == "" {
		return 0, most, nil
	}
	after, ok := ParseID(cursor)
	if !ok || after > IDMax {
		return 0, 0, Invalid("cursor: not one of this list")
	}
	return after, most, nil
}

func joinedCursor(next int64) string {
	if next == 0 {
		return ""
	}
	return strconv.FormatInt(next, 10)
}

// PutMember adds user to a group, or changes the role; role may be empty. Owner and admins add anyone, and anyone may join a
// public group. Only the owner (or an operator) can make someone else the owner, and becomes an admin by that.
func (s *Service) PutMember(ctx context.Context, by Caller, group, user string, role Role) (m Member, created bool, err error) {
	if err := cmp.Or(CheckGroup(by, group), CheckUserID("user", user), checkRole(role)); err != nil {
		return Member{}, false, err
	}
	if user != by.User || role == Admin || role == Owner {
		if err := s.mayGrant(ctx, by, group, role); err != nil {
			return Member{}, false, err
		}
	}
	if err := s.mayAddTo(ctx, by, group, user); err != nil {
		return Member{}, false, err
	}
	if err := s.roomFor(ctx, by, group, user); err != nil {
		return Member{}, false, err
	}
	join := s.membership(by, group, user, Entry{Notice: NoticeJoined, User: user})
	join.Role = cmp.Or(role, Ordinary)
	if role == Owner {
		// There is only one owner: a new member joins first, and then takes over from the former owner.
		join.Role = Ordinary
	}
	m, created, err = s.stores.Join(ctx, join)
	if err != nil {
		return Member{}, false, AsError(err)
	}
	if created {
		s.index(ctx, user, group, user == by.User)
	}
	if role == "" || m.Role == role {
		return m, created, nil
	}
	if m.Role == Owner {
		return Member{}, false, s.ownerStays(ctx, by, group)
	}
	set := s.membership(by, group, user, Entry{Notice: NoticeRole, User: user, Role: role})
	set.Role = role
	m, _, err = s.stores.SetRole(ctx, set)
	return m, created, AsError(err)
}

// mayAddTo checks whether by may put user into a group that user is not in yet.
func (s *Service) mayAddTo(ctx context.Context, by Caller, group, user string) error {
	if by.Admin || by.User == user || s.opt.Add == AddAll {
		return nil
	}
	if info, err := s.truth(ctx, user, group); err != nil || info.Role != "" {
		return err
	}
	return s.mayAdd(ctx, by, user)
}

func checkRole(role Role) error {
	switch role {
	case "", Owner, Admin, Ordinary:
		return nil
	}
	return Invalid("role: %s, %s or %s", Owner, Admin, Ordinary)
}

// mayGrant refuses, before anything is done, what the store would refuse only after the user had joined. It reveals nothing
// about a user to callers without rights here.
func (s *Service) mayGrant(ctx context.Context, by Caller, group string, role Role) error {
	info, err := s.managed(ctx, by, group)
	if err != nil {
		return err
	}
	if role == Owner && info.Role != Owner && !by.Admin {
		return Errorf(CodeForbidden, "only the owner may make another member the owner")
	}
	return nil
}

// ownerStays says why the owner's role cannot change: others may not change it, and the owner only by naming a successor.
func (s *Service) ownerStays(ctx context.Context, by Caller, group string) error {
	info, err := s.managed(ctx, by, group)
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
func (s *Service) RemoveMember(ctx context.Context, by Caller, group, user string) error {
	if err := cmp.Or(CheckGroup(by, group), CheckUserID("user", user)); err != nil {
		return err
	}
	what := NoticeRemoved
	if user == by.User {
		what = NoticeLeft
	}
	leave := s.membership(by, group, user, Entry{Notice: what, User: user})
	s.nameHeir(&leave)
	if _, err := s.stores.Leave(ctx, leave); err != nil {
		return AsError(err)
	}
	s.index(ctx, user, group, false)
	return nil
}

// membership is the record of a change with the notice that tells of it.
func (s *Service) membership(by Caller, group, user string, notice Entry) Membership {
	now := s.opt.Now()
	return Membership{Group: group, User: user, By: by, AtMs: now, Notice: s.notice(by, group, now, notice)}
}

// nameHeir adds the notice of the succession. Only the store's step knows who succeeds, so the notice comes in two halves
// around the id, which needs no escaping in JSON.
func (s *Service) nameHeir(m *Membership) {
	const hole = "$" // cannot be in an id, so it occurs nowhere else in the notice
	n := s.notice(m.By, m.Group, m.AtMs, Entry{Notice: NoticeRole, User: hole, Role: Owner})
	m.HeirMark = n.Mark
	m.HeirHead, m.HeirTail, _ = bytes.Cut(n.Rest, []byte(hole))
}
