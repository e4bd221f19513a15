package web

import (
	"context"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/web/api"
)

type memberHandlers struct{ core *chat.Service }

// ListMembers serves GET /v1/groups/{group}/members.
func (h memberHandlers) ListMembers(ctx context.Context, r api.ListMembersRequestObject) (api.ListMembersResponseObject, error) {
	list, err := h.core.Members(ctx, callerOf(ctx), r.Group, limitOf(r.Params.Limit), deref(r.Params.Cursor))
	return api.ListMembers200JSONResponse{Members: orEmpty(list.Items), Next: next(list.Next)}, err
}

// PutMember serves PUT /v1/groups/{group}/members/{user}.
func (h memberHandlers) PutMember(ctx context.Context, r api.PutMemberRequestObject) (api.PutMemberResponseObject, error) {
	var role chat.Role
	if r.Body != nil {
		role = r.Body.Role
	}
	member, created, err := h.core.PutMember(ctx, callerOf(ctx), r.Group, r.User, role)
	if created {
		return api.PutMember201JSONResponse(member), err
	}
	return api.PutMember200JSONResponse(member), err
}

// RemoveMember serves DELETE /v1/groups/{group}/members/{user}.
func (h memberHandlers) RemoveMember(ctx context.Context, r api.RemoveMemberRequestObject) (api.RemoveMemberResponseObject, error) {
	return api.RemoveMember204Response{}, h.core.RemoveMember(ctx, callerOf(ctx), r.Group, r.User)
}
