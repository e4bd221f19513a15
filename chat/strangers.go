package chat

import (
	"context"
	"slices"
)

// DirectPolicy says whose inbox one may write to.
type DirectPolicy string

// Everyone's, or only those of users who share a group in which they acted, which means acked or sent: being put into a
// group by somebody is not enough.
const (
	DirectAll    DirectPolicy = "all"
	DirectShared DirectPolicy = "shared"
)

// AddPolicy says whom a member may put into a group.
type AddPolicy string

// Everyone, users who share a group in which they acted, or nobody: then only operators add members. Joining a public group
// is always allowed.
const (
	AddAll       AddPolicy = "all"
	AddShared    AddPolicy = "shared"
	AddOperators AddPolicy = "operators"
)

// MayWrite checks the policy of direct messages: whether by may put an item into the inbox of to. Users may always write to
// themselves, and operators to everyone.
func (s *Service) MayWrite(ctx context.Context, by Caller, to string) error {
	if s.opt.Direct != DirectShared || by.Admin || by.User == to {
		return nil
	}
	mine, err := s.groupsOf(ctx, by.User)
	if err != nil {
		return err
	}
	if shared, err := s.shares(ctx, by, mine, to); shared || err != nil {
		return err
	}
	return Errorf(CodeForbidden, "you may write only to users with whom you share a group in which they have read or sent something")
}

// mayAdd checks whom by may put into a group.
func (s *Service) mayAdd(ctx context.Context, by Caller, users ...string) error {
	users = slices.DeleteFunc(slices.Clone(users), func(u string) bool { return u == by.User })
	if len(users) == 0 || by.Admin || s.opt.Add == AddAll {
		return nil
	}
	if s.opt.Add == AddOperators {
		return Errorf(CodeForbidden, "only operators may add members")
	}
	mine, err := s.groupsOf(ctx, by.User)
	if err != nil {
		return err
	}
	return AsError(Each(ctx, users, func(ctx context.Context, user string) error {
		if shared, err := s.shares(ctx, by, mine, user); shared || err != nil {
			return err
		}
		return Errorf(CodeForbidden, "you may add only users with whom you share a group in which they have read or sent something; not %s", user)
	}))
}

// claimAdds counts that by adds users to a group, where anyone may: see Limits.AddedByOneMax. Users whom by knows, because they share
// a group in which these acted, do not count, nor does what operators do.
func (s *Service) claimAdds(ctx context.Context, by Caller, group string, users []string) error {
	if len(users) == 0 || by.Admin || s.opt.Add != AddAll {
		return nil
	}
	full, err := s.stores.ClaimAdds(ctx, by.User, group, users)
	if err != nil || len(full) == 0 {
		return AsError(err)
	}
	mine, err := s.groupsOf(ctx, by.User)
	if err != nil {
		return err
	}
	for _, user := range full {
		if shared, err := s.shares(ctx, by, mine, user); err != nil {
			return err
		} else if !shared {
			return Errorf(CodeOutOfRange, "you already added %s to %d groups in which they have done nothing yet, the maximum", user, s.opt.Limits.AddedByOneMax())
		}
	}
	return nil
}

// groupsOf are the groups of a user according to the index.
func (s *Service) groupsOf(ctx context.Context, user string) (map[string]bool, error) {
	index, err := s.stores.UserGroups(ctx, user)
	if err != nil {
		return nil, AsError(err)
	}
	in := make(map[string]bool, len(index))
	for _, g := range index {
		in[g.Group] = true
	}
	return in, nil
}

// shares reports whether by and user are in a group in which user acted. mine are the groups of by.
func (s *Service) shares(ctx context.Context, by Caller, mine map[string]bool, user string) (bool, error) {
	index, err := s.stores.UserGroups(ctx, user)
	if err != nil {
		return false, AsError(err)
	}
	var common []string
	for _, g := range index {
		if mine[g.Group] {
			common = append(common, g.Group)
		}
	}
	// The indexes say where to look, the groups who is in them.
	theirs, err := s.infos(ctx, user, common)
	if err != nil {
		return false, err
	}
	acted := common[:0]
	for _, i := range theirs {
		if i.Acted {
			acted = append(acted, i.ID)
		}
	}
	own, err := s.infos(ctx, by.User, acted)
	return slices.ContainsFunc(own, func(i Info) bool { return i.Role != "" }), err
}
