package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/oauth2-proxy/mockoidc"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
)

// TestBrowserDevices has somebody look at their devices, end those that are elsewhere, change the password, and be disabled.
func TestBrowserDevices(t *testing.T) {
	t.Parallel()
	ctx := bounded(t, browserTimeout)
	node := accountsNode(t)
	dir := t.TempDir()
	if keep := os.Getenv("CHATD_PICTURES"); keep != "" {
		dir = keep
	}
	must(struct{}{}, must(client.New(node.URL(), client.NoToken))(t).Register(ctx, client.AccountDraft{User: "alice", Password: rightWord}))(t)
	elsewhere := func(password string) (*client.Login, error) {
		return client.SignIn(ctx, node.URL(), client.Credentials{User: "alice", Password: password})
	}
	ended := func(login *client.Login) {
		t.Helper()
		harness.Eventually(t, cliWait, "the login elsewhere has ended", func() error {
			token, err := login.Token(ctx)
			if err != nil {
				return err
			}
			if _, err = must(client.New(node.URL(), client.StaticToken(token)))(t).Me(ctx); client.CodeOf(err) != client.CodeUnauthenticated {
				return fmt.Errorf("got %w", err)
			}
			return nil
		})
	}
	first := must(elsewhere(rightWord))(t)

	alice := openRefused(t, startBrowser(t), node.URL(), "alice") // there is no cookie yet, and what is ended is refused
	alice.see(`document.querySelector("input[name=password]")`)
	alice.signs("alice", rightWord)
	alice.live()
	alice.click(".me-button")
	alice.see(`document.querySelectorAll("[data-list=logins] li").length === 2 && document.querySelectorAll("[data-list=sessions] li").length === 1`)
	alice.see(`document.querySelector("[data-list=sessions] li strong").textContent.startsWith("Chrome on ")`)
	alice.picture(dir, "devices.png")
	alice.size(390, 844)
	alice.scheme("dark")
	alice.fits()
	alice.picture(dir, "devices-dark-narrow.png")
	alice.scheme("light")
	alice.size(1180, 760)
	alice.click("button[name=end-others]")
	alice.see(`document.querySelectorAll("[data-list=logins] li").length === 1 && !document.querySelector("button[name=end-others]")`)
	ended(first)

	second := must(elsewhere(rightWord))(t)
	change := func(old string) {
		t.Helper()
		for name, text := range map[string]string{"old": old, "new": "another password"} {
			ask[string](alice, fmt.Sprintf(`document.querySelector("input[name=%s]").value = ""`, name))
			alice.fill("input[name="+name+"]", text)
		}
		alice.click("form[name=password] > button")
	}
	change("wrong word")
	alice.see(shows("form[name=password] .problem", "That isn’t your present password."))
	change(rightWord)
	alice.see(shows("form[name=password] [role=status]", "Password changed. Your other devices are signed out."))
	ended(second)
	if _, err := elsewhere(rightWord); client.CodeOf(err) != client.CodeUnauthenticated {
		t.Errorf("with the old password: %v", err)
	}
	must(elsewhere("another password"))(t)
	alice.click(`dialog button[aria-label="Close"]`)
	alice.live()

	off := true
	operator := must(client.New(node.URL(), client.StaticToken(harness.Token("operator", "admin", time.Hour))))(t)
	must(operator.PutUsers(ctx, []client.UserChange{{User: "alice", Disabled: &off}}))(t)
	const disabled = "Your account is disabled. Ask whoever runs this server."
	alice.see(shows(".card .hint", disabled))
	alice.do(chromedp.Reload())
	alice.see(shows(".card .hint", disabled))
	off = false
	must(operator.PutUsers(ctx, []client.UserChange{{User: "alice", Disabled: &off}}))(t)
	alice.do(chromedp.Reload())
	alice.live()
}

// TestBrowserSingleSignOn goes by the button to the provider, and comes back signed in.
func TestBrowserSingleSignOn(t *testing.T) {
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
	carol := openRefused(t, startBrowser(t), node.URL(), "carol") // there is no cookie yet
	carol.click(`.card a[href="/v1/oidc/login"]`)
	carol.arrives(`document.querySelector(".me-name")?.textContent === "carol"`)
	carol.live()
}
