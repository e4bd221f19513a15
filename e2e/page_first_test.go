package e2e

import (
	"testing"
	"time"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
)

// TestPageFirstMinutes goes the way of a newcomer: the link that the first start prints, a name and a password, a group, and an invitation
// for the second window, where nobody has an account yet.
func TestPageFirstMinutes(t *testing.T) {
	t.Parallel()
	node := harness.StartNode(t, harness.Config{Env: map[string]string{"CHATD_JWT_SECRET": ""}})
	browser, dir := startBrowser(t), picturesDir(t)
	lost := openRefused(t, browser, node.URL(), "lost") // there is no cookie yet
	lost.see(shows(".card .hint", "Nobody has an account here yet. Open the link that chatd printed when it started."))

	ana := openAt(t, browser, node.SetupURL(), "ana")
	ana.see(shows(".card h1", "Create the first account"))
	ana.fill("input[name=name]", "Ána Silva")
	ana.signs("", rightWord)
	ana.isSignedIn("ana-silva")
	ana.picture(dir, "first-empty.png")
	ana.click(`a[aria-label="Create group"]`)
	ana.fill("input[name=name]", "Weekend trip")
	ana.enter()
	ana.see(shows(".group-title h1", "Weekend trip"))
	ana.say("Shall we take the early train?")
	ana.click(`.group-head button[aria-label="Members"]`)
	ana.picture(dir, "first-members.png")
	ana.click("button[name=invite-people]")
	ana.see(`document.querySelector("input[name=invite]")?.value.includes("#invite=")`)
	ana.see(`/^until \w{3}, \w{3} \d+.*Ána Silva$/.test(document.querySelector("[data-list=invites] small")?.textContent)`)
	ana.picture(dir, "first-invite.png")

	bob := openRefused(t, browser, ask[string](ana, `document.querySelector("input[name=invite]").value`), "bob")
	bob.see(shows(".card h1", "Create an account") + ` && document.querySelector(".card .invited").textContent.includes("“Weekend trip”")`)
	bob.picture(dir, "first-invited.png")
	bob.fill("input[name=name]", "Bob")
	bob.signs("", rightWord)
	bob.see(shows(".group-title h1", "Weekend trip"))
	bob.live()
	bob.stands("Shall we take the early train?")
	bob.say("Yes")
	bob.picture(dir, "first-joined.png")
	bob.size(390, 844)
	bob.scheme("dark")
	bob.fits()
	bob.picture(dir, "first-joined-dark-phone.png")
	ana.stands("Yes")
}

// TestPageDoorRefuses: whoever is not let in reads why in plain words, and what to do; no form stays that can only fail.
func TestPageDoorRefuses(t *testing.T) {
	t.Parallel()
	node := harness.StartNode(t, harness.Config{Env: map[string]string{"CHATD_ACCOUNTS": "on"}})
	ctx := bounded(t, browserTimeout)
	operator := must(client.New(node.URL(), client.StaticToken(harness.Token("operator", "admin", time.Hour))))(t)
	browser := startBrowser(t)
	setup := node.SetupURL()
	root := openRefused(t, browser, setup, "root")
	root.see(shows(".card h1", "Create the first account"))
	root.signs("root!", rightWord)
	root.see(`document.querySelector(".problem")?.textContent.startsWith("A username has letters A to Z")`)
	root.signs("root", rightWord)
	root.isSignedIn("root")

	// The link again, in another browser: it leads to where one signs in.
	again := openRefused(t, browser, setup, "again")
	again.see(shows(".card h1", "Create the first account"))
	again.signs("again", rightWord)
	again.see(`document.querySelector(".problem")?.textContent.startsWith("This link has been used")`)
	again.see(shows(".card h1", "chatd") + ` && !document.querySelector("input[name=name]")`)
	again.signs("root", rightWord)
	again.isSignedIn("root")

	invite := must(operator.CreateInvite(ctx, client.InviteDraft{Uses: 2}))(t)
	bob := openRefused(t, browser, invite.URL, "bob")
	bob.see(shows(".card h1", "Create an account"))
	bob.signs("root", rightWord)
	bob.see(shows(".problem", "This username is taken. Choose another."))
	bob.signs("bob", rightWord)
	bob.isSignedIn("bob")

	// An invitation that has ended asks for nothing that would be in vain.
	if err := operator.DeleteInvite(ctx, invite.ID); err != nil {
		t.Fatal(err)
	}
	late := openRefused(t, browser, invite.URL, "late")
	late.see(shows(".sign-in .hint", "This invitation has been used up, or has expired. Ask for another."))
	late.see(shows(".card h1", "chatd") + ` && !document.querySelector("input[name=name]")`)

	must(operator.PutUsers(ctx, []client.UserChange{{User: "bob", Disabled: new(true)}}))(t)
	const disabled = "Your account is disabled. Ask whoever runs this server."
	bob.see(shows(".sign-in .hint", disabled))
	bob.signs("bob", rightWord)
	bob.see(shows(".problem", disabled))
}
