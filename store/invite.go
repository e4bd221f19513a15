package store

import (
	"context"
	"errors"

	"github.com/redis/go-redis/v9"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/audit"
	"github.com/chatd/chatd/chat/invite"
)

var (
	inviteCreateScript = newScript("invite/create", groupNames)
	inviteLookScript   = newReader("invite/look", groupNames)
	inviteRevokeScript = newScript("invite/revoke", groupNames)
	inviteAcceptScript = newScript("invite/accept", groupNames)
)

// Invites are the invitations of groups.
type Invites struct {
	*base
}

// CreateInvite keeps an invitation of a group.
func (s *Invites) CreateInvite(ctx context.Context, by chat.Caller, r invite.Record) (invite.Record, error) {
	group := *r.Group
	got, err := s.runSafe(ctx, s.noted(inviteCreateScript.On(s.keys.group(group)).Arg("caller", by.User).Arg("operator", by.Admin).Arg("group", group).
		Arg("invite", r.ID).Arg("record", r.Text()).Arg("open_max", invite.OpenMax).Arg("kept_max", invite.KeptMax), invite.Note(by, audit.InviteCreate, r.Invite)))
	if err != nil {
		return invite.Record{}, err
	}
	return invite.Parse(group, r.ID, got.text(1)), nil
}

// InvitedTo tells whose invitation it is.
func (s *Invites) InvitedTo(ctx context.Context, route uint32, id string) (group string, err error) {
	var found *redis.StringCmd
	err = s.reads(ctx, func(pipe redis.Pipeliner) {
		found = pipe.HGet(ctx, s.keys.part(int(route%uint32(s.partitions()))).invited(), id)
	})
	if err != nil {
		return "", err
	}
	if found.Val() == "" {
		return "", invite.ErrNotFound
	}
	return found.Val(), nil
}

// LookInvite reads an invitation with its group.
func (s *Invites) LookInvite(ctx context.Context, group, id string) (l invite.Look, err error) {
	r, err := s.runSafe(ctx, inviteLookScript.On(s.keys.group(group)).Arg("invite", id))
	if err != nil {
		return l, noInvite(err)
	}
	l.Record = invite.Parse(group, id, r.text(1))
	l.GroupName, l.Members, l.Manages = r.text(2), r.number(3), r.number(4) == 1
	return l, nil
}

// ListInvites lists the invitations of a group.
func (s *Invites) ListInvites(ctx context.Context, group string) ([]invite.Record, error) {
	var found *redis.MapStringStringCmd
	err := s.reads(ctx, func(pipe redis.Pipeliner) { found = pipe.HGetAll(ctx, s.keys.group(group).invites()) })
	if err != nil {
		return nil, err
	}
	var list []invite.Record
	for id, text := range found.Val() {
		list = append(list, invite.Parse(group, id, text))
	}
	return list, nil
}

// RevokeInvite ends an invitation.
func (s *Invites) RevokeInvite(ctx context.Context, by chat.Caller, group, id string) error {
	return noInvite(s.doSafe(ctx, s.noted(inviteRevokeScript.On(s.keys.group(group)).Arg("invite", id),
		invite.Note(by, audit.InviteRevoke, invite.Invite{ID: id, Group: &group}))))
}

// AcceptInvite makes a user a member and counts the use.
func (s *Invites) AcceptInvite(ctx context.Context, m chat.Membership, id, hash string) error {
	k := s.keys.group(m.Group)
	return noInvite(s.doSafe(ctx, inviteAcceptScript.On(k).Arg("user", m.User).Arg("invite", id).Arg("hash", hash).
		Arg("at_ms", m.AtMs).Arg("mark", m.Notice.Mark).Arg("rest", m.Notice.Rest).Arg("members_max", s.limits.GroupMembersMax).
		Arg("channel", k.channel()).Arg("task_id", k.taskID()).Arg("group", m.Group).Arg("trim_id", k.taskID())))
}

// noInvite says of what a step has not found.
func noInvite(err error) error {
	if errors.Is(err, chat.ErrNotFound) {
		return invite.ErrNotFound
	}
	return err
}
