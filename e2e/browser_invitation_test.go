package e2e

import (
	"strings"
	"testing"
)

// TestBrowserInvitation: a link made in the sheet of members shows who invites to what, and lets its reader join after signing in; then
// one of the two opens the direct group of both from that sheet.
func TestBrowserInvitation(t *testing.T) {
	t.Parallel()
	node := devNode(t)
	browser := startBrowser(t)
	alice := newPerson(t, browser, node, "alice")
	makeGroup(alice, "Weekend trip", "", "private")
	alice.click(`button[aria-label="Members"]`)
	alice.click(`dialog button[name=invite-people]`)
	alice.see(`document.querySelector("dialog input[name=invite]").value.includes("invite=")`)
	link := ask[string](alice, `document.querySelector("dialog input[name=invite]").value`)
	alice.see(`document.querySelector("dialog svg.qr path")?.getBBox().width > 20`)
	alice.picture(picturesDir(t), "invite-people.png")

	bob := openAt(t, browser, link, "bob")
	bob.see(shows(".sign-in .hint", "alice invites you to “Weekend trip” (1 member)."))
	bob.picture(t.TempDir(), "invited")
	bob.fill("input[name=name]", "bob")
	bob.enter()
	bob.see(shows("dialog .invited", "alice invites you to “Weekend trip” (1 member)."))
	if address := ask[string](bob, "location.href"); strings.Contains(address, "invite=") {
		t.Errorf("the code stays in the address: %s", address)
	}
	bob.click("dialog button[name=join]")
	bob.see(shows(".group-title h2", "Weekend trip"))

	bob.click(`button[aria-label="Members"]`)
	bob.click(`dialog button[aria-label="Message alice"]`)
	bob.see(shows(".group-title h2", "alice"))
	bob.picture(t.TempDir(), "direct")
	bob.click(`button[aria-label="Members"]`)
	bob.see(`document.querySelector("dialog li[data-user=alice]") && !document.querySelector("dialog input[name=user], dialog .sheet-foot")`)
}
