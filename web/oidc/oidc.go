// Package oidc signs people in by an OpenID Connect provider: authorization code flow with PKCE (RFC 7636), as a confidential or a
// public client. It keeps nothing: what a sign-in that is under way needs lies sealed at the browser.
package oidc

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/internal/egress"
)

// TimeMax is how long a sign-in at the provider may take.
const TimeMax = 10 * time.Minute

const (
	answerBytesMax = 1 << 20
	callTimeout    = 10 * time.Second
)

// The claims that may become the id of a user.
const (
	BySubject = "sub"
	ByEmail   = "email"
	ByName    = "preferred_username"
)

// UserClaims are they.
var UserClaims = []string{BySubject, ByEmail, ByName}

// Options says which provider signs people in.
type Options struct {
	Issuer   string // its URL, as it names itself
	ClientID string
	Secret   string         // empty: a public client
	User     string         // one of UserClaims
	Egress   []netip.Prefix // networks that may be reached though they are not public
	Keys     [][]byte       // secrets, the same at all nodes: what one seals with the first, another opens with any
	Now      func() time.Time
	Log      *slog.Logger
}

// Person is who signed in.
type Person struct {
	User    string // their id here
	Subject string // and at the provider, which is the same for ever
	Name    string // "" where the provider says none
}

// Provider is a provider that signs people in. It need not be reachable before someone does.
type Provider struct {
	opt    Options
	client *http.Client
	seal   sealer

	mu    sync.Mutex // held while the provider is looked up
	known *oidc.Provider
}

// CheckIssuer refuses what cannot be the URL of a provider, or could never be reached.
func CheckIssuer(issuer string, allow []netip.Prefix) error {
	_, err := egress.CheckURL(issuer, allow)
	return err
}

// New makes a Provider. It does not call the provider.
func New(opt Options) (*Provider, error) {
	if err := CheckIssuer(opt.Issuer, opt.Egress); err != nil {
		return nil, err
	}
	seal, err := newSealer(opt.Keys)
	if err != nil {
		return nil, err
	}
	client := egress.Client(opt.Egress, answerBytesMax)
	client.Timeout = callTimeout
	return &Provider{opt: opt, client: client, seal: seal}, nil
}

// Issuer is the URL of the provider.
func (p *Provider) Issuer() string { return p.opt.Issuer }

// flow is a sign-in that is under way.
type flow struct {
	State    string
	Nonce    string
	Verifier string // of PKCE
	Callback string
	Back     string // where the person comes from
	EndsS    int64  // Unix seconds
}

// Begin begins a sign-in that ends at the URL callback. The browser is to go to where, and to keep sealed for the callback.
// CodeUnavailable: the provider cannot be reached.
func (p *Provider) Begin(ctx context.Context, callback, back string) (where, sealed string, err error) {
	provider, err := p.provider(ctx)
	if err != nil {
		return "", "", err
	}
	f := flow{State: rand.Text(), Nonce: rand.Text(), Verifier: oauth2.GenerateVerifier(), Callback: callback, Back: back,
		EndsS: p.opt.Now().Add(TimeMax).Unix()}
	if sealed, err = p.seal.seal(f); err != nil {
		return "", "", err
	}
	where = p.oauth(provider, callback).AuthCodeURL(f.State, oidc.Nonce(f.Nonce), oauth2.S256ChallengeOption(f.Verifier))
	return where, sealed, nil
}

var (
	errFlow = chat.Errorf(chat.CodeInvalid, "state: this sign-in was not begun in this browser, or too long ago; begin again")
	errUser = chat.Errorf(chat.CodeForbidden, "the provider says nothing by which you could be known here")
)

// End ends a sign-in with what the provider answered by way of the browser, which kept sealed. back is what Begin got, also beside an error
// of the provider. CodeForbidden: the provider refused, or says nothing that can be an id. CodeUnavailable: it cannot be reached.
func (p *Provider) End(ctx context.Context, answer url.Values, sealed string) (who Person, back string, err error) {
	var f flow
	if !p.seal.open(sealed, &f) || f.EndsS <= p.opt.Now().Unix() || subtle.ConstantTimeCompare([]byte(f.State), []byte(answer.Get("state"))) != 1 {
		return Person{}, "", errFlow
	}
	if refused := answer.Get("error"); refused != "" {
		return Person{}, f.Back, chat.Errorf(chat.CodeForbidden, "the provider refuses: %s", short(cmp.Or(answer.Get("error_description"), refused)))
	}
	provider, err := p.provider(ctx)
	if err != nil {
		return Person{}, f.Back, err
	}
	who, err = p.redeem(ctx, provider, f, answer.Get("code"))
	return who, f.Back, err
}

// redeem exchanges the code for what the provider says of the person.
func (p *Provider) redeem(ctx context.Context, provider *oidc.Provider, f flow, code string) (Person, error) {
	ctx = oidc.ClientContext(ctx, p.client)
	tokens, err := p.oauth(provider, f.Callback).Exchange(ctx, code, oauth2.VerifierOption(f.Verifier))
	var refused *oauth2.RetrieveError
	switch {
	case errors.As(err, &refused) && refused.Response.StatusCode < http.StatusInternalServerError:
		p.opt.Log.Warn("the OpenID provider refuses a sign-in", "error", refused.ErrorCode, "description", short(refused.ErrorDescription))
		return Person{}, chat.Errorf(chat.CodeForbidden, "the provider refuses this sign-in; begin again")
	case err != nil:
		return Person{}, p.away(err)
	}
	raw, _ := tokens.Extra("id_token").(string)
	token, err := provider.Verifier(&oidc.Config{ClientID: p.opt.ClientID, Now: p.opt.Now}).Verify(ctx, raw)
	if err == nil && subtle.ConstantTimeCompare([]byte(token.Nonce), []byte(f.Nonce)) != 1 {
		err = errors.New("another nonce")
	}
	if err != nil {
		p.opt.Log.Warn("the token of the OpenID provider does not hold", "error", err)
		return Person{}, chat.Errorf(chat.CodeForbidden, "the provider's token does not hold")
	}
	var of claims
	if err := token.Claims(&of); err != nil {
		return Person{}, errUser
	}
	if !of.has(p.opt.User) && provider.UserInfoEndpoint() != "" {
		info, err := provider.UserInfo(ctx, oauth2.StaticTokenSource(tokens))
		if err != nil {
			return Person{}, p.away(err)
		}
		if info.Subject != token.Subject || info.Claims(&of) != nil {
			return Person{}, errUser
		}
	}
	who := Person{User: of.user(p.opt.User), Subject: token.Subject, Name: of.Name}
	if !chat.ValidUserID(who.User) {
		return Person{}, errUser
	}
	return who, nil
}

// claims are those that are read, of the token or of what the provider has besides.
type claims struct {
	Subject  string `json:"sub"`
	Email    string `json:"email"`
	Verified any    `json:"email_verified"` // some write it as a string
	Username string `json:"preferred_username"`
	Name     string `json:"name"`
}

func (c claims) has(claim string) bool { return c.value(claim) != "" }

func (c claims) value(claim string) string {
	switch claim {
	case ByEmail:
		return c.Email
	case ByName:
		return c.Username
	}
	return c.Subject
}

// user is the id by a claim, "" if there is none. An address counts only if the provider has verified it: anybody could name another's.
// Addresses are compared without regard to case.
func (c claims) user(claim string) string {
	if claim != ByEmail {
		return c.value(claim)
	}
	if c.Verified != true && c.Verified != "true" {
		return ""
	}
	return strings.ToLower(c.Email)
}

// oauth is the client of OAuth 2.0.
func (p *Provider) oauth(provider *oidc.Provider, callback string) *oauth2.Config {
	return &oauth2.Config{ClientID: p.opt.ClientID, ClientSecret: p.opt.Secret, Endpoint: provider.Endpoint(), RedirectURL: callback,
		Scopes: []string{oidc.ScopeOpenID, "profile", "email"}}
}

// provider looks the provider up, until that has succeeded once.
func (p *Provider) provider(ctx context.Context) (*oidc.Provider, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.known != nil {
		return p.known, nil
	}
	found, err := oidc.NewProvider(oidc.ClientContext(ctx, p.client), p.opt.Issuer)
	if err != nil {
		return nil, p.away(err)
	}
	p.known = found
	return found, nil
}

// away says that the provider cannot be asked, and logs why.
func (p *Provider) away(err error) error {
	p.opt.Log.Warn("the OpenID provider cannot be asked", "issuer", p.opt.Issuer, "error", short(err.Error()))
	return &chat.Error{Code: chat.CodeUnavailable, Message: "the provider that signs people in cannot be reached", Cause: fmt.Errorf("openid provider: %w", err)}
}

// short is what a provider says, on one line and not too long.
func short(text string) string {
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f || r == '\u2028' || r == '\u2029' }), " ")
	if runes := []rune(text); len(runes) > 200 {
		text = string(slices.Concat(runes[:199], []rune{'…'}))
	}
	return text
}
