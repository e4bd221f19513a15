package chat

import (
	"cmp"
	"context"
	"errors"

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
	own := min(1, len(g.Owner())) // the first of them
	last := int64(len(g.Notices))
	s.joined(ctx, users[:own], UserGroup{Group: g.ID}, g.Epoch, last)
	added := UserGroup{Group: g.ID, Invited: true}
	if len(g.Direct) == 0 { // who is blocked there may write nothing
		added.By = g.CreatedBy
	}
	s.joined(ctx, users[own:], added, g.Epoch, last)
}

// joined adds a group to the indexes of users whom its entry last made members. The task takes those out who block g.By.
func (s *index) joined(ctx context.Context, users []string, g UserGroup, epoch string, last int64) {
	if len(users) == 0 {
		return
	}
	if err := s.store.AddUserGroups(ctx, users, g); err != nil && !errors.Is(err, ErrBlocked) {
		s.opt.Log.WarnContext(ctx, "index not updated; a task will", "group", g.Group, "error", err)
	}
	if now, err := s.truth(ctx, users[0], g.Group); err == nil && now.Epoch == epoch && now.Last == last {
		return
	}
	_ = each.Of(ctx, users, func(ctx context.Context, user string) error {
		_ = s.update(ctx, user, g.Group, !g.Invited, g.By)
		return nil
	})
}

// update does the same for one user, from the current state of the group: another step may have happened since, and a slow
// node must not restore an outdated state. ErrBlocked, its only error: the user blocks by, who added them.
func (s *index) update(ctx context.Context, user, group string, own bool, by string) error {
	_, err := s.repair(ctx, user, group, own, by)
	if errors.Is(err, ErrBlocked) {
		return err
	}
	if err != nil {
		s.opt.Log.WarnContext(ctx, "index not updated; a task will", "group", group, "error", err)
	}
	return nil
}

// repair makes user's index agree with the group, and returns the group from the view of user. own means that the user
// joined on their own; by is who added them where they may block that user, or empty. Group and index are in different partitions, so the group is read again after the write: the task that
// writes last has read last.
func (s *index) repair(ctx context.Context, user, group string, own bool, by string) (Info, error) {
	was, err := s.truth(ctx, user, group)
	for range repairTries {
		if err != nil {
			return Info{}, err
		}
		if was.Role != "" {
			err = s.store.AddUserGroups(ctx, []string{user}, UserGroup{Group: group, Seen: was.Seen, Invited: !was.Acted && !own, By: by})
		} else {
			err = s.store.DropUserGroup(ctx, user, group)
		}
		if err != nil {
			return was, err
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
