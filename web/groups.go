package web

import (
	"context"
	"net/http"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/directory"
	"github.com/chatd/chatd/web/api"
	"github.com/chatd/chatd/web/limit"
)

type groupHandlers struct {
	core      *chat.Service
	directory *directory.Service
}

// CreateGroup serves POST /v1/groups.
func (h groupHandlers) CreateGroup(ctx context.Context, r api.CreateGroupRequestObject) (api.CreateGroupResponseObject, error) {
	b := r.Body
	draft := chat.GroupDraft{
		ID: b.Id, Name: deref(b.Name), Members: deref(b.Members), Visibility: b.Visibility, Keep: b.Keep, BacklogMax: b.BacklogMax, Post: b.Post,
		History: b.History, RetainDays: b.RetainDays, Overflow: b.Overflow, BacklogBytes: b.BacklogBytes, Data: b.Data,
		SlowS: b.SlowS, ExpireS: b.ExpireS, Receipts: b.Receipts, Join: b.Join, Pins: b.Pins, MentionAll: b.MentionAll,
	}
	if err := callOf(ctx).charge(limit.Members(len(draft.Members))); err != nil {
		return nil, err
	}
	if !callerOf(ctx).Reaches(draft.ID) {
		return nil, chat.ErrReach // also of a repeat
	}
	return keyed(ctx, h.core, "createGroup", r.Params.IdempotencyKey, r.Body, http.StatusCreated, func(key string) (any, error) {
		draft.Key = key
		return h.core.CreateGroup(ctx, callerOf(ctx), draft)
	})
}

// ListGroups serves GET /v1/groups.
func (h groupHandlers) ListGroups(ctx context.Context, r api.ListGroupsRequestObject) (api.ListGroupsResponseObject, error) {
	p := r.Params
	if p.All != nil {
		list, err := h.directory.List(ctx, callerOf(ctx), directory.Query{Q: deref(p.Q), User: deref(p.User), Sort: directory.Sort(deref(p.Sort)),
			Limit: limitOf(p.Limit), Cursor: deref(p.Cursor)})
		return allGroups{Groups: orEmpty(list.Items), Next: next(list.Next)}, err
	}
	if p.Q != nil || p.User != nil || p.Sort != nil {
		return nil, chat.Invalid("q, user and sort are for all=1")
	}
	list, err := h.core.Groups(ctx, callerOf(ctx), limitOf(r.Params.Limit), deref(r.Params.Cursor))
	return api.ListGroups200JSONResponse{Groups: orEmpty(list.Items), Total: &list.Total, Next: next(list.Next)}, err
}

// ListHeldGroups serves GET /v1/blockers.
func (h groupHandlers) ListHeldGroups(ctx context.Context, r api.ListHeldGroupsRequestObject) (api.ListHeldGroupsResponseObject, error) {
	p, err := h.directory.Held(ctx, callerOf(ctx), limitOf(r.Params.Limit), deref(r.Params.Cursor))
	return api.ListHeldGroups200JSONResponse{Groups: orEmpty(p.Groups), Looked: p.Looked, Total: p.Total, Next: next(p.Next)}, err
}

// allGroups is the answer of GET /v1/groups?all=1, which is of another kind than that without.
type allGroups struct {
	Groups []directory.Row `json:"groups"`
	Next   *string         `json:"next"`
}

// VisitListGroupsResponse implements api.ListGroupsResponseObject.
func (a allGroups) VisitListGroupsResponse(w http.ResponseWriter) error {
	w.Header().Set("Content-Type", "application/json")
	_, err := w.Write(chat.Encode(a))
	return err
}

// ListPublicGroups serves GET /v1/groups/public.
func (h groupHandlers) ListPublicGroups(ctx context.Context, r api.ListPublicGroupsRequestObject) (api.ListPublicGroupsResponseObject, error) {
	list, err := h.core.PublicGroups(ctx, callerOf(ctx), limitOf(r.Params.Limit), deref(r.Params.Cursor))
	return api.ListPublicGroups200JSONResponse{Groups: orEmpty(list.Items), Next: next(list.Next)}, err
}

// GetGroup serves GET /v1/groups/{group}.
func (h groupHandlers) GetGroup(ctx context.Context, r api.GetGroupRequestObject) (api.GetGroupResponseObject, error) {
	group, err := h.core.Group(ctx, callerOf(ctx), r.Group)
	return api.GetGroup200JSONResponse{Body: group, Headers: api.GetGroup200ResponseHeaders{ETag: new(group.Tag())}}, err
}

// UpdateGroup serves PATCH /v1/groups/{group}.
func (h groupHandlers) UpdateGroup(ctx context.Context, r api.UpdateGroupRequestObject) (api.UpdateGroupResponseObject, error) {
	match, err := ifMatch(r.Params.IfMatch)
	if err != nil {
		return nil, err
	}
	group, err := h.core.UpdateGroup(ctx, callerOf(ctx), r.Group, *r.Body, match)
	return api.UpdateGroup200JSONResponse{Body: group, Headers: api.UpdateGroup200ResponseHeaders{ETag: new(group.Tag())}}, err
}

// DeleteGroup serves DELETE /v1/groups/{group}.
func (h groupHandlers) DeleteGroup(ctx context.Context, r api.DeleteGroupRequestObject) (api.DeleteGroupResponseObject, error) {
	match, err := ifMatch(r.Params.IfMatch)
	if err != nil {
		return nil, err
	}
	return api.DeleteGroup204Response{}, h.core.DeleteGroup(ctx, callerOf(ctx), r.Group, match)
}

// ListBlockers serves GET /v1/groups/{group}/blockers.
func (h groupHandlers) ListBlockers(ctx context.Context, r api.ListBlockersRequestObject) (api.ListBlockersResponseObject, error) {
	blockers, err := h.core.Blockers(ctx, callerOf(ctx), r.Group)
	return api.ListBlockers200JSONResponse{Blockers: orEmpty(blockers)}, err
}

// PutHold serves PUT /v1/groups/{group}/hold.
func (h groupHandlers) PutHold(ctx context.Context, r api.PutHoldRequestObject) (api.PutHoldResponseObject, error) {
	hold, err := h.core.PutHold(ctx, callerOf(ctx), r.Group, r.Body.Reason)
	return api.PutHold200JSONResponse(hold), err
}

// ReleaseHold serves DELETE /v1/groups/{group}/hold.
func (h groupHandlers) ReleaseHold(ctx context.Context, r api.ReleaseHoldRequestObject) (api.ReleaseHoldResponseObject, error) {
	return api.ReleaseHold204Response{}, h.core.ReleaseHold(ctx, callerOf(ctx), r.Group)
}
