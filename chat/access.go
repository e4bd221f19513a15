package chat

import (
	"context"
	"errors"
	"slices"
)

// infos reads groups from the view of user, in order.
func (s *base) infos(ctx context.Context, user string, groups []string) ([]Info, error) {
	infos, err := s.reader.Infos(ctx, user, groups)
	return infos, AsError(err)
}

// Views reads groups as they are shown to user, in order.
func (s *base) Views(ctx context.Context, user string, groups []string) ([]Info, error) {
	views, err := s.reader.Views(ctx, user, groups)
	return views, AsError(err)
}

// Info reads a group from the view of user, member or not. ErrNotFound if there is no such group.
func (s *base) Info(ctx context.Context, user, group string) (Info, error) {
	info, err := s.truth(ctx, user, group)
	if err == nil && info.Epoch == "" {
		return Info{}, ErrNotFound
	}
	return info, err
}

// Sees reports whether by may know that the group exists: members, operators, and everyone if it is public.
func (i Info) Sees(by Caller) bool {
	return i.Epoch != "" && (i.Role != "" || i.Visibility == Public || by.Admin)
}

// Muted tells whether the user may not write at nowMs.
func (i Info) Muted(nowMs int64) bool { return i.MutedUntil != nil && i.MutedUntil.UnixMilli() > nowMs }

// visible reads a group that by may know of. ErrNotFound if there is none.
func (s *base) visible(ctx context.Context, by Caller, group string) (Info, error) {
	info, err := s.Info(ctx, by.User, group)
	if err == nil && !info.Sees(by) {
		return Info{}, ErrNotFound
	}
	return info, err
}

// Managed reads a group that by wants to manage. ErrNotFound, ErrForbidden. The store checks the same again at the instant of the write; the check here
// decides what the answer says.
func (s *base) Managed(ctx context.Context, by Caller, group string) (Info, error) {
	info, err := s.visible(ctx, by, group)
	if err == nil && !by.Admin && !info.Role.Manages() {
		return Info{}, ErrManagersOnly
	}
	return info, err
}

// MayRead reads a group of whose messages by may read some now: those from Info.Visible on. ErrNotFound, ErrForbidden.
func (s *base) MayRead(ctx context.Context, by Caller, group string) (Info, error) {
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
func (s *base) MayPost(ctx context.Context, by Caller, group string) (Info, error) {
	info, err := s.visible(ctx, by, group)
	switch {
	case err == nil && info.Role == "":
		return Info{}, ErrMembersOnly
	case err == nil && info.Post == PostNone:
		return Info{}, ErrNobodyPosts
	case err == nil && info.Blocked:
		return Info{}, ErrBlocked
	case err == nil && info.Muted(s.opt.Now()):
		return Info{}, Muted(*info.MutedUntil)
	case err == nil && info.Post == PostAdmins && !info.Role.Manages():
		return Info{}, ErrPostersOnly
	}
	return info, err
}

// Refused is the answer to a step on a group that the store refused with err. Operators may know of every group, so they get
// ErrForbidden instead of ErrNotFound: even they must be members to read and write messages.
func (s *base) Refused(ctx context.Context, by Caller, group string, err error) error {
	err = AsError(err)
	if errors.Is(err, ErrBacklogFull) {
		return s.unnamed(ctx, by, group, err)
	}
	if !by.Admin || !errors.Is(err, ErrNotFound) {
		return err
	}
	info, infoErr := s.Info(ctx, by.User, group)
	if infoErr == nil && info.Role == "" {
		return ErrMembersOnly
	}
	return err
}

// truth reads a group from the view of user; one that does not exist has no Role and no Epoch.
func (s *base) truth(ctx context.Context, user, group string) (Info, error) {
	list, err := s.Views(ctx, user, []string{group})
	if err != nil {
		return Info{}, err
	}
	return list[0], nil
}

// outside tells whether a group was read from the view of someone who is not in it.
func outside(i Info) bool { return i.Epoch == "" || i.Role == "" }

// memberships reads those of groups that user is in.
func (s *base) memberships(ctx context.Context, user string, groups []string) ([]Info, error) {
	infos, err := s.infos(ctx, user, groups)
	return slices.DeleteFunc(infos, outside), err
}
