package web

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"math"
	"net/http"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/web/api"
	"github.com/chatd/chatd/web/limit"
)

// CreateGroup serves POST /v1/groups.
func (s *Server) CreateGroup(ctx context.Context, r api.CreateGroupRequestObject) (api.CreateGroupResponseObject, error) {
	if r.Body == nil {
		return nil, errNoBody
	}
	draft, err := groupDraft(r.Body)
	if err != nil {
		return nil, err
	}
	if err := charge(ctx, limit.Members(len(draft.Members))); err != nil {
		return nil, err
	}
	return s.keyed(ctx, "createGroup", r.Params.IdempotencyKey, r.Body, http.StatusCreated, func(key string) (any, error) {
		draft.Key = key
		return s.service.CreateGroup(ctx, callerOf(ctx), draft)
	})
}

func groupDraft(b *api.GroupDraft) (chat.GroupDraft, error) {
	d := chat.GroupDraft{
		ID: deref(b.Id), Name: deref(b.Name), Members: deref(b.Members), Visibility: deref(b.Visibility),
		Keep: b.Keep, BacklogMax: b.BacklogMax, Post: deref(b.Post), History: b.History,
		RetainDays: b.RetainDays, Overflow: deref(b.Overflow), BacklogBytes: b.BacklogBytes,
	}
	if b.Id != nil {
		if err := chat.CheckGroupID("id", *b.Id); err != nil {
			return d, err
		}
	}
	if b.Overflow != nil && *b.Overflow == "" {
		return d, errOverflow
	}
	return d, checkSettings(b.Visibility, b.Keep, b.BacklogMax, b.Post)
}

var errOverflow = chat.Errorf(chat.CodeInvalid, "overflow: want drop or block")

func checkSettings(v *chat.Visibility, keep, backlogMax *int64, post *chat.Posting) error {
	switch {
	case v != nil && *v != chat.Private && *v != chat.Public:
		return chat.Errorf(chat.CodeInvalid, "visibility: want private or public")
	case post != nil && *post != chat.PostMembers && *post != chat.PostAdmins:
		return chat.Errorf(chat.CodeInvalid, "post: want members or admins")
	case keep != nil && *keep < 0:
		return chat.Errorf(chat.CodeInvalid, "keep: want an integer from 0")
	case backlogMax != nil && *backlogMax < 1:
		return chat.Errorf(chat.CodeInvalid, "backlog_max: want an integer from 1")
	}
	return nil
}

// ListGroups serves GET /v1/groups.
func (s *Server) ListGroups(ctx context.Context, r api.ListGroupsRequestObject) (api.ListGroupsResponseObject, error) {
	list, err := s.service.Groups(ctx, callerOf(ctx), limitOf(r.Params.Limit), deref(r.Params.Cursor))
	if err != nil {
		return nil, err
	}
	return api.ListGroups200JSONResponse{Groups: orEmpty(list.Items), Total: list.Total, Next: next(list.Next)}, nil
}

// ListPublicGroups serves GET /v1/groups/public.
func (s *Server) ListPublicGroups(ctx context.Context, r api.ListPublicGroupsRequestObject) (api.ListPublicGroupsResponseObject, error) {
	list, err := s.service.PublicGroups(ctx, callerOf(ctx), limitOf(r.Params.Limit), deref(r.Params.Cursor))
	if err != nil {
		return nil, err
	}
	return api.ListPublicGroups200JSONResponse{Groups: orEmpty(list.Items), Next: next(list.Next)}, nil
}

// GetGroup serves GET /v1/groups/{group}.
func (s *Server) GetGroup(ctx context.Context, r api.GetGroupRequestObject) (api.GetGroupResponseObject, error) {
	group, err := s.service.Group(ctx, callerOf(ctx), r.Group)
	return api.GetGroup200JSONResponse(group), err
}

// UpdateGroup serves PATCH /v1/groups/{group}.
func (s *Server) UpdateGroup(ctx context.Context, r api.UpdateGroupRequestObject) (api.UpdateGroupResponseObject, error) {
	b := r.Body
	if b == nil {
		return nil, errNoBody
	}
	if err := checkSettings(b.Visibility, b.Keep, b.BacklogMax, b.Post); err != nil {
		return nil, err
	}
	group, err := s.service.UpdateGroup(ctx, callerOf(ctx), r.Group, chat.GroupChange{
		Name: b.Name, Visibility: b.Visibility, Keep: b.Keep, BacklogMax: b.BacklogMax, Post: b.Post, History: b.History,
		RetainDays: b.RetainDays, Overflow: b.Overflow, BacklogBytes: b.BacklogBytes,
	})
	return api.UpdateGroup200JSONResponse(group), err
}

// DeleteGroup serves DELETE /v1/groups/{group}.
func (s *Server) DeleteGroup(ctx context.Context, r api.DeleteGroupRequestObject) (api.DeleteGroupResponseObject, error) {
	return api.DeleteGroup204Response{}, s.service.DeleteGroup(ctx, callerOf(ctx), r.Group)
}

// ListBlockers serves GET /v1/groups/{group}/blockers.
func (s *Server) ListBlockers(ctx context.Context, r api.ListBlockersRequestObject) (api.ListBlockersResponseObject, error) {
	blockers, err := s.service.Blockers(ctx, callerOf(ctx), r.Group)
	return api.ListBlockers200JSONResponse{Blockers: orEmpty(blockers)}, err
}

// PutHold serves PUT /v1/groups/{group}/hold.
func (s *Server) PutHold(ctx context.Context, r api.PutHoldRequestObject) (api.PutHoldResponseObject, error) {
	if r.Body == nil {
		return nil, errNoBody
	}
	hold, err := s.service.PutHold(ctx, callerOf(ctx), r.Group, r.Body.Reason)
	return api.PutHold200JSONResponse(hold), err
}

// ReleaseHold serves DELETE /v1/groups/{group}/hold.
func (s *Server) ReleaseHold(ctx context.Context, r api.ReleaseHoldRequestObject) (api.ReleaseHoldResponseObject, error) {
	return api.ReleaseHold204Response{}, s.service.ReleaseHold(ctx, callerOf(ctx), r.Group)
}

// ListMembers serves GET /v1/groups/{group}/members.
func (s *Server) ListMembers(ctx context.Context, r api.ListMembersRequestObject) (api.ListMembersResponseObject, error) {
	list, err := s.service.Members(ctx, callerOf(ctx), r.Group, limitOf(r.Params.Limit), deref(r.Params.Cursor))
	if err != nil {
		return nil, err
	}
	return api.ListMembers200JSONResponse{Members: orEmpty(list.Items), Next: next(list.Next)}, nil
}

// PutMember serves PUT /v1/groups/{group}/members/{user}.
func (s *Server) PutMember(ctx context.Context, r api.PutMemberRequestObject) (api.PutMemberResponseObject, error) {
	var role chat.Role
	if r.Body != nil && r.Body.Role != nil {
		switch role = *r.Body.Role; role {
		case chat.Owner, chat.Admin, chat.Ordinary:
		default:
			return nil, chat.Errorf(chat.CodeInvalid, "role: want owner, admin or member")
		}
	}
	member, created, err := s.service.PutMember(ctx, callerOf(ctx), r.Group, r.User, role)
	if created {
		return api.PutMember201JSONResponse(member), err
	}
	return api.PutMember200JSONResponse(member), err
}

// RemoveMember serves DELETE /v1/groups/{group}/members/{user}.
func (s *Server) RemoveMember(ctx context.Context, r api.RemoveMemberRequestObject) (api.RemoveMemberResponseObject, error) {
	return api.RemoveMember204Response{}, s.service.RemoveMember(ctx, callerOf(ctx), r.Group, r.User)
}

var (
	errNoBody  = chat.Errorf(chat.CodeInvalid, "the request body must be a JSON object")
	errNoRoute = chat.Errorf(chat.CodeNotFound, "no such route")
)

// deref is the value, or the zero value of an absent field.
func deref[T any](p *T) T {
	if p == nil {
		var zero T
		return zero
	}
	return *p
}

// limitOf is the limit as the domain takes it: 0 for the default. The domain bounds it.
func limitOf(most *int64) int { return int(min(deref(most), math.MaxInt32)) }

// next is the cursor of the following page, null at the end.
func next(cursor string) *string {
	if cursor == "" {
		return nil
	}
	return &cursor
}

// contentHash tells requests with the same retry key apart by what they ask for, no matter how they are written.
func contentHash(operation string, body any) (string, error) {
	b, err := json.Marshal(body)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(append([]byte(operation+"\n"), b...))
	return hex.EncodeToString(sum[:16]), nil
}
