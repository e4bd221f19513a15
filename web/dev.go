package web

import (
	"crypto/subtle"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/web/api"
)

// DevSignIn is the development sign-in: anyone who knows the code of this start can sign in under any name.
type DevSignIn struct {
	Code  string // part of the link printed at start; new each time
	Issue func(user string) (token string, expires time.Time, err error)
	Off   func() bool // whether it is off by now; nil: never
}

// devToken signs a token for any name, for callers who know the code. The configuration allows it only on a loopback address
// with the embedded store. It only answers requests from this host: not those of other sites, even if they rebind their name
// to 127.0.0.1, and not those that a proxy on this host has marked. Clients behind a proxy that marks nothing lack the code.
func (s *Server) devToken(c echo.Context) error {
	r := c.Request()
	if s.opt.Dev.Off != nil && s.opt.Dev.Off() {
		return errNoRoute
	}
	if !sameHost(r) || otherSite(r) || !s.opt.Origins.Same(r) {
		return chat.Errorf(chat.CodeForbidden, "the development sign-in works only on this host, from its own page")
	}
	var draft api.DevDraft
	if err := c.Bind(&draft); err != nil {
		return err
	}
	if err := chat.CheckUserID("user", draft.User); err != nil {
		return err
	}
	code := ""
	if draft.Code != nil {
		code = *draft.Code
	}
	if subtle.ConstantTimeCompare([]byte(code), []byte(s.opt.Dev.Code)) != 1 {
		return chat.Errorf(chat.CodeForbidden, "wrong or expired sign-in code: open the link that chatd printed when it started")
	}
	token, expires, err := s.opt.Dev.Issue(draft.User)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, api.DevToken{Token: token, ExpiresAt: chat.Time{Time: expires}})
}

// otherSite reports whether a browser says that a page of another origin made the request.
func otherSite(r *http.Request) bool {
	site := r.Header.Get("Sec-Fetch-Site")
	return site != "" && site != "same-origin" && site != "none"
}
