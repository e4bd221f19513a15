package profiles

import (
	"context"
	"time"

	"github.com/chatd/chatd/chat"
)

// IDsMax is how many users one call asks for.
const IDsMax = 100

// commonTries is how many groups that two users share by their indexes are looked at in a step; nearly always the first one is shared.
const commonTries = 5

// Users reads users whom by may see, in order: those with whom by shares a group, an inbox item or the directory; operators see everyone whom
// the server knows. Others are left out.
func (s *Service) Users(ctx context.Context, by chat.Caller, ids []string) ([]View, error) {
	ids, err := chat.UniqueUsers("ids", ids, IDsMax)
	if err != nil {
		return nil, err
	}
	seen, err := s.visible(ctx, by, ids)
	if err != nil {
		return nil, chat.AsError(err)
	}
	return s.views(ctx, by, seen)
}

// User reads a user. ErrNotFound: nobody whom by may see.
func (s *Service) User(ctx context.Context, by chat.Caller, user string) (View, error) {
	if err := chat.CheckUserID("user", user); err != nil {
		return View{}, err
	}
	found, err := s.Users(ctx, by, []string{user})
	if err == nil && len(found) == 0 {
		err = chat.Errorf(chat.CodeNotFound, "no such user")
	}
	if err != nil {
		return View{}, err
	}
	if !by.Admin {
		found[0].Seen, err = seenBy(ctx, s, by.User, user)
	}
	return found[0], err
}

// seenExact is how exactly users see when others were there.
const seenExact = 5 * time.Minute

// seenBy is when a user was seen last, as another user sees it; nil: not at all, because one of them hides.
func seenBy(ctx context.Context, s *Service, by, user string) (*Seen, error) {
	for _, one := range []string{by, user} {
		if hidden, err := s.store.Hidden(ctx, one); err != nil || hidden {
			return nil, chat.AsError(err)
		}
	}
	last, err := s.LastSeen(ctx, []string{user})
	if err != nil || last[0] == nil {
		return nil, err
	}
	at := chat.TimeMs(last[0].Truncate(seenExact).UnixMilli())
	return &Seen{&at}, nil
}

// views reads users, all of whom by may see.
func (s *Service) views(ctx context.Context, by chat.Caller, ids []string) ([]View, error) {
	stored := make([]Stored, len(ids))
	var last []*chat.Time
	var err error
	if s.published.Any() && len(ids) > 0 {
		if stored, err = s.store.ReadProfiles(ctx, ids); err != nil {
			return nil, chat.AsError(err)
		}
	}
	if by.Admin && len(ids) > 0 {
		if last, err = s.LastSeen(ctx, ids); err != nil {
			return nil, err
		}
	}
	list := make([]View, len(ids))
	for i, user := range ids {
		if list[i], err = s.view(user, stored[i]); err != nil {
			return nil, chat.AsError(err)
		}
		if by.Admin {
			list[i].Decided, list[i].Seen = s.decided(user), &Seen{last[i]}
		}
	}
	return list, nil
}

func (s *Service) decided(user string) *Decided {
	d := &Decided{Disabled: s.users.Disabled(user)}
	if s.users.Operator(user) {
		role := RoleAdmin
		d.Role = &role
	}
	return d
}

// visible are those of ids whom by may see.
func (s *Service) visible(ctx context.Context, by chat.Caller, ids []string) ([]string, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	var seen []bool
	var err error
	if by.Admin || s.opt.Directory == DirectoryAll {
		seen, err = s.store.KnownUsers(ctx, ids)
	} else {
		seen, err = s.Related(ctx, by.User, ids, true)
	}
	var list []string
	for i, user := range ids {
		if err == nil && (seen[i] || user == by.User) {
			list = append(list, user)
		}
	}
	return list, err
}

// Related tells with whom of users by shares a group or, where wrote is set, an item of an inbox. The indexes say where to look, the groups who
// is in them.
func (s *Service) Related(ctx context.Context, by string, users []string, wrote bool) ([]bool, error) {
	own, others, err := s.store.Acquaintances(ctx, by, users)
	if err != nil {
		return nil, err
	}
	mine := make(map[string]bool, len(own))
	for _, group := range own {
		mine[group] = true
	}
	seen, looked := make([]bool, len(users)), len(own)
	common := make([][]string, len(users))
	for i, o := range others {
		seen[i] = o.Wrote && wrote
		looked += len(o.Groups)
		for _, group := range o.Groups {
			if mine[group] {
				common[i] = append(common[i], group)
			}
		}
	}
	chat.Looked(ctx, looked)
	for {
		var asked []Membership
		var of []int
		for i, user := range users {
			tries := min(len(common[i]), commonTries)
			for _, group := range common[i][:tries] {
				if !seen[i] {
					asked, of = append(asked, Membership{group, user}, Membership{group, by}), append(of, i)
				}
			}
			common[i] = common[i][tries:]
		}
		if len(asked) == 0 {
			return seen, nil
		}
		in, err := s.store.AreMembers(ctx, asked)
		if err != nil {
			return nil, err
		}
		for n, i := range of {
			seen[i] = seen[i] || in[2*n] && in[2*n+1]
		}
	}
}
