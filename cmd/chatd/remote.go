package main

import (
	"context"
	"encoding/json"
	"time"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/node"
)

// access says which server a command calls and by what: the same for all commands that call one.
type access struct {
	URL   string `name:"url" env:"CHATD_URL" help:"URL of the server, such as https://chat.example.com, or the name of a login. Default: the server of the login in use; without one, the configured address on this host."`
	Token string `env:"CHATD_TOKEN" help:"Token, or key of a program. Default: the login at the server (chatd login)."`
}

// find returns the URL that a command calls, and the login that it uses: nil if a token was passed, or if none fits. A token
// that was passed goes to no server that only a login names.
func (a access) find(c node.Config, fits func(login) bool) (url string, l *login, err error) {
	all, err := readLogins()
	if err != nil {
		return "", nil, err
	}
	named := a.URL != "" && !isURL(a.URL)
	switch found := all.find(a.URL); {
	case named && found == nil:
		return "", nil, coded(exitUsage, "-url: there is no login named %q; name one, or give a URL such as https://chat.example.com", a.URL)
	case a.Token != "" && named:
		return found.URL, nil, nil
	case a.Token == "" && found != nil && fits(*found):
		return found.URL, found, nil
	case a.URL != "" && !named:
		return a.URL, nil, nil
	case named:
		return found.URL, nil, nil
	}
	url, err = node.URL(c.Addr)
	return url, nil, err
}

// dial returns the server, and what to call it in errors. own makes tokens where there are neither a token nor a login.
func (a access) dial(c node.Config, fits func(login) bool, own func(at callee) (client.TokenSource, error), opts ...client.Option) (*client.Client, callee, error) {
	url, l, err := a.find(c, fits)
	if err != nil {
		return nil, callee{}, err
	}
	at := callee{url: url}
	var tokens client.TokenSource
	switch {
	case a.Token != "":
		tokens, at.user = client.StaticToken(a.Token), subject(a.Token, c.JWTUserClaim)
	case l != nil:
		tokens, at.user, at.by = (&loginTokens{name: l.Name}).token, l.User, byLogin
	default:
		at.by = bySecret
		if tokens, err = own(at); err != nil {
			return nil, at, err
		}
	}
	server, err := client.New(url, tokens, opts...)
	if err != nil {
		return nil, at, coded(exitUsage, "-url: %w", err)
	}
	return server, at, nil
}

const (
	operator         = "operator" // the user of the tokens that these commands make
	operatorTokenTTL = time.Hour  // longer than any listing takes
)

// remote are the flags of commands that operate a running server over HTTP, so that they work wherever the store is.
type remote struct {
	access
	JSON bool `name:"json" help:"Print one JSON object per line, for programs."`
}

// connect returns the server for a command of operators: a login that is no operator's is passed over for the secret of this host.
func (r *remote) connect(c node.Config) (*client.Client, callee, error) {
	server, at, err := r.with(c, func(l login) bool { return l.Role == roleAdmin })
	at.ops = true
	return server, at, err
}

// connectAnybody returns the server for a command that is not for operators alone.
func (r *remote) connectAnybody(c node.Config) (*client.Client, callee, error) {
	return r.with(c, func(login) bool { return true })
}

func (r *remote) with(c node.Config, fits func(login) bool) (*client.Client, callee, error) {
	own := func(callee) (client.TokenSource, error) {
		token, err := c.Token(operator, roleAdmin, operatorTokenTTL)
		if err != nil {
			return nil, coded(exitSignedOut, "%w; or sign in as an operator with chatd login, or pass an operator's token with -token or CHATD_TOKEN", err)
		}
		return client.StaticToken(token), nil
	}
	// A person is waiting: one retry is enough.
	return r.dial(c, fits, own, client.WithRetry(2, client.Backoff{Base: 200 * time.Millisecond, Max: time.Second}))
}

// print writes v as a line of JSON if that was asked for, else text.
func (r *remote) print(env *environment, v any, text string) error {
	return env.printAs(r.JSON, v, text)
}

// printAs writes v as a line of JSON, or else text.
func (env *environment) printAs(asJSON bool, v any, text string) error {
	if asJSON {
		return env.printJSON(v)
	}
	return env.print("%s\n", text)
}

// printJSON writes v as a line.
func (env *environment) printJSON(v any) error {
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return env.print("%s\n", line)
}

// memberFlags say as which user a command calls a running server.
type memberFlags struct {
	access
	User string `help:"Instead, create tokens for this user with the configured or generated secret."`
}

// member returns a client of the server, and where it is and as whom it acts.
func (m memberFlags) member(c node.Config) (*client.Client, callee, error) {
	if m.User != "" {
		m.Token = ""
	}
	own := func(at callee) (client.TokenSource, error) {
		if m.User == "" {
			return nil, coded(exitSignedOut, "not signed in to %s: run chatd login -url %[1]s, or pass a token with -token or CHATD_TOKEN", at.url)
		}
		signer := &tokenSigner{sign: func() (string, error) { return c.Token(m.User, "", memberTokenTTL) }}
		if _, err := signer.token(context.Background()); err != nil {
			return nil, err
		}
		return signer.token, nil
	}
	server, at, err := m.dial(c, func(login) bool { return m.User == "" }, own)
	if m.User != "" {
		at.user = m.User
	}
	return server, at, err
}
