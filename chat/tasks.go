package chat

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/chatd/chatd/internal/each"
)

// tasks runs what steps of the store leave to be done.
type tasks struct {
	*base
	store   LogStore
	groups  *groups
	inboxes *inboxes
	index   *index
	members *members
}

// Bounds of the core's tasks. Exceeding one is an error, so that the task runs again.
const (
	repairTries   = 4      // how often the index of one user is updated while the group keeps changing
	stepsMax      = 10_000 // steps of one trim or cleanup, at most 500 entries each, or of one creation
	createdID     = 1      // id of the notice that a group was created
	membersAtOnce = 500    // members that one step of a mention of all reads
	cleanupInline = 20     // steps of cleanup that a creation does itself if the previous group of the id is not cleaned up
)

// Handlers are the domain's tasks, by kind.
func (s *tasks) Handlers() map[string]TaskKind {
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

// toTheEnd takes steps until there are no more, or the group is gone. left says what there are too many of.
func toTheEnd(left string, step func() (more bool, err error)) error {
	for range stepsMax {
		more, err := step()
		if errors.Is(err, ErrNotFound) {
			return nil
		}
		if err != nil || !more {
			return err
		}
	}
	return Errorf(CodeConflict, "more %s than one task handles", left)
}

// deliverMentions puts an item into the inbox of every mentioned user who is still a member and may see the message. A mention of
// all is for those who were members then.
func (s *tasks) deliverMentions(ctx context.Context, t MentionTask) error {
	named := slices.DeleteFunc(slices.Clone(t.Users), func(user string) bool { return user == MentionAll })
	all := len(named) < len(t.Users)
	if err := CheckTask(t.Group, t.Epoch, append(named, t.From)...); err != nil {
		return err
	}
	list, err := s.store.Entries(ctx, t.Group, []int64{t.ID})
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
	deliver := func(ctx context.Context, user string) error {
		if user == t.From {
			return nil
		}
		info, err := s.Info(ctx, user, t.Group)
		if errors.Is(err, ErrNotFound) || err == nil && (info.Epoch != t.Epoch || info.Role == "" || t.ID < info.Visible()) {
			return nil
		}
		if err != nil || all && t.ID < info.Joined {
			return err
		}
		return s.inboxes.PutItem(ctx, user, item, fmt.Sprintf("%s %s %s %d", item.Kind, t.Group, t.Epoch, t.ID))
	}
	if all {
		return s.eachMember(ctx, t.Group, deliver)
	}
	return each.Of(ctx, t.Users, deliver)
}

// eachMember runs fn for the members of a group, in the order in which they joined. Whoever joins meanwhile is among them.
func (s *tasks) eachMember(ctx context.Context, group string, fn func(context.Context, string) error) error {
	after := ""
	return toTheEnd("members", func() (more bool, err error) {
		var page []Member
		if page, after, err = s.members.store.Members(ctx, group, "", after, membersAtOnce); err != nil {
			return false, err
		}
		users := make([]string, len(page))
		for i, m := range page {
			users[i] = m.User
		}
		return after != "", each.Of(ctx, users, fn)
	})
}

// What a MemberTask says besides notices.
const (
	MemberImported = "imported" // an import made the group: its members get no item
	MemberAccepted = "accepted" // they had asked to join
	MemberDeclined = "declined" // the same; ID is when they asked
)

// deliverMemberships updates the index of users to the state of a group, and puts an item into the inbox of those whom
// someone else added or removed. Those whom someone added whom they block are taken out again, if they have done nothing there.
func (s *tasks) deliverMemberships(ctx context.Context, t MemberTask) error {
	if err := CheckTask(t.Group, t.Epoch, append(t.Users, t.By)...); err != nil {
		return err
	}
	item := Item{From: t.By, Group: t.Group, SentAt: TimeMs(t.AtMs)}
	switch t.What {
	case NoticeJoined:
		if !IsDirect(t.Group) { // there, the first message tells
			item.Kind = ItemAdded
		}
		if t.ID == createdID {
			if err := s.groups.invite(ctx, t.By, t.Group, t.Epoch, t.AtMs); err != nil {
				return err
			}
		}
	case NoticeRemoved:
		item.Kind = ItemRemoved
	case MemberAccepted, MemberDeclined:
		item.Kind, item.Accepted = ItemRequest, new(t.What == MemberAccepted)
	case NoticeLeft, MemberImported:
	default:
		return Invalid("a task has the unknown change %q", t.What)
	}
	return each.Of(ctx, t.Users, func(ctx context.Context, user string) error {
		by := ""
		if item.Kind == ItemAdded && user != t.By {
			by = t.By
		}
		info, err := s.index.repair(ctx, user, t.Group, user == t.By, by)
		if errors.Is(err, ErrBlocked) && (info.Joined == t.ID || t.ID == createdID) {
			return s.members.takeBack(ctx, user, t.Group)
		}
		if err != nil && !errors.Is(err, ErrBlocked) {
			return err
		}
		if user == t.By || item.Kind == "" {
			return nil
		}
		if item.Kind == ItemAdded && (info.Epoch != t.Epoch || info.Role == "") {
			return nil // removed again in the meantime
		}
		return s.inboxes.PutItem(ctx, user, item, fmt.Sprintf("%s %s %s %d", item.Kind, t.Group, t.Epoch, t.ID))
	})
}

// unreact takes the emoji out of what a deletion left of the reactions to its message.
func (s *tasks) unreact(ctx context.Context, t UnreactTask) error {
	if err := CheckTask(t.Group, t.Epoch); err != nil {
		return err
	}
	if _, ok := ParseTime(t.DeletedAt); !ok || min(t.Target, t.From, t.Deletion) < 1 {
		return Invalid("a task names no deletion")
	}
	return toTheEnd("reactions left", func() (more bool, err error) {
		t.From, err = s.store.Unreact(ctx, t)
		return t.From != 0, err
	})
}

// trimAll trims a group to the end, step by step.
func (s *tasks) trimAll(ctx context.Context, t GroupTask) error {
	if err := CheckTask(t.Group, t.Epoch); err != nil {
		return err
	}
	return toTheEnd("entries left to trim", func() (bool, error) { return s.store.Trim(ctx, t.Group) })
}

// cleanUp removes what a deleted group left behind. A group of the same id may exist again, so the index of each former
// member is updated to what is there now.
func (s *tasks) cleanUp(ctx context.Context, t GroupTask) error {
	if err := CheckTask(t.Group, t.Epoch); err != nil {
		return err
	}
	return toTheEnd("left to clean up", func() (bool, error) { return s.groups.cleanUpStep(ctx, t.Group) })
}
