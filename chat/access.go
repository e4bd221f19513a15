package chat

import (
	"context"
	"errors"
)

// infos reads groups as user stands to them, in order.
func (s *Service) infos(ctx context.Context, user string, groups []string) ([]Info, error) {
	if len(groups) == 0 {
		return nil, nil
	}
	infos, err := s.stores.Infos(ctx, user, groups)
	return infos, AsError(err)
}

// pulls reads a page of each group, in order.
func (s *Service) pulls(ctx context.Context, user string, pulls []Pull) ([]Page, error) {
	if len(pulls) == 0 {
		return nil, nil
	}
	pages, err := s.stores.Pull(ctx, user, pulls)
	return pages, AsError(err)
}

// Info reads a group as user stands to it, member or not. ErrNotFound where there is no such group.
func (s *Service) Info(ctx context.Context, user, group string) (Info, error) {
	list, err := s.infos(ctx, user, []string{group})
	if err != nil {
		return Info{}, err
	}
	if list[0].Epoch == "" {
		return Info{}, ErrNotFound
	}
	return list[0], nil
}

// Sees tells whether by may know of the group: members, everyone where it is public, operators.
func (i Info) Sees(by Caller) bool {
	return i.Epoch != "" && (i.Role != "" || i.Visibility == Public || by.Admin)
}

// visible reads a group that by may know of. ErrNotFound where there is none.
func (s *Service) visible(ctx context.Context, by Caller, group string) (Info, error) {
	info, err := s.Info(ctx, by.User, group)
	if err == nil && !info.Sees(by) {
		return Info{}, ErrNotFound
	}
	return info, err
}

// managed reads a group that by wants to manage. The store checks the same again at the instant of the write; here it
// decides what is said.
func (s *Service) managed(ctx context.Context, by Caller, group string) (Info, error) {
	info, err := s.visible(ctx, by, group)
	if err == nil && !by.Admin && !info.Role.Manages() {
		return Info{}, ErrManagersOnly
	}
	return info, err
}

// MayPost checks whether by may post in a group now, without posting. ErrNotFound, ErrForbidden.
func (s *Service) MayPost(ctx context.Context, by Caller, group string) (Info, error) {
	info, err := s.visible(ctx, by, group)
	switch {
	case err == nil && info.Role == "":
		return Info{}, ErrMembersOnly
	case err == nil && info.Post == PostAdmins && !info.Role.Manages():
		return Info{}, ErrPostersOnly
	}
	return info, err
}

// Refused is the answer to a step on a group that the store refused with err. Operators, who may know of every group, get
// ErrForbidden instead of ErrNotFound: reading and writing messages takes membership for them too.
func (s *Service) Refused(ctx context.Context, by Caller, group string, err error) error {
	err = AsError(err)
	if !by.Admin || !errors.Is(err, ErrNotFound) {
		return err
	}
	info, infoErr := s.Info(ctx, by.User, group)
	if infoErr == nil && info.Role == "" {
		return ErrMembersOnly
	}
	return err
}

// indexCreated brings the index of the members of a new group up to date before the answer, so that they read their own
// write. The task that the store's step has enqueued is the net behind it, so a failure here is only logged. All of them
// are written in one go, without a look at each; where the log has grown since, some of them may be out again, and what
// this wrote late is put right.
func (s *Service) indexCreated(ctx context.Context, users []string, g NewGroup) {
	// The creator comes first.
	err := s.stores.AddUserGroups(ctx, users[:1], UserGroup{Group: g.ID})
	if err == nil && len(users) > 1 {
		err = s.stores.AddUserGroups(ctx, users[1:], UserGroup{Group: g.ID, Invited: true})
	}
	if err != nil {
		s.opt.Log.WarnContext(ctx, "index not updated; a task will", "group", g.ID, "error", err)
	}
	if now, err := s.truth(ctx, users[0], g.ID); err == nil && now.Epoch == g.Epoch && now.Last == int64(len(g.Notices)) {
		return
	}
	_ = Each(ctx, users, func(ctx context.Context, user string) error {
		s.index(ctx, user, g.ID, user == users[0])
		return nil
	})
}

// index does the same for one user by the truth of the group: between a step and this write another may have been done,
// and a node that was slow must not put back what is over.
func (s *Service) index(ctx context.Context, user, group string, own bool) {
	if _, err := s.repairIndex(ctx, user, group, own); err != nil {
		s.opt.Log.WarnContext(ctx, "index not updated; a task will", "group", group, "error", err)
	}
}
