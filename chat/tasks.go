package chat

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// Bounds of the core's tasks. Exceeding one is an error, so that the task runs again.
const (
	repairTries   = 4      // how often the index of one user is updated while the group keeps changing
	stepsMax      = 10_000 // steps of one trim or cleanup, at most 500 entries each, or of one creation
	createdID     = 1      // id of the notice that a group was created
	cleanupInline = 20     // steps of cleanup that a creation does itself if the previous group of the id is not cleaned up
)

// Handlers are the domain's tasks, by kind.
func (s *Service) Handlers() map[string]TaskKind {
	return map[string]TaskKind{
		TaskMention: Handle(s.deliverMentions),
		TaskMember:  Handle(s.deliverMemberships),
		TaskTrim:    Handle(s.trimAll),
		TaskCleanup: Handle(s.cleanUp),
		TaskUnreact: Handle(s.unreact),
	}
}

// CheckTask refuses payloads that no step of a store could have made, before any part of them gets into a key.
func CheckTask(group, epoch string, users ...string) error {
	if !ValidGroupID(group) || epoch == "" || slices.ContainsFunc(users, func(u string) bool { return !ValidUserID(u) }) {
		return Invalid("a task names no valid group, epoch or user")
	}
	return nil
}

// deliverMentions puts an item into the inbox of every mentioned user who is still a member and may see the message.
func (s *Service) deliverMentions(ctx context.Context, t MentionTask) error {
	if err := CheckTask(t.Group, t.Epoch, append(t.Users, t.From)...); err != nil {
		return err
	}
	list, err := s.stores.Entries(ctx, t.Group, []int64{t.ID})
	if err != nil {
		return err
	}
	if len(list) == 0 {
		return nil // trimmed: everyone has seen it
	}
	var e Entry
	if err := json.Unmarshal(list[0].JSON, &e); err != nil {
		return fmt.Errorf("message %d of a mention: %w", t.ID, err)
	}
	if e.DeletedAt != nil {
		return nil
	}
	item := Item{Kind: ItemMention, From: t.From, Group: t.Group, ID: t.ID, SentAt: e.SentAt}
	return Each(ctx, t.Users, func(ctx context.Context, user string) error {
		if user == t.From {
			return nil
		}
		info, err := s.Info(ctx, user, t.Group)
		if errors.Is(err, ErrNotFound) || err == nil && (info.Epoch != t.Epoch || info.Role == "" || t.ID < info.Visible()) {
			return nil
		}
		if err != nil {
			return err
		}
		return s.PutItem(ctx, user, item, fmt.Sprintf("%s %s %s %d", item.Kind, t.Group, t.Epoch, t.ID))
	})
}

// deliverMemberships updates the index of users to the state of a group, and puts an item into the inbox of those whom
// someone else added or removed.
func (s *Service) deliverMemberships(ctx context.Context, t MemberTask) error {
	if err := CheckTask(t.Group, t.Epoch, append(t.Users, t.By)...); err != nil {
		return err
	}
	item := Item{From: t.By, Group: t.Group, SentAt: TimeMs(t.AtMs)}
	switch t.What {
	case NoticeJoined:
		item.Kind = ItemAdded
		if t.ID == createdID {
			if err := s.invite(ctx, t.By, t.Group, t.Epoch, t.AtMs); err != nil {
				return err
			}
		}
	case NoticeRemoved:
		item.Kind = ItemRemoved
	case NoticeLeft, MemberImported:
	default:
		return Invalid("a task has the unknown change %q", t.What)
	}
	return Each(ctx, t.Users, func(ctx context.Context, user string) error {
		info, err := s.repairIndex(ctx, user, t.Group, user == t.By)
		if err != nil {
			return err
		}
		if user == t.By || item.Kind == "" {
			return nil
		}
		if item.Kind == ItemAdded && (info.Epoch != t.Epoch || info.Role == "") {
			return nil // removed again in the meantime
		}
		return s.PutItem(ctx, user, item, fmt.Sprintf("%s %s %s %d", item.Kind, t.Group, t.Epoch, t.ID))
	})
}

// repairIndex makes user's index agree with the group, and returns the group from the view of user. own means that the user
// joined on their own. Group and index are in different partitions, so the group is read again after the write: the task that
// writes last has read last.
func (s *Service) repairIndex(ctx context.Context, user, group string, own bool) (Info, error) {
	was, err := s.truth(ctx, user, group)
	for range repairTries {
		if err != nil {
			return Info{}, err
		}
		if was.Role != "" {
			err = s.stores.AddUserGroups(ctx, []string{user}, UserGroup{Group: group, Seen: was.Seen, Invited: !was.Acted && !own})
		} else {
			err = s.stores.DropUserGroup(ctx, user, group)
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

// truth reads a group from the view of user; one that does not exist has no Role and no Epoch.
func (s *Service) truth(ctx context.Context, user, group string) (Info, error) {
	info, err := s.Info(ctx, user, group)
	if errors.Is(err, ErrNotFound) {
		return Info{}, nil
	}
	return info, err
}

// unreact takes the emoji out of what a deletion left of the reactions to its message.
func (s *Service) unreact(ctx context.Context, t UnreactTask) error {
	if err := CheckTask(t.Group, t.Epoch); err != nil {
		return err
	}
	if _, ok := ParseTime(t.DeletedAt); !ok || min(t.Target, t.From, t.Deletion) < 1 {
		return Invalid("a task names no deletion")
	}
	for range stepsMax {
		next, err := s.stores.Unreact(ctx, t)
		if errors.Is(err, ErrNotFound) {
			return nil
		}
		if err != nil || next == 0 {
			return err
		}
		t.From = next
	}
	return Errorf(CodeConflict, "more reactions left than one task handles")
}

// trimAll trims a group to the end, step by step.
func (s *Service) trimAll(ctx context.Context, t GroupTask) error {
	if err := CheckTask(t.Group, t.Epoch); err != nil {
		return err
	}
	for range stepsMax {
		more, err := s.stores.Trim(ctx, t.Group)
		if errors.Is(err, ErrNotFound) {
			return nil
		}
		if err != nil || !more {
			return err
		}
	}
	return Errorf(CodeConflict, "more entries left to trim than one task handles")
}

// cleanUp removes what a deleted group left behind. A group of the same id may exist again, so the index of each former
// member is updated to what is there now.
func (s *Service) cleanUp(ctx context.Context, t GroupTask) error {
	if err := CheckTask(t.Group, t.Epoch); err != nil {
		return err
	}
	for range stepsMax {
		if more, err := s.cleanUpStep(ctx, t.Group); err != nil || !more {
			return err
		}
	}
	return Errorf(CodeConflict, "more left to clean up than one task handles")
}

// cleanUpStep cleans up after some users of a deleted group. Their index comes first: once they are off the list, nothing
// says any longer whose index may contain the group.
func (s *Service) cleanUpStep(ctx context.Context, group string) (more bool, err error) {
	users, err := s.stores.Gone(ctx, group)
	if err != nil || len(users) == 0 {
		return false, err
	}
	err = Each(ctx, users, func(ctx context.Context, user string) error {
		_, err := s.repairIndex(ctx, user, group, false)
		return err
	})
	if err != nil {
		return false, err
	}
	return s.stores.Cleanup(ctx, group, users)
}
