package chat

import (
	"context"
	"errors"
)

// infos reads groups from the view of user, in order.
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

// Info reads a group from the view of user, member or not. ErrNotFound if there is no such group.
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

// Sees reports whether by may know that the group exists: members, operators, and everyone if it is public.
func (i Info) Sees(by Caller) bool {
	return i.Epoch != "" && (i.Role != "" || i.Visibility == Public || by.Admin)
}

// visible reads a group that by may know of. ErrNotFound if there is none.
func (s *Service) visible(ctx context.Context, by Caller, group string) (Info, error) {
	info, err := s.Info(ctx, by.User, group)
	if err == nil && !info.Sees(by) {
		return Info{}, ErrNotFound
	}
	return info, err
}

// managed reads a group that by wants to manage. The store checks the same again at the instant of the write; the check here
// decides what the answer says.
func (s *Service) managed(ctx context.Context, by Caller, group string) (Info, error) {
	info, err := s.visible(ctx, by, group)
	if err == nil && !by.Admin && !info.Role.Manages() {
		return Info{}, ErrManagersOnly
	}
	return info, err
}

// MayRead reads a group of whose messages by may read some now: those from Info.Visible on. ErrNotFound, ErrForbidden.
func (s *Service) MayRead(ctx context.Context, by Caller, group string) (Info, error) {
	if err := CheckGroup(by, group); err != nil {
		return Info{}, err
	}
	info, err := s.visible(ctx, by, group)
	if err == nil && info.Role == "" {
		return Info{}, ErrMembersOnly
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

// Refused is the answer to a step on a group that the store refused with err. Operators may know of every group, so they get
// ErrForbidden instead of ErrNotFound: even they must be members to read and write messages.
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

// indexCreated updates the index of the members of a new group before the answer, so that they read their own write. If it
// fails, the task that the store's step has enqueued does the same, so a failure is only logged. It writes all of them at
// once without checking each one. If the log has grown since, some may have left again, and what was written late is
// corrected.
func (s *Service) indexCreated(ctx context.Context, users []string, g NewGroup) {
	// The creator is the first of them.
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

// index does the same for one user, from the current state of the group: another step may have happened since, and a slow
// node must not restore an outdated state.
func (s *Service) index(ctx context.Context, user, group string, own bool) {
	if _, err := s.repairIndex(ctx, user, group, own); err != nil {
		s.opt.Log.WarnContext(ctx, "index not updated; a task will", "group", group, "error", err)
	}
}
