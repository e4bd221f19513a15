package web

import (
	"net/http"
	"net/url"

	"github.com/labstack/echo/v4"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/web/api"
	"github.com/chatd/chatd/web/wire"
)

// devToken signs anyone in under any name. It is there only where New got an Issue, which the configuration allows on a
// loopback address with the embedded store; and it answers only what was made on this host: a page of another site, also
// one that rebinds its name to 127.0.0.1, gets nothing.
func (s *Server) devToken(c echo.Context) error {
	r := c.Request()
	if !sameHost(r) || !sameOrigin(r) {
		return chat.Errorf(chat.CodeForbidden, "the development sign-in is for this host and its own page")
	}
	var draft api.DevDraft
	if err := c.Bind(&draft); err != nil {
		return err
	}
	if !chat.ValidID(draft.User) {
		return wire.ErrID("user")
	}
	token, expires, err := s.opt.Issue(draft.User)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, api.DevToken{Token: token, ExpiresAt: chat.Time{Time: expires}})
}

// sameOrigin tells whether a request comes from a page of this very server, or from no page at all.
func sameOrigin(r *http.Request) bool {
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" && site != "none" {
		return false
	}
	origin := r.Header.Get("Origin")
	if origin == "" {
		return true
	}
	u, err := url.Parse(origin)
	return err == nil && u.Host != "" && u.Host == r.Host
}
