package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

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

// TestBrowserAccounts opens the setup link as a newcomer does, stays signed in by the cookie, and signs out.
func TestBrowserAccounts(t *testing.T) {
	t.Parallel()
	node := accountsNode(t)
	browser := startBrowser(t)
	dir := t.TempDir()
	if keep := os.Getenv("CHATD_PICTURES"); keep != "" {
		dir = keep
	}
	root := openAt(t, browser, node.SetupURL(), "root")
	root.see(shows(".card h1", "Create the first account"))
	root.see(`location.hash === ""`)
	root.picture(dir, "setup.png")
	root.size(360, 720)
	root.scheme("dark")
	root.fits()
	root.picture(dir, "setup-dark-narrow.png")
	root.scheme("light")
	root.size(1180, 760)
	root.refused(true)
	root.signs("root", "1234567890")
	root.see(`document.querySelector(".problem")?.textContent.includes("too many people")`)
	root.picture(dir, "setup-problem.png")
	root.signs("", rightWord)
	root.see(shows(".me-name", "root"))
	root.live()

	// The access token has ended: the cookie brings another, on load.
	root.script(`(() => {
		const kept = JSON.parse(localStorage.getItem("chatd.signin"));
		localStorage.setItem("chatd.signin", JSON.stringify({ ...kept, token: %q, expires_at: new Date(0).toISOString() }));
	})()`, harness.Token("root", "", -time.Hour))
	root.do(chromedp.Reload())
	root.live()
	root.see(`Date.parse(JSON.parse(localStorage.getItem("chatd.signin")).expires_at) > Date.now() + 8 * 60_000`)
	if got := ask[string](root, `document.cookie`); got != "" {
		t.Errorf("scripts see the cookie %q", got)
	}
	list := root.logins(node)
	if len(list) != 1 || !list[0].Current {
		t.Fatalf("got the logins %+v", list)
	}

	foreignPagesDoNothing(t, root, node)

	was := ask[string](root, `JSON.parse(localStorage.getItem("chatd.signin")).token`)
	root.click(`button[aria-label="Sign out"]`)
	root.see(`document.querySelector("input[name=password]")`)
	root.picture(dir, "sign-in.png")
	harness.Eventually(t, cliWait, "the login has ended", func() error {
		_, err := must(client.New(node.URL(), client.StaticToken(was)))(t).Me(t.Context())
		if client.CodeOf(err) != client.CodeUnauthenticated {
			return fmt.Errorf("got %w", err)
		}
		return nil
	})
	root.signs("root", "wrong")
	root.see(shows(".problem", "Wrong username or password."))
	root.signs("root", rightWord)
	root.see(shows(".me-name", "root"))
	root.live()

	bob := openRefused(t, browser, node.URL(), "bob") // there is no cookie yet
	bob.click(".card .text-button")
	bob.see(shows(".card h1", "Create an account"))
	bob.picture(dir, "register.png")
	bob.signs("bob", rightWord)
	bob.see(shows(".me-name", "bob"))
	bob.live()
	bob.click(`button[aria-label="Sign out"]`)

	// The links that operators make.
	operator := must(client.New(node.URL(), client.StaticToken(harness.Token("operator", "admin", time.Hour))))(t)
	reset := must(operator.CreateCode(t.Context(), "bob", "reset"))(t)
	bob.do(chromedp.Navigate(strings.Replace(reset.URL, "/#", "/?again#", 1)))
	bob.see(shows(".card h1", "Choose a new password"))
	bob.picture(dir, "reset.png")
	bob.signs("", "another password")
	bob.see(shows(".me-name", "bob"))
	bob.live()
	bob.click(`button[aria-label="Sign out"]`)
	link := must(operator.CreateCode(t.Context(), "bob", "link"))(t)
	bob.do(chromedp.Navigate(strings.Replace(link.URL, "/#", "/?once#", 1)))
	bob.click(".card button.primary")
	bob.see(shows(".me-name", "bob"))
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
	p.arrives(`document.querySelector(".me-name")`)
	p.live()
	after := p.logins(node)
	if len(after) != 1 || !after[0].LastUsedAt.Equal(before[0].LastUsedAt) {
		t.Errorf("the logins were %+v and are %+v", before, after)
	}
}
