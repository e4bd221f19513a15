package chat

import (
	"cmp"
	"context"

	"github.com/chatd/chatd/internal/each"
)

// index keeps the index of a user's groups as the groups are.
type index struct {
	*base
	store IndexStore
}

// created updates the index of the members of a new group before the answer, so that they read their own write. If it
// fails, the task that the store's step has enqueued does the same, so a failure is only logged. It writes all of them at
// once without checking each one. If the log has grown since, some may have left again, and what was written late is
// corrected.
func (s *index) created(ctx context.Context, users []string, g NewGroup) {
	if len(users) == 0 {
		return
	}
	own, invited := users[:0], users
	if g.Owner() != "" { // the first of them
		own, invited = users[:1], users[1:]
	}
	var err error
	if len(own) > 0 {
		err = s.store.AddUserGroups(ctx, own, UserGroup{Group: g.ID})
	}
	if err == nil && len(invited) > 0 {
		err = s.store.AddUserGroups(ctx, invited, UserGroup{Group: g.ID, Invited: true})
	}
	if err != nil {
		s.opt.Log.WarnContext(ctx, "index not updated; a task will", "group", g.ID, "error", err)
	}
	if now, err := s.truth(ctx, users[0], g.ID); err == nil && now.Epoch == g.Epoch && now.Last == int64(len(g.Notices)) {
		return
	}
	_ = each.Of(ctx, users, func(ctx context.Context, user string) error {
		s.update(ctx, user, g.ID, user == g.Owner())
		return nil
	})
}

// update does the same for one user, from the current state of the group: another step may have happened since, and a slow
// node must not restore an outdated state.
func (s *index) update(ctx context.Context, user, group string, own bool) {
	if _, err := s.repair(ctx, user, group, own); err != nil {
		s.opt.Log.WarnContext(ctx, "index not updated; a task will", "group", group, "error", err)
	}
}

// repair makes user's index agree with the group, and returns the group from the view of user. own means that the user
// joined on their own. Group and index are in different partitions, so the group is read again after the write: the task that
// writes last has read last.
func (s *index) repair(ctx context.Context, user, group string, own bool) (Info, error) {
	was, err := s.truth(ctx, user, group)
	for range repairTries {
		if err != nil {
			return Info{}, err
		}
		if was.Role != "" {
			err = s.store.AddUserGroups(ctx, []string{user}, UserGroup{Group: group, Seen: was.Seen, Invited: !was.Acted && !own})
		} else {
			err = s.store.DropUserGroup(ctx, user, group)
		}
		if err != nil {
			return Info{}, err
		}
		var now Info
		now, err = s.truth(ctx, user, group)
		if err == nil && (now.Role != "") == (was.Role != "") {
			return now, nil
		}
		was = now
	}
	return Info{}, cmp.Or(err, error(ErrConflict))
}
