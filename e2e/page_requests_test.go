package e2e

import (
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/chatd/chatd/client"
)

// TestPageRequests: an owner has people ask to join, they ask from the list of public groups or the group's link, see that it waits,
// and are let in or not by the list of members.
func TestPageRequests(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	node := devNode(t)
	owner := node.Client("alice")
	must(owner.CreateGroup(ctx, client.GroupDraft{ID: "alumni", Name: "Alumni"}))(t)
	browser := startBrowser(t)
	alice, bob := newPerson(t, browser, node, "alice"), newPerson(t, browser, node, "bob")

	// The settings ask it as one question, and a private group becomes one that people ask to join.
	alice.open("alumni")
	alice.click(`.group-head button[aria-label="Group settings"]`)
	alice.click("input[name=visibility][value=ask]")
	alice.picture(picturesDir(t), "join-settings.png")
	alice.click("button[name=save]")
	alice.see(`document.querySelector(".save-bar")?.dataset.changed === "false"`)
	if g := must(owner.Group(ctx, "alumni"))(t); g.Visibility != "public" || g.Join != "ask" {
		t.Errorf("the group is %s, join %s", g.Visibility, g.Join)
	}

	// From the group's link, with a note; it waits, and still does after a reload.
	bob.do(chromedp.Navigate(node.URL() + "/c/alumni"))
	bob.see(shows(".nothing h1", "Alumni"))
	bob.click(".nothing button[name=ask]")
	bob.fill("dialog input[name=note]", "class of 2020")
	bob.picture(picturesDir(t), "ask.png")
	bob.click("dialog form[name=ask] button.primary")
	bob.see(shows(".nothing [role=status]", "Waiting for an answer"))
	bob.do(chromedp.Navigate(node.URL() + "/browse"))
	bob.see(shows("li[data-public=alumni] [role=status]", "Waiting for an answer"))
	bob.picture(picturesDir(t), "asked.png")

	// Declined: the inbox says so, and one may ask again, withdraw, and ask once more.
	alice.click(`.group-head button[aria-label="Members"]`)
	alice.see(shows(".requests li[data-request=bob] .note", "class of 2020"))
	alice.picture(picturesDir(t), "requests.png")
	alice.click(".requests button[name=decline]")
	alice.see(`!document.querySelector(".requests")`)
	bob.click("li[data-public=alumni] button[name=ask]")
	bob.click("dialog form[name=ask] button.primary")
	bob.click("li[data-public=alumni] button[name=unask]")
	bob.click("li[data-public=alumni] button[name=ask]")
	bob.click("dialog form[name=ask] button.primary")
	bob.see(`document.querySelector("li[data-public=alumni] button[name=unask]")`)

	// Accepted: they are in, and the group opens where it stood closed.
	alice.click(`.group-head button[aria-label="Members"]`)
	alice.click(`.group-head button[aria-label="Members"]`)
	alice.click(".requests button[name=accept]")
	alice.see(`!document.querySelector(".requests") && document.querySelector(".panel li[data-user=bob]")`)
	bob.see(shows("li[data-public=alumni] a.button", "Open"))
	bob.click("li[data-public=alumni] a.button")
	bob.say("thank you")
	alice.stands("thank you")

	// One that is listed and closed offers nothing.
	must(owner.CreateGroup(ctx, client.GroupDraft{ID: "board", Name: "Board", Visibility: "public", Join: "closed"}))(t)
	bob.do(chromedp.Navigate(node.URL() + "/c/board"))
	bob.see(shows(".nothing .buttons small", "By invitation"))
}
