package oidc

import (
	"errors"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/oauth2-proxy/mockoidc"

	"github.com/chatd/chatd/chat"
)

const (
	callback = "http://127.0.0.1/v1/oidc/callback"
	back     = "https://app.example/start"
)

// bench is a provider of the test's own, and what this package makes of it.
type bench struct {
	*testing.T
	issuer *mockoidc.MockOIDC
	*Provider
	now time.Time
}

func newBench(t *testing.T, user string) *bench {
	t.Helper()
	issuer, err := mockoidc.Run()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = issuer.Shutdown() })
	b := &bench{T: t, issuer: issuer, now: time.Now()}
	b.Provider = b.open(issuer.Issuer(), user)
	return b
}

func (b *bench) open(issuer, user string) *Provider {
	b.Helper()
	p, err := New(Options{Issuer: issuer, ClientID: b.issuer.ClientID, Secret: b.issuer.ClientSecret, User: user,
		Egress: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, Keys: [][]byte{[]byte("a secret of the test"), []byte("the one before")},
		Now: func() time.Time { return b.now }, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		b.Fatal(err)
	}
	return p
}

// answer goes to the provider as a browser does, and returns what it is to bring back.
func (b *bench) answer(where string) url.Values {
	b.Helper()
	browser := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := browser.Get(where)
	if err != nil {
		b.Fatal(err)
	}
	defer resp.Body.Close()
	to, err := resp.Location()
	if err != nil || !strings.HasPrefix(to.String(), callback+"?") {
		b.Fatalf("the provider answers %d and leads to %v, %v", resp.StatusCode, to, err)
	}
	return to.Query()
}

func (b *bench) begin() (where, sealed string) {
	b.Helper()
	where, sealed, err := b.Begin(b.Context(), callback, back)
	if err != nil {
		b.Fatal(err)
	}
	return where, sealed
}

// refused ends a sign-in that must be refused.
func (b *bench) refused(what string, answer url.Values, sealed string, want chat.Code) {
	b.Helper()
	who, _, err := b.End(b.Context(), answer, sealed)
	if got := refusal(err); err == nil || got.Code != want || who != (Person{}) {
		b.Errorf("%s: got %+v, %v, want %s", what, who, err, want)
	}
}

func TestSignIn(t *testing.T) {
	for _, c := range []struct {
		by   string
		user mockoidc.MockUser
		want string // "": refused
	}{
		{BySubject, mockoidc.MockUser{Subject: "auth0|5f7c"}, "auth0|5f7c"},
		{ByEmail, mockoidc.MockUser{Subject: "1", Email: "Jane.Doe@example.com", EmailVerified: true}, "jane.doe@example.com"},
		{ByEmail, mockoidc.MockUser{Subject: "1", Email: "jane@example.com"}, ""},
		{ByName, mockoidc.MockUser{Subject: "1", PreferredUsername: "jane"}, "jane"},
		{ByName, mockoidc.MockUser{Subject: "1"}, ""},
		{BySubject, mockoidc.MockUser{Subject: "no id"}, ""},
		{BySubject, mockoidc.MockUser{Subject: "key:k1"}, ""},
	} {
		t.Run(c.by+" "+c.want, func(t *testing.T) {
			b := newBench(t, c.by)
			b.issuer.QueueUser(&c.user)
			where, sealed := b.begin()
			query, _ := url.Parse(where)
			if q := query.Query(); q.Get("code_challenge_method") != "S256" || len(q.Get("code_challenge")) < 43 || q.Get("nonce") == "" || q.Get("state") == "" {
				t.Errorf("the browser is led to %s", where)
			}
			if strings.Contains(sealed, query.Query().Get("state")) {
				t.Error("what the browser keeps can be read")
			}
			answer := b.answer(where)
			if c.want == "" {
				b.refused("someone without an id", answer, sealed, chat.CodeForbidden)
				return
			}
			who, from, err := b.End(t.Context(), answer, sealed)
			if err != nil || who.User != c.want || who.Subject != c.user.Subject || from != back {
				t.Fatalf("got %+v from %q, %v", who, from, err)
			}
			b.refused("the code once more", answer, sealed, chat.CodeForbidden)
		})
	}
}

func TestSignInBelongsToItsBrowser(t *testing.T) {
	b := newBench(t, BySubject)
	where, sealed := b.begin()
	_, other := b.begin()
	answer := b.answer(where)
	without := url.Values{"code": answer["code"]}
	b.refused("another browser", answer, other, chat.CodeInvalid)
	b.refused("no browser", answer, "", chat.CodeInvalid)
	b.refused("no state", without, sealed, chat.CodeInvalid)
	b.refused("a changed seal", answer, sealed[:len(sealed)-2]+"AA", chat.CodeInvalid)

	// The code of someone else's sign-in, in one's own: neither the proof of PKCE nor the nonce fits.
	theirs, _ := b.begin()
	stolen := url.Values{"state": answer["state"], "code": b.answer(theirs)["code"]}
	b.refused("a code of another sign-in", stolen, sealed, chat.CodeForbidden)

	b.now = b.now.Add(TimeMax)
	b.refused("too late", answer, sealed, chat.CodeInvalid)
}

func TestRefusalsOfTheProvider(t *testing.T) {
	b := newBench(t, BySubject)
	where, sealed := b.begin()
	query, _ := url.Parse(where)
	denied := url.Values{"state": query.Query()["state"], "error": {"access_denied"}, "error_description": {"not\r\nyou"}}
	_, from, err := b.End(t.Context(), denied, sealed)
	if got := refusal(err); err == nil || got.Code != chat.CodeForbidden || from != back || !strings.HasSuffix(got.Message, "the provider refuses: not you") {
		t.Errorf("got %v from %q", err, from)
	}
	b.issuer.AccessTTL = -time.Hour
	where, sealed = b.begin()
	b.refused("a token that has ended", b.answer(where), sealed, chat.CodeForbidden)

	b.issuer.AccessTTL = time.Hour
	where, sealed = b.begin()
	answer := b.answer(where)
	for range 2 { // the client proves itself in one way, then in the other
		b.issuer.QueueError(&mockoidc.ServerError{Code: http.StatusInternalServerError, Error: mockoidc.InternalServerError})
	}
	b.refused("a provider that fails", answer, sealed, chat.CodeUnavailable)
}

// TestProviderMayComeLater begins with a provider that is away.
func TestProviderMayComeLater(t *testing.T) {
	b := newBench(t, BySubject)
	b.issuer.QueueError(&mockoidc.ServerError{Code: http.StatusServiceUnavailable, Error: mockoidc.InternalServerError})
	_, _, err := b.Begin(t.Context(), callback, back)
	if got := refusal(err); err == nil || got.Code != chat.CodeUnavailable {
		t.Fatalf("got %v", err)
	}
	where, sealed := b.begin()
	if _, _, err := b.End(t.Context(), b.answer(where), sealed); err != nil {
		t.Fatal(err)
	}
}

// TestIssuerNamesItself: a provider of another name than was configured signs nobody in.
func TestIssuerNamesItself(t *testing.T) {
	b := newBench(t, BySubject)
	other := b.open(b.issuer.Issuer()+"/", BySubject)
	_, _, err := other.Begin(t.Context(), callback, back)
	if got := refusal(err); err == nil || got.Code != chat.CodeUnavailable {
		t.Fatalf("got %v", err)
	}
}

func TestOptionsAreChecked(t *testing.T) {
	for _, issuer := range []string{"", "accounts.example.com", "http://accounts.example.com", "https://user:word@accounts.example.com"} {
		if _, err := New(Options{Issuer: issuer}); err == nil {
			t.Errorf("the issuer %q is taken", issuer)
		}
	}
}

// refusal is err as callers get it.
func refusal(err error) chat.Error {
	var refused *chat.Error
	if !errors.As(err, &refused) {
		return chat.Error{}
	}
	return *refused
}
