package web_test

import (
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/oauth2-proxy/mockoidc"

	"github.com/chatd/chatd/internal/node"
)

// openIDBench is a server whose people sign in at a provider of the test's own.
type openIDBench struct {
	*server
	issuer *mockoidc.MockOIDC
}

func startOpenID(t *testing.T) *openIDBench {
	t.Helper()
	issuer, err := mockoidc.Run()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = issuer.Shutdown() })
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte(issuer.ClientSecret+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := start(t, func(c *node.Config) {
		c.Accounts, c.OIDC, c.OIDCClientID, c.OIDCSecretFile, c.OIDCUser = "on", issuer.Issuer(), issuer.ClientID, secret, "preferred_username"
		c.EgressAllow, c.Origins = []string{"127.0.0.0/8"}, []string{"https://app.example"}
	})
	return &openIDBench{s, issuer}
}

// browser goes where it is led, but to no page of app.example.
func (b *openIDBench) browser() *http.Client {
	jar, _ := cookiejar.New(nil)
	return &http.Client{Jar: jar, CheckRedirect: func(r *http.Request, _ []*http.Request) error {
		if r.URL.Host == "app.example" {
			return http.ErrUseLastResponse
		}
		return nil
	}}
}

func (b *openIDBench) goTo(browser *http.Client, path, subject, name string) *http.Response {
	b.t.Helper()
	b.issuer.QueueUser(&mockoidc.MockUser{Subject: subject, PreferredUsername: name})
	resp, err := browser.Get(b.url + path)
	if err != nil {
		b.t.Fatal(err)
	}
	_ = resp.Body.Close()
	return resp
}

// cookie is the refresh token that a browser keeps.
func (b *openIDBench) cookie(browser *http.Client) string {
	u, _ := url.Parse(b.url)
	for _, c := range browser.Jar.Cookies(u) {
		if c.Name == "chatd" {
			return c.Value
		}
	}
	return ""
}

// TestSignInByProvider goes the whole way in a browser: to the provider, back to the page, and on with the cookie.
func TestSignInByProvider(t *testing.T) {
	b := startOpenID(t)
	if a := b.open("GET", "/v1/server", ""); !strings.Contains(a.body, `"oidc"`) {
		t.Errorf("got %s", a.body)
	}
	jane := b.browser()
	resp := b.goTo(jane, "/v1/oidc/login", "subject-1", "jane")
	if resp.StatusCode != http.StatusOK || resp.Request.URL.String() != b.url+"/" {
		t.Fatalf("the browser ends with %d at %s", resp.StatusCode, resp.Request.URL)
	}
	refreshed := b.open("POST", "/v1/tokens/refresh", "", "Cookie", "chatd="+b.cookie(jane), "Origin", b.url)
	if a := b.with(b.tokens(refreshed).Token, "GET", "/v1/me", ""); a.status != 200 || !strings.Contains(a.body, `"jane"`) {
		t.Errorf("got %d %s", a.status, a.body)
	}
	again := b.browser()
	b.goTo(again, "/v1/oidc/login", "subject-1", "jane")
	if b.cookie(again) == "" {
		t.Error("the second time no cookie was set")
	}
	// Who takes the name at the provider later is someone else, and so is who has an account here.
	other := b.browser()
	if resp := b.goTo(other, "/v1/oidc/login", "subject-2", "jane"); resp.StatusCode != http.StatusForbidden || b.cookie(other) != "" {
		t.Errorf("another person of the name: got %d", resp.StatusCode)
	}
	if a := b.do(request{method: "POST", path: "/v1/accounts", user: "root", role: "admin", body: `{"user":"carl","password":"` + rightWord + `"}`}); a.status != 201 {
		t.Fatalf("got %d %s", a.status, a.body)
	}
	if resp := b.goTo(other, "/v1/oidc/login", "subject-3", "carl"); resp.StatusCode != http.StatusForbidden || b.cookie(other) != "" {
		t.Errorf("the name of an account: got %d", resp.StatusCode)
	}
	b.operator("PUT", "/v1/users", `{"users":[{"user":"jane","disabled":true}]}`)
	if resp := b.goTo(b.browser(), "/v1/oidc/login", "subject-1", "jane"); resp.StatusCode != http.StatusForbidden {
		t.Errorf("a disabled user: got %d", resp.StatusCode)
	}
}

// TestSignInOfAProgram ends with a code for a page of another origin.
func TestSignInOfAProgram(t *testing.T) {
	b := startOpenID(t)
	browser := b.browser()
	resp := b.goTo(browser, "/v1/oidc/login?return="+url.QueryEscape("https://app.example/chat?a=b"), "subject-1", "jane")
	to, err := resp.Location()
	if err != nil || resp.StatusCode != http.StatusSeeOther || !strings.HasPrefix(to.String(), "https://app.example/chat?a=b#code=") || b.cookie(browser) != "" {
		t.Fatalf("got %d to %v, %v, with the cookie %q", resp.StatusCode, to, err, b.cookie(browser))
	}
	code := strings.TrimPrefix(to.Fragment, "code=")
	p := b.tokens(b.open("POST", "/v1/tokens", `{"code":"`+code+`"}`))
	if a := b.with(p.Token, "GET", "/v1/me", ""); !strings.Contains(a.body, `"jane"`) {
		t.Errorf("got %s", a.body)
	}
	checkProblem(t, "the code once more", b.open("POST", "/v1/tokens", `{"code":"`+code+`"}`), 401, "unauthenticated")
	for _, page := range []string{"https://evil.example/", "https://app.example.evil.example/", "http://app.example/"} {
		checkProblem(t, page, b.open("GET", "/v1/oidc/login?return="+url.QueryEscape(page), ""), 403, "forbidden")
	}
	for _, page := range []string{"/chat", "https://app.example/#x", "https://app@app.example/", "://"} {
		checkProblem(t, page, b.open("GET", "/v1/oidc/login?return="+url.QueryEscape(page), ""), 400, "invalid_request")
	}
}

// TestCallbacksOfOthers: a callback that was not begun in this browser signs nobody in.
func TestCallbacksOfOthers(t *testing.T) {
	b := startOpenID(t)
	attacker := b.browser()
	attacker.CheckRedirect = func(r *http.Request, _ []*http.Request) error {
		if strings.HasPrefix(r.URL.Path, "/v1/oidc/callback") {
			return http.ErrUseLastResponse
		}
		return nil
	}
	resp := b.goTo(attacker, "/v1/oidc/login", "subject-1", "mallory")
	link, err := resp.Location()
	if err != nil {
		t.Fatal(err)
	}
	victim := b.browser()
	if resp := b.goTo(victim, link.RequestURI(), "", ""); resp.StatusCode != http.StatusBadRequest || b.cookie(victim) != "" {
		t.Errorf("got %d, and the cookie %q", resp.StatusCode, b.cookie(victim))
	}
	none := start(t, nil)
	for _, path := range []string{"/v1/oidc/login", "/v1/oidc/callback"} {
		checkProblem(t, path, none.open("GET", path, ""), 404, "not_found")
	}
}
