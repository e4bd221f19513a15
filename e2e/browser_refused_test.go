package e2e

import (
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
)

// TestBrowserRefusedAtTheDoor: whoever is not let in reads why in plain words, and what to do; no form stays that can only fail.
func TestBrowserRefusedAtTheDoor(t *testing.T) {
	t.Parallel()
	node := harness.StartNode(t, harness.Config{Env: map[string]string{"CHATD_ACCOUNTS": "on"}})
	ctx := bounded(t, browserTimeout)
	operator := must(client.New(node.URL(), client.StaticToken(harness.Token("operator", "admin", time.Hour))))(t)
	browser := startBrowser(t)
	setup := node.SetupURL()

	root := blankPage(t, browser, "root")
	root.refused(true)
	root.do(chromedp.Navigate(setup))
	root.see(shows(".card h1", "Create the first account"))
	root.signs("root!", rightWord)
	root.see(`document.querySelector(".problem")?.textContent.startsWith("A username has letters A to Z")`)
	root.signs("root", rightWord)
	root.see(shows(".me-name", "root"))

	// The link again, in another browser: it leads to where one signs in.
	again := blankPage(t, browser, "again")
	again.refused(true)
	again.do(chromedp.Navigate(setup))
	again.see(shows(".card h1", "Create the first account"))
	again.signs("again", rightWord)
	again.see(`document.querySelector(".problem")?.textContent.startsWith("This link has been used")`)
	again.see(shows(".card h1", "chatd") + ` && !document.querySelector("input[name=name]")`)
	again.signs("root", rightWord)
	again.see(shows(".me-name", "root"))

	invite := must(operator.CreateInvite(ctx, client.InviteDraft{Uses: 2}))(t)
	bob := blankPage(t, browser, "bob")
	bob.refused(true)
	bob.do(chromedp.Navigate(invite.URL))
	bob.see(shows(".card h1", "Create an account"))
	bob.signs("root", rightWord)
	bob.see(shows(".problem", "This username is taken. Choose another."))
	bob.signs("bob", rightWord)
	bob.see(shows(".me-name", "bob"))

	// An invitation that has ended asks for nothing that would be in vain.
	if err := operator.DeleteInvite(ctx, invite.ID); err != nil {
		t.Fatal(err)
	}
	late := blankPage(t, browser, "late")
	late.refused(true)
	late.do(chromedp.Navigate(invite.URL))
	late.see(shows(".sign-in .hint", "This invitation has been used up, or has expired. Ask for another."))
	late.see(shows(".card h1", "chatd") + ` && !document.querySelector("input[name=name]")`)

	must(operator.PutUsers(ctx, []client.UserChange{{User: "bob", Disabled: new(true)}}))(t)
	const disabled = "Your account is disabled. Ask whoever runs this server."
	bob.see(shows(".sign-in .hint", disabled))
	bob.signs("bob", rightWord)
	bob.see(shows(".problem", disabled))
}
