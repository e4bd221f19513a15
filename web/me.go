package web

import (
	"context"
	"net/http"
	"strconv"

	"github.com/chatd/chatd/chat/profiles"
	"github.com/chatd/chatd/web/api"
)

type meHandlers struct {
	profiles *profiles.Service
}

// GetMe serves GET /v1/me.
func (h meHandlers) GetMe(ctx context.Context, _ api.GetMeRequestObject) (api.GetMeResponseObject, error) {
	me, err := h.profiles.Get(ctx, callerOf(ctx).User)
	return meAnswer(ctx, me), err
}

// UpdateMe serves PATCH /v1/me.
func (h meHandlers) UpdateMe(ctx context.Context, r api.UpdateMeRequestObject) (api.UpdateMeResponseObject, error) {
	match, err := versionMatch(r.Params.IfMatch)
	if err != nil {
		return nil, err
	}
	shown, err := presenceOf(r.Body.Presence)
	if err != nil {
		return nil, err
	}
	c := profiles.Change{Name: r.Body.Name, Picture: r.Body.Picture, Data: r.Body.Data, Status: r.Body.Status, Settings: r.Body.Settings, Presence: shown}
	if r.Body.Receipts != nil {
		if err := h.profiles.Receipts.Set(ctx, callerOf(ctx).User, *r.Body.Receipts); err != nil {
			return nil, err
		}
	}
	me, err := h.profiles.Patch(ctx, callerOf(ctx).User, c, match)
	return meAnswer(ctx, me), err
}

// ownAnswer is the caller, with the version as its tag.
type ownAnswer struct{ profiles.Own }

func meAnswer(ctx context.Context, me profiles.Own) ownAnswer {
	if callerOf(ctx).Admin {
		me.Role = profiles.RoleAdmin
	}
	answerTag(ctx, versionTag(me.Version))
	return ownAnswer{me}
}

func (a ownAnswer) VisitGetMeResponse(w http.ResponseWriter) error {
	return api.GetMe200JSONResponse(a.Own).VisitGetMeResponse(w)
}
func (a ownAnswer) VisitUpdateMeResponse(w http.ResponseWriter) error { return a.VisitGetMeResponse(w) }

// versionTag is the ETag of a version.
func versionTag(version int64) string { return strconv.Quote(strconv.FormatInt(version, 10)) }

// versionMatch is ifMatch for versions.
func versionMatch(header *string) (func(version int64) bool, error) {
	match, err := ifMatch(header)
	if match == nil || err != nil {
		return nil, err
	}
	return func(version int64) bool { return match(versionTag(version)) }, nil
}
