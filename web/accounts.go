package web

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/accounts"
	"github.com/chatd/chatd/chat/keys"
	"github.com/chatd/chatd/chat/profiles"
	"github.com/chatd/chatd/web/api"
	"github.com/chatd/chatd/web/auth"
	"github.com/chatd/chatd/web/origin"
)

// accountHandlers sign people in. Whatever way a sign-in takes, it ends in answer, with the same cookie.
type accountHandlers struct {
	accounts *accounts.Service // nil: there are none, and the routes do not exist
	verify   auth.Verify
	origins  *origin.Policy
	proxies  origin.Proxies
	profiles *profiles.Service
}

// registerAccounts adds the routes that need no access token.
func (h accountHandlers) registerAccounts(e *echo.Echo) {
	for path, serve := range map[string]map[string]echo.HandlerFunc{
		"/v1/accounts":       {http.MethodPost: h.register},
		"/v1/tokens":         {http.MethodPost: h.signIn, http.MethodDelete: h.signOut},
		"/v1/tokens/refresh": {http.MethodPost: h.refresh},
	} {
		for method, handler := range serve {
			if h.accounts == nil {
				handler = func(echo.Context) error { return errNoAccounts }
			}
			e.Add(method, path, handler)
		}
	}
}

var errNoAccounts = chat.Errorf(chat.CodeNotFound, "this server has no accounts")

// there refuses calls where there are no accounts.
func (h accountHandlers) there() error {
	if h.accounts == nil {
		return errNoAccounts
	}
	return nil
}

// register serves POST /v1/accounts.
func (h accountHandlers) register(c echo.Context) error {
	var draft api.AccountDraft
	if err := c.Bind(&draft); err != nil {
		return err
	}
	var by *chat.Caller // an operator
	admin := deref(draft.Role) == "admin"
	if draft.Role != nil && !admin {
		return chat.Invalid("role: want admin, or leave it out")
	}
	if c.Request().Header.Get("Authorization") != "" {
		who, err := h.verify.Identify(c.Request(), h.proxies.Address(c.Request()))
		if err != nil {
			return err
		}
		if who.Key == nil && who.Admin || who.Key != nil && who.User == "" && who.Key.Has(keys.Users) && !who.Key.Bound() && !admin {
			by = new(who.Caller())
		}
	}
	if admin && by == nil {
		return chat.Errorf(chat.CodeForbidden, "role: only operators (role admin) make operators")
	}
	err := h.accounts.Register(c.Request().Context(), accounts.Draft{
		User: draft.User, Password: draft.Password, Code: deref(draft.Code), Name: deref(draft.Name), Admin: admin,
	}, by)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusCreated, api.Account{User: draft.User})
}

// signIn serves POST /v1/tokens.
func (h accountHandlers) signIn(c echo.Context) error {
	var draft api.SignIn
	if err := c.Bind(&draft); err != nil {
		return err
	}
	r, cookie := c.Request(), deref(draft.Cookie)
	if cookie && (otherSite(r) || !h.origins.Same(r)) {
		return chat.Errorf(chat.CodeForbidden, "cookie: only a page of this server may ask for it")
	}
	var pair accounts.Pair
	var err error
	switch {
	case draft.Code != nil:
		pair, err = h.accounts.Redeem(r.Context(), accounts.Redemption{
			Code: *draft.Code, User: deref(draft.User), Password: deref(draft.Password), Name: deref(draft.Name),
		}, h.client(r))
	case draft.User == nil || draft.Password == nil || draft.Name != nil:
		err = chat.Invalid("want user and password, or code")
	default:
		pair, err = h.accounts.Login(r.Context(), *draft.User, *draft.Password, h.client(r))
	}
	if err != nil {
		return err
	}
	return h.answer(c, pair, cookie)
}

// client is where a request comes from.
func (h accountHandlers) client(r *http.Request) accounts.Client {
	return accounts.Client{Address: h.proxies.Address(r), Agent: strings.ToValidUTF8(r.UserAgent(), "")}
}

// answer answers with tokens, the refresh token in the cookie if that is asked for.
func (h accountHandlers) answer(c echo.Context, pair accounts.Pair, cookie bool) error {
	tokens := api.TokenPair{Token: pair.Token, ExpiresAt: chat.Time{Time: pair.Expires}}
	if cookie {
		h.setRefresh(c, pair)
	} else {
		tokens.Refresh = &pair.Refresh
	}
	return c.JSON(http.StatusOK, tokens)
}

// Names of the cookie: browsers take one with the prefix only over TLS, and for this host alone.
const (
	cookieName      = "__Host-chatd"
	cookieNameLocal = "chatd"
)

// cookieOf is the name of the cookie for a request.
func (h accountHandlers) cookieOf(r *http.Request) string {
	if strings.HasPrefix(h.origins.Of(r), "http://") && IsLoopback(r.Host) {
		return cookieNameLocal
	}
	return cookieName
}

// setRefresh sets the cookie to the refresh token of a pair.
func (h accountHandlers) setRefresh(c echo.Context, pair accounts.Pair) {
	h.setCookie(c, pair.Refresh, int(time.Until(pair.Until)/time.Second))
}

// setCookie sets the cookie for so many seconds; below 0 it goes. Pages cannot read it, and other sites cannot have it sent.
func (h accountHandlers) setCookie(c echo.Context, value string, seconds int) {
	name := h.cookieOf(c.Request())
	c.SetCookie(&http.Cookie{
		Name: name, Value: value, Path: "/", MaxAge: seconds, HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: name == cookieName,
	})
}

// refreshOf is the refresh token of a request: of the body, else of the cookie, which counts only where a page of this server asks.
func (h accountHandlers) refreshOf(c echo.Context) (token string, cookie bool, err error) {
	var body api.RefreshToken
	if err := c.Bind(&body); err != nil && !errors.Is(err, io.EOF) {
		return "", false, err
	}
	if body.Refresh != nil {
		return *body.Refresh, false, nil
	}
	r := c.Request()
	if kept, err := r.Cookie(h.cookieOf(r)); err == nil && h.origins.Shows(r) && !otherSite(r) {
		return kept.Value, true, nil
	}
	return "", false, nil
}

var errNoRefresh = chat.Errorf(chat.CodeUnauthenticated, "no refresh token: neither in the body nor in a cookie of this site")

// refresh serves POST /v1/tokens/refresh.
func (h accountHandlers) refresh(c echo.Context) error {
	token, cookie, err := h.refreshOf(c)
	if err != nil {
		return err
	}
	if token == "" {
		return errNoRefresh
	}
	pair, err := h.accounts.Refresh(c.Request().Context(), token)
	if cookie && errors.Is(err, auth.ErrNoToken) { // it will not hold again
		h.setCookie(c, "", -1)
	}
	if err != nil {
		return err
	}
	return h.answer(c, pair, cookie)
}

// signOut serves DELETE /v1/tokens.
func (h accountHandlers) signOut(c echo.Context) error {
	r := c.Request()
	token, cookie, err := h.refreshOf(c)
	if err != nil {
		return err
	}
	if r.Header.Get("Authorization") != "" {
		if err := h.endCurrent(r); err != nil {
			return err
		}
	} else if token == "" {
		return errNoRefresh
	}
	if err := h.accounts.Logout(r.Context(), token); err != nil {
		return err
	}
	if cookie {
		h.setCookie(c, "", -1)
	}
	return c.NoContent(http.StatusNoContent)
}

// endCurrent ends the login of the access token of a request.
func (h accountHandlers) endCurrent(r *http.Request) error {
	who, err := h.verify.Identify(r, h.proxies.Address(r))
	if err != nil {
		return err
	}
	if who.Login == "" {
		return chat.Invalid("the token is of no login: whoever issues it ends it")
	}
	err = h.accounts.EndLogin(r.Context(), who.Caller(), who.User, who.Login)
	if errors.Is(err, chat.ErrNotFound) { // it is done
		return nil
	}
	return err
}

// ChangePassword serves PUT /v1/me/password.
func (h accountHandlers) ChangePassword(ctx context.Context, r api.ChangePasswordRequestObject) (api.ChangePasswordResponseObject, error) {
	if err := h.there(); err != nil {
		return nil, err
	}
	by := callOf(ctx)
	if by.key != nil {
		return nil, chat.Errorf(chat.CodeForbidden, "a key cannot change the password of a user")
	}
	return api.ChangePassword204Response{}, h.accounts.ChangePassword(ctx, by.by.User, r.Body.Old, r.Body.New, by.who.Login, h.proxies.Address(by.request))
}

// ListLogins serves GET /v1/me/logins.
func (h accountHandlers) ListLogins(ctx context.Context, _ api.ListLoginsRequestObject) (api.ListLoginsResponseObject, error) {
	if err := h.there(); err != nil {
		return nil, err
	}
	list, err := h.accounts.Logins(ctx, callerOf(ctx).User, callOf(ctx).who.Login)
	return api.ListLogins200JSONResponse{Logins: orEmpty(list)}, err
}

// EndOtherLogins serves DELETE /v1/me/logins.
func (h accountHandlers) EndOtherLogins(ctx context.Context, _ api.EndOtherLoginsRequestObject) (api.EndOtherLoginsResponseObject, error) {
	if err := h.there(); err != nil {
		return nil, err
	}
	return api.EndOtherLogins204Response{}, h.accounts.EndOthers(ctx, callerOf(ctx).User, callOf(ctx).who.Login)
}

// EndLogin serves DELETE /v1/me/logins/{login}.
func (h accountHandlers) EndLogin(ctx context.Context, r api.EndLoginRequestObject) (api.EndLoginResponseObject, error) {
	if err := h.there(); err != nil {
		return nil, err
	}
	return api.EndLogin204Response{}, h.accounts.EndLogin(ctx, callerOf(ctx), callerOf(ctx).User, r.Login)
}

// ListUserLogins serves GET /v1/users/{user}/logins.
func (h accountHandlers) ListUserLogins(ctx context.Context, r api.ListUserLoginsRequestObject) (api.ListUserLoginsResponseObject, error) {
	if err := h.there(); err != nil {
		return nil, err
	}
	list, err := h.accounts.Logins(ctx, r.User, "")
	return api.ListUserLogins200JSONResponse{Logins: orEmpty(list)}, err
}

// EndUserLogin serves DELETE /v1/users/{user}/logins/{login}.
func (h accountHandlers) EndUserLogin(ctx context.Context, r api.EndUserLoginRequestObject) (api.EndUserLoginResponseObject, error) {
	if err := h.there(); err != nil {
		return nil, err
	}
	return api.EndUserLogin204Response{}, h.accounts.EndLogin(ctx, callerOf(ctx), r.User, r.Login)
}

// CreateCode serves POST /v1/users/{user}/codes.
func (h accountHandlers) CreateCode(ctx context.Context, r api.CreateCodeRequestObject) (api.CreateCodeResponseObject, error) {
	if err := h.there(); err != nil {
		return nil, err
	}
	code, err := h.accounts.MakeCode(ctx, callerOf(ctx), r.User, string(r.Body.Kind), callOf(ctx).key == nil)
	if err != nil {
		return nil, err
	}
	return api.CreateCode201JSONResponse{
		Code: code.Code, Url: h.origins.Of(callOf(ctx).request) + "/#" + string(r.Body.Kind) + "=" + code.Code, ExpiresAt: chat.Time{Time: code.Expires},
	}, nil
}

// ListAccounts serves GET /v1/accounts.
func (h accountHandlers) ListAccounts(ctx context.Context, r api.ListAccountsRequestObject) (api.ListAccountsResponseObject, error) {
	if err := h.there(); err != nil {
		return nil, err
	}
	page, err := h.accounts.List(ctx, deref(r.Params.Cursor))
	if err != nil {
		return nil, err
	}
	seen, err := h.profiles.LastSeen(ctx, each(page.Accounts, func(a accounts.Account) string { return a.User }))
	for i, at := range seen {
		page.Accounts[i].LastSeenAt = at
	}
	return api.ListAccounts200JSONResponse{Accounts: page.Accounts, Next: next(page.Next)}, err
}
