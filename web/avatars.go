package web

import (
	"context"
	"errors"
	"mime"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/files"
	"github.com/chatd/chatd/chat/profiles"
	"github.com/chatd/chatd/web/api"
)

// registerAvatars adds the routes that speak of bytes, and so are no part of the generated server.
func (h meHandlers) registerAvatars(e *echo.Echo) {
	e.PUT("/v1/me/avatar", h.putAvatar)
	e.GET("/avatars/:hash", h.getAvatar)
}

// putAvatar serves PUT /v1/me/avatar.
func (h meHandlers) putAvatar(c echo.Context) error {
	ctx := c.Request().Context()
	if value := c.Request().Header.Get(echo.HeaderContentType); value != "" {
		media, _, err := mime.ParseMediaType(value)
		if err != nil || !strings.HasPrefix(media, "image/") && media != echo.MIMEOctetStream {
			return unsupported("content type: want image/png, image/jpeg, image/gif or image/webp")
		}
	}
	body, err := readBody(c, profiles.UploadBytesMax)
	if err != nil {
		return err
	}
	if len(body) == 0 {
		return chat.Invalid("the request body must be a picture")
	}
	if err := turnOf(c).come(ctx); err != nil {
		return err
	}
	turnOf(c).leave() // pictures are decoded one after the other
	me, err := h.profiles.PutAvatar(ctx, callerOf(ctx).User, body)
	if errors.Is(err, files.ErrNotPicture) {
		return unsupported(files.ErrNotPicture.Message)
	}
	if err != nil {
		return err
	}
	return meAnswer(ctx, me).VisitGetMeResponse(c.Response())
}

// DeleteAvatar serves DELETE /v1/me/avatar.
func (h meHandlers) DeleteAvatar(ctx context.Context, _ api.DeleteAvatarRequestObject) (api.DeleteAvatarResponseObject, error) {
	return api.DeleteAvatar204Response{}, h.profiles.DeleteAvatar(ctx, callerOf(ctx).User)
}

// getAvatar serves GET and HEAD /avatars/{hash}. An address never shows another picture.
func (h meHandlers) getAvatar(c echo.Context) error {
	id := pathValue(c, "hash")
	a, err := h.profiles.Avatar(c.Request().Context(), id)
	if errors.Is(err, chat.ErrNotFound) {
		return chat.Errorf(chat.CodeNotFound, "no such avatar")
	}
	if err != nil {
		return err
	}
	header, tag := c.Response().Header(), `"`+id+`"`
	header.Set("Content-Security-Policy", filePolicy)
	header.Set("Cache-Control", immutable)
	header.Set("ETag", tag)
	if c.Request().Header.Get("If-None-Match") == tag {
		return c.NoContent(http.StatusNotModified)
	}
	return c.Blob(http.StatusOK, a.Type, a.Content)
}
