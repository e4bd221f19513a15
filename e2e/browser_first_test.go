package e2e

import (
	"testing"

	"github.com/chatd/chatd/internal/harness"
)

// TestBrowserFirstMinutes goes the way of a newcomer: the link that the first start prints, a name and a password, a group, and an invitation
// for the second window, where nobody has an account yet.
func TestBrowserFirstMinutes(t *testing.T) {
	t.Parallel()
	node := harness.StartNode(t, harness.Config{Env: map[string]string{"CHATD_JWT_SECRET": ""}})
	browser := startBrowser(t)
	dir := picturesDir(t)
	lost := openRefused(t, browser, node.URL(), "lost") // there is no cookie yet
	lost.see(shows(".card .hint", "Nobody has an account here yet. Open the link that chatd printed when it started."))

	ana := openAt(t, browser, node.SetupURL(), "ana")
	ana.see(shows(".card h1", "Create the first account"))
	ana.fill("input[name=name]", "Ána Silva")
	ana.see(`document.querySelector("input[name=user]").value === "ana-silva"`)
	ana.signs("", rightWord)
	ana.see(shows(".me-name", "Ána Silva"))
	ana.live()
	ana.picture(dir, "first-empty.png")
	makeGroup(ana, "Weekend trip", "", "private")
	ana.say("Shall we take the early train?")
	ana.click(`button[aria-label="Members"]`)
	ana.picture(dir, "first-members.png")
	ana.click("button[name=invite-people]")
	ana.see(`document.querySelector("input[name=invite]")?.value.includes("#invite=")`)
	ana.picture(dir, "first-invite.png")

	bob := openRefused(t, browser, ask[string](ana, `document.querySelector("input[name=invite]").value`), "bob")
	bob.see(shows(".card h1", "Create an account"))
	bob.see(`document.querySelector(".card .hint").textContent.includes("“Weekend trip”")`)
	bob.picture(dir, "first-invited.png")
	bob.fill("input[name=name]", "Bob")
	bob.signs("", rightWord)
	bob.see(shows(".group-title h2", "Weekend trip"))
	bob.live()
	bob.stands("Shall we take the early train?")
	bob.say("Yes")
	bob.picture(dir, "first-joined.png")
	bob.size(390, 844)
	bob.scheme("dark")
	bob.fits()
	bob.picture(dir, "first-joined-dark-phone.png")
	ana.click(`dialog button[aria-label="Close"]`)
	ana.stands("Yes")
}
