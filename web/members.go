package web

import (
	"cmp"
	"context"
	"encoding/json"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/bulk"
	"github.com/chatd/chatd/chat/memberdata"
	"github.com/chatd/chatd/chat/rules"
	"github.com/chatd/chatd/web/api"
	"github.com/chatd/chatd/web/limit"
)

type memberHandlers struct {
	data  *memberdata.Service
	rules *rules.Service
	core  *chat.Service
	bulk  *bulk.Service
}

// ListMembers serves GET /v1/groups/{group}/members.
func (h memberHandlers) ListMembers(ctx context.Context, r api.ListMembersRequestObject) (api.ListMembersResponseObject, error) {
	list, err := h.core.Members(ctx, callerOf(ctx), r.Group, limitOf(r.Params.Limit), deref(r.Params.Cursor))
	return api.ListMembers200JSONResponse{Members: orEmpty(list.Items), Next: next(list.Next)}, err
}

// ChangeMembers serves PUT /v1/groups/{group}/members.
func (h memberHandlers) ChangeMembers(ctx context.Context, r api.ChangeMembersRequestObject) (api.ChangeMembersResponseObject, error) {
	add := make([]bulk.Draft, len(r.Body.Add))
	for i, a := range r.Body.Add {
		add[i] = bulk.Draft{User: a.User, Role: deref(a.Role)}
	}
	if err := callOf(ctx).charge(limit.Members(len(add) + len(r.Body.Remove))); err != nil {
		return nil, err
	}
	result, err := h.bulk.ChangeMembers(ctx, callerOf(ctx), r.Group, add, r.Body.Remove)
	return api.ChangeMembers200JSONResponse(result), err
}

// PutMember serves PUT /v1/groups/{group}/members/{user}.
func (h memberHandlers) PutMember(ctx context.Context, r api.PutMemberRequestObject) (api.PutMemberResponseObject, error) {
	var body api.MemberDraft
	if r.Body != nil {
		body = *r.Body
	}
	var member chat.Member
	var created bool
	var err error
	if body.Data == nil {
		member, created, err = h.core.PutMember(ctx, callerOf(ctx), r.Group, r.User, body.Role)
	} else {
		member, created, err = h.data.Put(ctx, callerOf(ctx), r.Group, r.User, body.Role, body.Data)
	}
	if created {
		return api.PutMember201JSONResponse(member), err
	}
	if err == nil {
		err = h.core.Veil(ctx, callerOf(ctx), r.Group, &member)
	}
	return api.PutMember200JSONResponse(member), err
}

// UpdateMember serves PATCH /v1/groups/{group}/members/{user}.
func (h memberHandlers) UpdateMember(ctx context.Context, r api.UpdateMemberRequestObject) (api.UpdateMemberResponseObject, error) {
	var member chat.Member
	var err error
	if r.Body.MutedUntil != nil {
		if member, err = h.rules.Mute(ctx, callerOf(ctx), r.Group, r.User, r.Body.MutedUntil); err != nil {
			return nil, err
		}
	}
	if r.Body.Data != nil || r.Body.MutedUntil == nil {
		patch := cmp.Or(string(r.Body.Data), "{}")
		member, err = h.data.Merge(ctx, callerOf(ctx), r.Group, r.User, json.RawMessage(patch))
	}
	if err == nil {
		err = h.core.Veil(ctx, callerOf(ctx), r.Group, &member)
	}
	return api.UpdateMember200JSONResponse(member), err
}

// RemoveMember serves DELETE /v1/groups/{group}/members/{user}.
func (h memberHandlers) RemoveMember(ctx context.Context, r api.RemoveMemberRequestObject) (api.RemoveMemberResponseObject, error) {
	return api.RemoveMember204Response{}, h.core.RemoveMember(ctx, callerOf(ctx), r.Group, r.User)
}

// ListBans serves GET /v1/groups/{group}/bans.
func (h memberHandlers) ListBans(ctx context.Context, r api.ListBansRequestObject) (api.ListBansResponseObject, error) {
	list, err := h.rules.Bans(ctx, callerOf(ctx), r.Group, limitOf(r.Params.Limit), deref(r.Params.Cursor))
	return api.ListBans200JSONResponse{Bans: orEmpty(list.Items), Next: next(list.Next)}, err
}

// PutBan serves PUT /v1/groups/{group}/bans/{user}.
func (h memberHandlers) PutBan(ctx context.Context, r api.PutBanRequestObject) (api.PutBanResponseObject, error) {
	var body api.BanDraft
	if r.Body != nil {
		body = *r.Body
	}
	ban, created, err := h.rules.Ban(ctx, callerOf(ctx), r.Group, r.User, rules.BanDraft{Reason: body.Reason, Until: body.Until, DeleteHours: body.DeleteHours})
	if created {
		return api.PutBan201JSONResponse(ban), err
	}
	return api.PutBan200JSONResponse(ban), err
}

// ListRequests serves GET /v1/groups/{group}/requests.
func (h memberHandlers) ListRequests(ctx context.Context, r api.ListRequestsRequestObject) (api.ListRequestsResponseObject, error) {
	list, err := h.rules.Requests(ctx, callerOf(ctx), r.Group, limitOf(r.Params.Limit), deref(r.Params.Cursor))
	return api.ListRequests200JSONResponse{Requests: orEmpty(list.Items), Next: next(list.Next)}, err
}

// PutRequest serves PUT /v1/groups/{group}/requests/me.
func (h memberHandlers) PutRequest(ctx context.Context, r api.PutRequestRequestObject) (api.PutRequestResponseObject, error) {
	var body api.JoinRequestDraft
	if r.Body != nil {
		body = *r.Body
	}
	request, created, err := h.rules.Ask(ctx, callerOf(ctx), r.Group, body.Note)
	if created {
		return api.PutRequest201JSONResponse(request), err
	}
	return api.PutRequest200JSONResponse(request), err
}

// DeleteRequest serves DELETE /v1/groups/{group}/requests/me.
func (h memberHandlers) DeleteRequest(ctx context.Context, r api.DeleteRequestRequestObject) (api.DeleteRequestResponseObject, error) {
	return api.DeleteRequest204Response{}, h.rules.Unask(ctx, callerOf(ctx), r.Group)
}

// AnswerRequest serves PUT /v1/groups/{group}/requests/{user}.
func (h memberHandlers) AnswerRequest(ctx context.Context, r api.AnswerRequestRequestObject) (api.AnswerRequestResponseObject, error) {
	return api.AnswerRequest204Response{}, h.rules.Answer(ctx, callerOf(ctx), r.Group, r.User, r.Body.Accept)
}

// DeleteBan serves DELETE /v1/groups/{group}/bans/{user}.
func (h memberHandlers) DeleteBan(ctx context.Context, r api.DeleteBanRequestObject) (api.DeleteBanResponseObject, error) {
	return api.DeleteBan204Response{}, h.rules.Unban(ctx, callerOf(ctx), r.Group, r.User)
}
