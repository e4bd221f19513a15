package e2e

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
)

// isSignedIn waits for the page of whoever is signed in.
func (p *person) isSignedIn(user string) {
	p.t.Helper()
	p.see(fmt.Sprintf(`document.querySelector(".rail .me")?.title === %q`, user))
	p.live()
}

// TestPageDoorByName takes names in any script, says what the id will be, and shows the name to others.
func TestPageDoorByName(t *testing.T) {
	t.Parallel()
	node := devNode(t)
	p := openRefused(t, startBrowser(t), node.SignInURL(), "ana")
	p.see(`document.querySelector(".hint.open")?.textContent.includes("anyone with this link may use any name")`)
	p.fill("input[name=name]", "王伟")
	p.see(`/^Your username will be user-\w+\.$/.test(document.querySelector(".card small")?.textContent)`)
	p.script(`document.querySelector("input[name=name]").value = ""`)
	p.fill("input[name=name]", "Ana Sofía")
	p.see(shows(".card small", "Your username will be ana-sofia."))
	p.enter()
	p.isSignedIn("ana-sofia")
	if me := must(node.Client("ana-sofia").Me(t.Context()))(t); me.Name != "Ana Sofía" {
		t.Errorf("others see the name %q", me.Name)
	}

	p.script(`localStorage.clear()`)
	p.do(chromedp.Navigate(strings.Replace(node.SignInURL(), "/#", "/?old#", 1) + "x")) // a code of an earlier start
	p.fill("input[name=name]", "ana")
	p.enter()
	p.see(`document.querySelector(".problem")?.textContent.startsWith("This link is from an earlier start of chatd.")`)
}

// TestPageDoorByToken uses a server without the development sign-in: each mistake is named with what helps.
func TestPageDoorByToken(t *testing.T) {
	t.Parallel()
	node := harness.StartNode(t, harness.Config{Env: map[string]string{"CHATD_DEV": "off"}})
	p := openRefused(t, startBrowser(t), node.URL()+"/", "alice")
	p.fill("input[name=name]", "alice")
	p.enter()
	p.see(`document.querySelector(".problem")?.textContent.startsWith("This server doesn’t offer sign-in by name")`)
	token := func(text string) {
		p.script(`document.querySelector("textarea[name=token]").value = ""`)
		p.fill("textarea[name=token]", text)
		p.click(".card button.primary")
	}
	token("no token")
	p.see(`document.querySelector(".problem")?.textContent.startsWith("This isn’t a token")`)
	token(harness.Token("alice", "", -time.Hour))
	p.see(`/token has expired|doesn’t accept this token/.test(document.querySelector(".problem")?.textContent)`)
	token(harness.Token("alice", "", time.Hour))
	p.isSignedIn("alice")
	p.script(`sessionStorage.clear()`) // what belongs to the tab: a new one has nothing of it
	p.do(chromedp.Reload())
	p.isSignedIn("alice")
	p.anotherTab("")
	p.see(shows(".hint", "You signed out in another tab."))
	p.do(chromedp.Reload())
	p.see(`document.querySelector("input[name=name]") && !document.querySelector(".hint")`)

	// One that expired while the page was closed.
	p.script(`localStorage.setItem("chatd.signin", %q)`, signInOf("alice", harness.Token("alice", "", -time.Hour)))
	p.do(chromedp.Reload())
	p.see(shows(".hint", "Your sign-in has expired. Please sign in again."))
	p.see(`localStorage.getItem("chatd.signin") === null`)

	// A number that scripts would round names its user all the same.
	const number = "9007199254740993"
	p.click(".card .text-button")
	token(harness.Sign(map[string]any{"alg": "HS256"}, map[string]any{"sub": json.Number(number), "exp": time.Now().Add(time.Hour).Unix()}, harness.Secret))
	p.isSignedIn(number)
}

// TestPageDoorByTheLinkOfAPerson: the link with a name signs that person in, whoever was signed in before, as often as it is opened.
func TestPageDoorByTheLinkOfAPerson(t *testing.T) {
	t.Parallel()
	ctx, node := bounded(t, browserTimeout), devNode(t)
	link := func(user string) string { return node.SignInURL() + "&user=" + user }
	p := blankPage(t, startBrowser(t), "alice")
	here := func(user string) {
		t.Helper()
		p.isSignedIn(user)
		harness.Eventually(t, waitTimeout, "only "+user+" is here", func() error {
			for _, one := range []string{"alice", "bob"} {
				sessions, err := node.Client(one).Sessions(ctx, "me")
				if err != nil {
					return err
				}
				if (len(sessions) > 0) != (one == user) {
					return fmt.Errorf("%s has %d sessions", one, len(sessions))
				}
			}
			return nil
		})
	}
	for _, user := range []string{"alice", "bob", "alice", "alice"} {
		p.do(chromedp.Navigate("about:blank"), chromedp.Navigate(link(user)))
		here(user)
	}
	p.script(`location.hash = new URL(%q).hash`, link("bob")) // pasted into the open page
	here("bob")
	p.see(`location.hash === ""`)
}

// TestPageDoorAccounts goes through the ways in where people have accounts: setup link, cookie, password, registering by an
// invitation, reset and one-time link.
func TestPageDoorAccounts(t *testing.T) {
	t.Parallel()
	node := accountsNode(t)
	browser := startBrowser(t)
	root := openRefused(t, browser, node.SetupURL(), "root")
	root.see(shows(".card h1", "Create the first account") + ` && location.hash === ""`)
	root.fill("input[name=name]", "Ren Ōta")
	root.see(`document.querySelector("input[name=user]").value === "ren-ota"`)
	root.fill("input[name=password]", "1234567890")
	root.click(".card button.primary")
	root.see(`document.querySelector(".problem")?.textContent.includes("too many people")`)
	root.signs("", rightWord)
	root.isSignedIn("ren-ota")
	root.script(`localStorage.clear()`) // the cookie is left
	root.do(chromedp.Reload())
	root.isSignedIn("ren-ota")

	owner := must(client.New(node.URL(), client.StaticToken(ask[string](root, `JSON.parse(localStorage.getItem("chatd.signin")).token`))))(t)
	group := must(owner.CreateGroup(t.Context(), client.GroupDraft{Name: "Trip"}))(t)
	invite := must(owner.CreateInvite(t.Context(), client.InviteDraft{Group: group.ID}))(t)
	bob := openRefused(t, browser, node.URL()+"/#invite="+url.PathEscape(invite.Code), "bob")
	bob.see(shows(".card .invited", "Ren Ōta invites you to “Trip” (1 member).") + " && " + shows(".card h1", "Create an account"))
	bob.signs("bob", rightWord)
	bob.see(shows(".group-title h1", "Trip")) // whoever registers by an invitation is not asked again
	bob.isSignedIn("bob")

	operator := must(client.New(node.URL(), client.StaticToken(harness.Token("operator", "admin", time.Hour))))(t)
	for i, kind := range []string{"reset", "link"} {
		code := must(operator.CreateCode(t.Context(), "bob", kind))(t)
		guest := openRefused(t, browser, code.URL, kind)
		guest.see(shows(".card h1", []string{"Choose a new password", "Welcome back"}[i]))
		if kind == "reset" {
			guest.signs("", "another password")
		} else {
			guest.click(".card button.primary")
		}
		guest.isSignedIn("bob")
	}
	late := openRefused(t, browser, node.URL()+"/#link=p00-used", "late")
	late.click(".card button.primary")
	late.see(shows(".problem", "This link has been used, or has expired. Sign in, or ask for another."))
	late.signs("bob", "wrong")
	late.see(shows(".problem", "Wrong username or password."))
	late.signs("bob", "another password")
	late.isSignedIn("bob")
}
