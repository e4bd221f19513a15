package client

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"sync"
	"time"
)

// AccountDraft is a registration.
type AccountDraft struct {
	User     string `json:"user"`
	Password string `json:"password"`
	Name     string `json:"name,omitempty"`
	Code     string `json:"code,omitempty"` // of an invitation
	Role     string `json:"role,omitempty"` // "admin" makes an operator; for operators
}

// Credentials sign somebody in: User and Password, or a Code with what it asks for, and a Name for others to see.
type Credentials struct {
	User     string `json:"user,omitempty"`
	Password string `json:"password,omitempty"`
	Code     string `json:"code,omitempty"`
	Name     string `json:"name,omitempty"`
}

// AccountLogin is one signed-in device of the caller.
type AccountLogin struct {
	ID         string    `json:"id"`
	CreatedAt  time.Time `json:"created_at"`
	LastUsedAt time.Time `json:"last_used_at"`
	Address    string    `json:"address"` // where the sign-in came from
	Agent      string    `json:"agent"`   // what the client called itself then
	Current    bool      `json:"current"` // the one of the caller's token
}

// UserCode signs a user in once, without the password.
type UserCode struct {
	Code      string    `json:"code"`
	URL       string    `json:"url"` // opens the page
	ExpiresAt time.Time `json:"expires_at"`
}

// Register makes an account. It needs no token where anybody may register; see [NoToken].
func (c *Client) Register(ctx context.Context, draft AccountDraft) error {
	return c.do(ctx, call{method: http.MethodPost, path: []string{"accounts"}, body: draft}, nil)
}

// ChangePassword changes the caller's password, which ends all other logins.
func (c *Client) ChangePassword(ctx context.Context, old, password string) error {
	body := map[string]string{"old": old, "new": password}
	return c.do(ctx, call{method: http.MethodPut, path: []string{"me", "password"}, body: body}, nil)
}

// Logins lists the devices on which the caller is signed in, the last used first.
func (c *Client) Logins(ctx context.Context) ([]AccountLogin, error) {
	answer, err := answerTo[struct{ Logins []AccountLogin }](ctx, c, call{method: http.MethodGet, path: []string{"me", "logins"}, again: true})
	return answer.Logins, err
}

// EndLogin ends a login of the caller; "": all but the one of the caller's token.
func (c *Client) EndLogin(ctx context.Context, id string) error {
	path := []string{"me", "logins"}
	if id != "" {
		path = append(path, id)
	}
	return c.do(ctx, call{method: http.MethodDelete, path: path, again: id == ""}, nil)
}

// CreateCode makes a code for a user, for operators: kind is reset (a new password) or link (a sign-in).
func (c *Client) CreateCode(ctx context.Context, user, kind string) (UserCode, error) {
	return answerTo[UserCode](ctx, c, call{method: http.MethodPost, path: []string{"users", user, "codes"}, body: map[string]string{"kind": kind}})
}

// NoToken is a TokenSource of a client that only makes calls without a token.
func NoToken(context.Context) (string, error) { return "", nil }

// refreshBefore is how long before its end an access token is replaced.
const refreshBefore = time.Minute

// Login is a login of a user who has an account at the server. Its Token is a TokenSource, which gets new tokens as they are needed.
// It is safe for concurrent use.
type Login struct {
	server *Client

	mu      sync.Mutex
	token   string
	expires time.Time
	refresh string
}

type tokenPair struct {
	Token     string    `json:"token"`
	ExpiresAt time.Time `json:"expires_at"`
	Refresh   string    `json:"refresh"`
}

// SignIn signs in at the server of baseURL. The options are those of [New].
func SignIn(ctx context.Context, baseURL string, with Credentials, opts ...Option) (*Login, error) {
	l, err := ResumeLogin(baseURL, "", opts...)
	if err != nil {
		return nil, err
	}
	return l, l.ask(ctx, call{method: http.MethodPost, path: []string{"tokens"}, body: with})
}

// ResumeLogin goes on with a login whose newest refresh token was kept.
func ResumeLogin(baseURL, refresh string, opts ...Option) (*Login, error) {
	server, err := New(baseURL, NoToken, opts...)
	return &Login{server: server, refresh: refresh}, err
}

func (l *Login) ask(ctx context.Context, call call) error {
	pair, err := answerTo[tokenPair](ctx, l.server, call)
	if err == nil {
		l.token, l.expires, l.refresh = pair.Token, pair.ExpiresAt, cmp.Or(pair.Refresh, l.refresh)
	}
	return err
}

func (l *Login) refreshCall(method string, path ...string) call {
	// A refresh token that was used gives the same tokens again for a minute.
	return call{method: method, path: path, body: map[string]string{"refresh": l.refresh}, again: true}
}

// Token is a TokenSource.
func (l *Login) Token(ctx context.Context) (string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if time.Until(l.expires) < refreshBefore {
		if err := l.ask(ctx, l.refreshCall(http.MethodPost, "tokens", "refresh")); err != nil {
			return "", err
		}
	}
	return l.token, nil
}

// RefreshToken is the newest refresh token, for [ResumeLogin]. It is a secret.
func (l *Login) RefreshToken() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.refresh
}

// SignOut ends the login.
func (l *Login) SignOut(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.expires = time.Time{}
	return l.server.do(ctx, l.refreshCall(http.MethodDelete, "tokens"), nil)
}

// DevToken gets a token for any user where the development sign-in is on; code is that of the link which the server printed when it
// started. It needs no token; see [NoToken].
func (c *Client) DevToken(ctx context.Context, user, code string) (string, error) {
	answer, err := answerTo[tokenPair](ctx, c, call{method: http.MethodPost, path: []string{"dev", "token"}, body: map[string]string{"user": user, "code": code}, again: true})
	return answer.Token, err
}

// Account is an account of somebody, for operators.
type Account struct {
	User      string    `json:"user"`
	Role      string    `json:"role,omitempty"` // "admin" for operators
	CreatedAt time.Time `json:"created_at"`
	Logins    int       `json:"logins"` // how many devices are signed in
	// LastSeenAt is when the user was last there; nil: never, as far as is known.
	LastSeenAt *time.Time `json:"last_seen_at"`
	Disabled   bool       `json:"disabled"`
}

// Accounts lists the accounts, in no particular order, for operators. next is empty at the end.
func (c *Client) Accounts(ctx context.Context, cursor string) (list []Account, next string, err error) {
	query := url.Values{}
	if cursor != "" {
		query.Set("cursor", cursor)
	}
	answer, err := answerTo[struct {
		Accounts []Account
		Next     string
	}](ctx, c, call{method: http.MethodGet, path: []string{"accounts"}, query: query, again: true})
	return answer.Accounts, answer.Next, err
}
