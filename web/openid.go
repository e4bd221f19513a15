package web

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/accounts"
	"github.com/chatd/chatd/web/oidc"
)

const (
	oidcLoginPath    = "/v1/oidc/login"
	oidcCallbackPath = "/v1/oidc/callback"
)

// openIDHandlers sign people in by an OpenID Connect provider.
type openIDHandlers struct {
	accountHandlers
	provider *oidc.Provider // nil: there is none, and the routes do not exist
}

// registerOpenID adds the two routes, which browsers go to.
func (h openIDHandlers) registerOpenID(e *echo.Echo) {
	login, callback := h.login, h.callback
	if h.provider == nil {
		absent := func(echo.Context) error {
			return chat.Errorf(chat.CodeNotFound, "this server signs nobody in by OpenID Connect")
		}
		login, callback = absent, absent
	}
	e.GET(oidcLoginPath, login)
	e.GET(oidcCallbackPath, callback)
}

// login serves GET /v1/oidc/login.
func (h openIDHandlers) login(c echo.Context) error {
	r := c.Request()
	back := c.QueryParam("return")
	if back != "" {
		u, err := url.Parse(back)
		switch {
		case err != nil || u.Host == "" || u.User != nil || u.Fragment != "" || len(back) > returnBytesMax:
			return chat.Invalid("return: want the address of a page, without a fragment, of at most %d bytes", returnBytesMax)
		case !h.origins.Lists(u.Scheme + "://" + u.Host):
			return chat.Errorf(chat.CodeForbidden, "return: its origin is not in CHATD_ORIGINS")
		}
	}
	where, sealed, err := h.provider.Begin(r.Context(), h.origins.Of(r)+oidcCallbackPath, back)
	if err != nil {
		return err
	}
	h.setPending(c, sealed, int(oidc.TimeMax/time.Second))
	return leadTo(c, where)
}

// returnBytesMax is the longest address that a sign-in may lead back to.
const returnBytesMax = 1000

// callback serves GET /v1/oidc/callback, to which the provider leads the browser.
func (h openIDHandlers) callback(c echo.Context) error {
	r := c.Request()
	sealed := ""
	if kept, err := r.Cookie(h.pendingName(r)); err == nil {
		sealed = kept.Value
	}
	who, back, err := h.provider.End(r.Context(), c.QueryParams(), sealed)
	if err != nil {
		return err
	}
	h.setPending(c, "", -1)
	by := accounts.Provider{Issuer: h.provider.Issuer(), Subject: who.Subject}
	if back != "" { // another site's page, which the cookie is not for
		code, err := h.accounts.MakeCodeBy(r.Context(), by, who.User)
		if err != nil {
			return err
		}
		return leadTo(c, back+"#code="+code.Code)
	}
	pair, err := h.accounts.SignInBy(r.Context(), by, who.User, h.client(r))
	if err != nil {
		return err
	}
	h.setRefresh(c, pair)
	return leadTo(c, "/")
}

// leadTo leads the browser to an address, which others must not learn from it.
func leadTo(c echo.Context, where string) error {
	c.Response().Header().Set("Cache-Control", "no-store")
	c.Response().Header().Set("Referrer-Policy", "no-referrer")
	return c.Redirect(http.StatusSeeOther, where)
}

// pendingName is the name of the cookie with which a sign-in that is under way stays with its browser: another page could otherwise
// sign someone in as somebody else. It is no credential, and comes back from the provider's site, so it is not strict.
func (h openIDHandlers) pendingName(r *http.Request) string { return h.cookieOf(r) + "-oidc" }

func (h openIDHandlers) setPending(c echo.Context, value string, seconds int) {
	name := h.pendingName(c.Request())
	c.SetCookie(&http.Cookie{
		Name: name, Value: value, Path: "/", MaxAge: seconds, HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: strings.HasPrefix(name, cookieName),
	})
}
