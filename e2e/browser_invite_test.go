package e2e

import (
	"strings"
	"testing"
)

// TestBrowserInvitesTheSecondPerson: the sheet of members has a link that the second person signs in with, and the group opens for
// them once they are added. Copying it needs no permission.
func TestBrowserInvitesTheSecondPerson(t *testing.T) {
	t.Parallel()
	node := devNode(t)
	browser := startBrowser(t)
	alice := newPerson(t, browser, node, "alice")
	makeGroup(alice, "Weekend trip", "", "private")
	alice.click(`button[aria-label="Members"]`)
	link := ask[string](alice, `document.querySelector("dialog input[name=invite]").value`)
	if !strings.HasPrefix(link, node.SignInURL()+"&group=") {
		t.Fatalf("the link is %q, that of the server %q", link, node.SignInURL())
	}
	alice.click("dialog form[name=invite] button")
	alice.see(shows("dialog form[name=invite] small", "Link copied."))
	alice.picture(t.TempDir(), "invite")

	bob := openAt(t, browser, link, "bob")
	bob.fill("input[name=name]", "bob")
	bob.enter()
	bob.see(shows(".me-name", "bob"))
	bob.live()
	if address := ask[string](bob, "location.href"); strings.Contains(address, "code=") {
		t.Errorf("the code stays in the address: %s", address)
	}
	alice.fill("dialog input[name=user]", "bob")
	alice.enter()
	alice.see(`document.querySelector("dialog li[data-user=bob]")`)
	bob.see(shows(".group-title h2", "Weekend trip"))
}
