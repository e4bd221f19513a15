package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/oauth2-proxy/mockoidc"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
)

const rightWord = "correct horse battery"

func accountsNode(t *testing.T) *harness.Node {
	t.Helper()
	return harness.StartNode(t, harness.Config{Env: map[string]string{"CHATD_ACCOUNTS": "on", "CHATD_REGISTRATION": "open"}})
}

// signs fills in the form for people with an account.
func (p *person) signs(user, password string) {
	p.t.Helper()
	for name, text := range map[string]string{"user": user, "password": password} {
		if text != "" {
			ask[string](p, fmt.Sprintf(`document.querySelector("input[name=%s]").value = ""`, name))
			p.fill("input[name="+name+"]", text)
		}
	}
	p.click(".card button.primary")
}

// logins are those of whoever is signed in, by the token that the page has.
func (p *person) logins(node *harness.Node) []client.AccountLogin {
	p.t.Helper()
	token := ask[string](p, `JSON.parse(localStorage.getItem("chatd.signin")).token`)
	list, err := must(client.New(node.URL(), client.StaticToken(token)))(p.t).Logins(p.t.Context())
	if err != nil {
		p.t.Fatal(err)
	}
	return list
}

// arrives is see for a page of another site, on whose way the browser may change the process in which it looks.
func (p *person) arrives(expression string) {
	p.t.Helper()
	harness.Eventually(p.t, waitTimeout, p.name+" sees "+expression, func() error {
		if there, err := chromedp.Run(p.ctx, chromedp.Evaluate[bool]("!!("+expression+")")); err != nil || !there {
			return fmt.Errorf("%w\n%s", err, p.text())
		}
		return nil
	})
}

// TestPageLogin makes an account where anyone may, stays signed in by the cookie, whatever pages of other sites ask for with it, and
// signs out: the login has ended.
func TestPageLogin(t *testing.T) {
	t.Parallel()
	node := accountsNode(t)
	bob := openRefused(t, startBrowser(t), node.URL()+"/", "bob") // there is no cookie yet
	bob.size(360, 720)
	bob.scheme("dark")
	bob.click(".card .text-button")
	bob.see(shows(".card h1", "Create an account"))
	bob.fits()
	bob.signs("bob", rightWord)
	bob.isSignedIn("bob")

	// The access token has ended: the cookie brings another, on load.
	bob.script(`(() => {
		const kept = JSON.parse(localStorage.getItem("chatd.signin"));
		localStorage.setItem("chatd.signin", JSON.stringify({ ...kept, token: %q, expires_at: new Date(0).toISOString() }));
	})()`, harness.Token("bob", "", -time.Hour))
	bob.do(chromedp.Reload())
	bob.isSignedIn("bob")
	bob.see(`Date.parse(JSON.parse(localStorage.getItem("chatd.signin")).expires_at) > Date.now() + 8 * 60_000`)
	if got := ask[string](bob, `document.cookie`); got != "" {
		t.Errorf("scripts see the cookie %q", got)
	}
	list := bob.logins(node)
	if len(list) != 1 || !list[0].Current {
		t.Fatalf("got the logins %+v", list)
	}
	foreignPagesDoNothing(t, bob, node)

	was := ask[string](bob, `JSON.parse(localStorage.getItem("chatd.signin")).token`)
	bob.click(".rail .me")
	bob.click("button[name=sign-out]")
	bob.see(`document.querySelector("input[name=password]")`)
	harness.Eventually(t, cliWait, "the login has ended", func() error {
		_, err := must(client.New(node.URL(), client.StaticToken(was)))(t).Me(t.Context())
		if client.CodeOf(err) != client.CodeUnauthenticated {
			return fmt.Errorf("got %w", err)
		}
		return nil
	})
	bob.do(chromedp.Reload())
	bob.see(`document.querySelector("input[name=password]")`)
}

// TestPageSingleSignOn goes by the button to the provider, and comes back signed in.
func TestPageSingleSignOn(t *testing.T) {
	t.Parallel()
	issuer := must(mockoidc.Run())(t)
	t.Cleanup(func() { _ = issuer.Shutdown() })
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte(issuer.ClientSecret+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	node := harness.StartNode(t, harness.Config{Env: map[string]string{
		"CHATD_ACCOUNTS": "on", "CHATD_OIDC": issuer.Issuer(), "CHATD_OIDC_CLIENT_ID": issuer.ClientID, "CHATD_OIDC_SECRET_FILE": secret,
		"CHATD_OIDC_USER": "preferred_username", "CHATD_EGRESS_ALLOW": "127.0.0.0/8",
	}})
	issuer.QueueUser(&mockoidc.MockUser{Subject: "1", PreferredUsername: "carol"})
	carol := openRefused(t, startBrowser(t), node.URL()+"/", "carol") // there is no cookie yet
	carol.click(`.card a[href="/v1/oidc/login"]`)
	carol.arrives(`document.querySelector(".rail .me")?.title === "carol"`)
	carol.live()
}

// foreignPagesDoNothing has pages of another site, and of another origin of the same site, refresh and sign out with whatever the
// browser sends along: the person does not notice.
func foreignPagesDoNothing(t *testing.T, p *person, node *harness.Node) {
	t.Helper()
	before := p.logins(node)
	evil := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = fmt.Fprintf(w, `<!doctype html><link rel="icon" href="data:,">
			<iframe name="answer"></iframe><form method="post" action="%[1]s/v1/tokens/refresh" target="answer"></form><script>
			const all = [new Promise((done) => { document.querySelector("iframe").onload = () => done(false); document.forms[0].submit(); })];
			for (const [method, path] of [["POST", "/v1/tokens/refresh"], ["DELETE", "/v1/tokens"]])
				for (const mode of ["cors", "no-cors"])
					all.push((async () => (await fetch("%[1]s" + path, { method, mode, credentials: "include" })).ok)().catch(() => false));
			Promise.all(all).then((done) => { document.title = "done " + done.some(Boolean); });
			</script>`, node.URL())
	}))
	defer evil.Close()
	back := ask[string](p, `location.href`)
	for _, host := range []string{"127.0.0.1", "localhost"} {
		p.do(chromedp.Navigate(strings.Replace(evil.URL, "127.0.0.1", host, 1)))
		p.arrives(`document.title.startsWith("done")`)
		if got := ask[string](p, `document.title`); got != "done false" {
			t.Errorf("a page of %s got %q", host, got)
		}
	}
	p.mu.Lock()
	p.problems = nil // what the browser says of those pages
	p.mu.Unlock()
	p.do(chromedp.Navigate(back))
	p.arrives(`document.querySelector(".rail .me")`)
	p.live()
	after := p.logins(node)
	if len(after) != 1 || !after[0].LastUsedAt.Equal(before[0].LastUsedAt) {
		t.Errorf("the logins were %+v and are %+v", before, after)
	}
}
