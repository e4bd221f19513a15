package web

import (
	"context"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/invite"
	"github.com/chatd/chatd/web/api"
	"github.com/chatd/chatd/web/origin"
)

type inviteHandlers struct {
	core    *chat.Service
	invites *invite.Service
	origins *origin.Policy
}

// CreateInvite serves POST /v1/invites.
func (h inviteHandlers) CreateInvite(ctx context.Context, r api.CreateInviteRequestObject) (api.CreateInviteResponseObject, error) {
	b := r.Body
	draft := invite.Draft{Group: b.Group, Uses: b.Uses, Note: deref(b.Note)}
	if b.Role != nil {
		draft.Role = new(chat.Role(*b.Role))
	}
	if b.ExpiresAt != nil {
		at, ok := chat.ParseTime(*b.ExpiresAt)
		if !ok {
			return nil, chat.Invalid("expires_at: want a time as in RFC 3339")
		}
		draft.ExpiresAt = new(chat.TimeMs(at.UnixMilli()))
	}
	return keyedSecret(ctx, h.core, "createInvite", r.Params.IdempotencyKey, r.Body, http.StatusCreated, func(retry string) (made, secret any, _ error) {
		v, err := h.invites.Create(ctx, callerOf(ctx), draft, retry)
		once := struct {
			Code string `json:"code,omitempty"`
			URL  string `json:"url,omitempty"`
		}{Code: v.Code}
		if v.Code != "" {
			once.URL = h.origins.Of(callOf(ctx).request) + "/#invite=" + v.Code
		}
		v.Code = ""
		return v, once, err
	})
}

// ListInvites serves GET /v1/invites.
func (h inviteHandlers) ListInvites(ctx context.Context, r api.ListInvitesRequestObject) (api.ListInvitesResponseObject, error) {
	list, err := h.invites.List(ctx, callerOf(ctx), deref(r.Params.Group), limitOf(r.Params.Limit), deref(r.Params.Cursor))
	return api.ListInvites200JSONResponse{Invites: orEmpty(list.Items), Next: next(list.Next)}, err
}

// DeleteInvite serves DELETE /v1/invites/{invite}.
func (h inviteHandlers) DeleteInvite(ctx context.Context, r api.DeleteInviteRequestObject) (api.DeleteInviteResponseObject, error) {
	return api.DeleteInvite204Response{}, h.invites.Revoke(ctx, callerOf(ctx), r.Invite)
}

// AcceptInvite serves POST /v1/invites/accept.
func (h inviteHandlers) AcceptInvite(ctx context.Context, r api.AcceptInviteRequestObject) (api.AcceptInviteResponseObject, error) {
	group, err := h.invites.Accept(ctx, callerOf(ctx), r.Body.Code)
	return api.AcceptInvite200JSONResponse(group), err
}

// CheckInvite serves POST /v1/invites/check, for people who have no token yet.
func (h inviteHandlers) CheckInvite(c echo.Context) error {
	var asked api.InviteCode
	if err := c.Bind(&asked); err != nil {
		return err
	}
	shown, err := h.invites.Check(c.Request().Context(), asked.Code)
	if err != nil {
		return err
	}
	shown.Server = h.origins.Of(c.Request())
	return c.JSON(http.StatusOK, shown)
}
