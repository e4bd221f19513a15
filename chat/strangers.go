package chat

import (
	"context"
	"slices"
	"sync"

	"github.com/chatd/chatd/internal/each"
)

// strangers checks what callers may do to users whom they do not know, by the policies of the node.
type strangers struct {
	*base
	store IndexStore
}

// DirectPolicy says whose inbox one may write to.
type DirectPolicy string

// Everyone's, or only those of users who share a group in which they acted, which means acked or sent: being put into a
// group by someone is not enough.
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
func (s *strangers) MayWrite(ctx context.Context, by Caller, to string) error {
	if s.opt.Direct != DirectShared || by.Admin || by.User == to {
		return nil
	}
	return s.sharing(ctx, by, []string{to}, func(string) error {
		return Errorf(CodeForbidden, "you may write only to users with whom you share a group in which they have read or sent something")
	})
}

// MayPut checks whether by may put users, who are not in it, into a group, and counts that.
func (s *strangers) MayPut(ctx context.Context, by Caller, group string, users ...string) error {
	if err := s.mayAdd(ctx, by, users...); err != nil {
		return err
	}
	return s.roomFor(ctx, by, group, users...)
}

// mayAdd checks whom by may put into a group.
func (s *strangers) mayAdd(ctx context.Context, by Caller, users ...string) error {
	users = slices.DeleteFunc(slices.Clone(users), func(u string) bool { return u == by.User })
	if len(users) == 0 || by.Admin || s.opt.Add == AddAll {
		return nil
	}
	if s.opt.Add == AddOperators {
		return Errorf(CodeForbidden, "only operators may add members")
	}
	return s.sharing(ctx, by, users, func(user string) error {
		return Errorf(CodeForbidden, "you may add only users with whom you share a group in which they have read or sent something; not %s", user)
	})
}

// claimAdds counts that by adds users to a group, where anyone may: see Limits.AddedByOneMax. Users whom by knows, because they share
// a group in which these acted, do not count, nor does what operators do.
func (s *strangers) claimAdds(ctx context.Context, by Caller, group string, users []string) error {
	if len(users) == 0 || by.Admin || s.opt.Add != AddAll {
		return nil
	}
	full, err := s.store.ClaimAdds(ctx, by.User, group, users)
	if err != nil || len(full) == 0 {
		return AsError(err)
	}
	return s.sharing(ctx, by, full, func(user string) error {
		return Errorf(CodeOutOfRange, "you already added %s to %d groups in which they have done nothing yet, the maximum", user, s.opt.Limits.AddedByOneMax())
	})
}

// sharedLooks is how many groups are looked at in a step of looking for a shared one.
const sharedLooks = 500

// sharing returns the error that refuse makes for one of users with whom by shares no group in which that user acted, or nil. Of the
// two indexes it reads the shorter one, once, and it looks no further than to the first such group.
func (s *strangers) sharing(ctx context.Context, by Caller, users []string, refuse func(user string) error) error {
	sizes, err := s.store.Indexed(ctx, "", "", append([]string{by.User}, users...))
	if err != nil {
		return AsError(err)
	}
	longer := make(map[string]bool, len(users)) // than that of by
	for i, user := range users {
		longer[user] = sizes[i+1].Groups > sizes[0].Groups
	}
	mine := sync.OnceValues(func() ([]string, error) { return s.groupsOf(ctx, by.User) })
	return AsError(each.Of(ctx, users, func(ctx context.Context, user string) error {
		groups, other := mine, user
		if !longer[user] {
			groups, other = func() ([]string, error) { return s.groupsOf(ctx, user) }, by.User
		}
		list, err := groups()
		if err != nil {
			return err
		}
		for some := range slices.Chunk(list, sharedLooks) {
			if shared, err := s.shares(ctx, by, user, some, other); shared || err != nil {
				return err
			}
		}
		return refuse(user)
	}))
}

// groupsOf are the groups of a user according to the index.
func (s *strangers) groupsOf(ctx context.Context, user string) ([]string, error) {
	index, err := s.store.UserGroups(ctx, user)
	Looked(ctx, len(index))
	return names(index), err
}

// shares reports whether by and user are both in one of groups, and user acted there. The groups are those of one of the two;
// other is the other one. The index says where to look, the groups who is in them.
func (s *strangers) shares(ctx context.Context, by Caller, user string, groups []string, other string) (bool, error) {
	looks, err := s.store.Looks(ctx, other, groups, LookAtSeen)
	if err != nil {
		return false, err
	}
	var common []string
	for i, l := range looks {
		if l.Seen >= 0 {
			common = append(common, groups[i])
		}
	}
	Looked(ctx, len(groups)+PageLooks*len(common))
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

// mayAddTo checks whether by may put user into a group that user is not in yet.
func (s *strangers) mayAddTo(ctx context.Context, by Caller, group, user string) error {
	if by.Admin || by.User == user || s.opt.Add == AddAll {
		return nil
	}
	if info, err := s.truth(ctx, user, group); err != nil || info.Role != "" {
		return err
	}
	return s.mayAdd(ctx, by, user)
}

// roomFor refuses to put users into more groups than a user may be in, or into one at the hands of someone whom they block. Groups that others put a user into, and in which the
// user has not acted, count separately, so that invitations never use up the room for the user's own groups. Another group
// may be added between this check and the write; the bound protects the size of the index and need not be exact. How many of the
// latter one caller makes is bounded apart, and exactly.
func (s *strangers) roomFor(ctx context.Context, by Caller, group string, users ...string) error {
	indexes, err := s.store.Indexed(ctx, by.User, group, users)
	if err != nil {
		return AsError(err)
	}
	most := int64(s.opt.Limits.UserGroupsMax)
	var added []string
	for i, index := range indexes {
		own := index.Groups - index.Invited
		switch {
		case index.Has:
		case index.Blocks:
			return Errorf(CodeBlocked, "%s blocks you", users[i])
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
