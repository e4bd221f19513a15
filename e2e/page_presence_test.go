package e2e

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/chatd/chatd/client"
)

// TestPagePresence: who is online shows at members, in their menu, in the head of a direct conversation, in the list and where one begins,
// how many have a group open in its head; a window that is hidden makes its person away, and who hides is seen by nobody and sees nobody.
func TestPagePresence(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	node := devNode(t)
	owner := node.Client("alice")
	must(owner.CreateGroup(ctx, client.GroupDraft{ID: "town", Name: "Town", Members: []string{"bob", "carl", "anton"}}))(t)
	browser := startBrowser(t)
	alice, bob := newPerson(t, browser, node, "alice"), newPerson(t, browser, node, "bob")
	head := func(p *person, text string) {
		t.Helper()
		p.see(fmt.Sprintf(`document.querySelector(".group-head .group-title p")?.textContent.endsWith(%q)`, text))
	}
	dot := func(user, state string) string {
		return fmt.Sprintf(`document.querySelector(".panel li[data-user=%s] .there[data-state=%s]")`, user, state)
	}

	// How many have it open.
	alice.open("town")
	bob.open("town")
	head(alice, "Private · 4 members · 2 here")
	bob.click(`.rail-link[href="/inbox"]`)
	head(alice, "Private · 4 members")

	// Members: those who are there come first, a view of no group is no absence, a hidden window is.
	alice.click(`.group-head button[aria-label="Members"]`)
	alice.see(dot("bob", "online") + ` && ` + dot("alice", "online"))
	alice.see(`[...document.querySelectorAll(".panel .windowed li")].map((l) => l.dataset.user).join() === "alice,bob,anton,carl"`)
	alice.see(shows(".panel [role=status]", "4 members · 2 online"))
	bob.hidden(true)
	alice.again(dot("bob", "away"))
	alice.see(`document.querySelector(".panel li[data-user=bob] [role=img]").ariaLabel === "Away"`)
	alice.click(`.panel li[data-user=bob] button`)
	alice.see(`/^Away since \S/.test(document.querySelector(".menu [data-there=away]").textContent)`)
	loadAxe(t, alice)
	alice.axe("members")
	alice.picture(picturesDir(t), "presence-members.png")
	bob.hidden(false)
	alice.click(`.panel button[aria-label="Close"]`)
	alice.click(`.group-head button[aria-label="Members"]`)
	alice.again(dot("bob", "online"))

	// The other person of a direct conversation.
	alice.do(chromedp.Navigate(node.URL() + "/dm/bob"))
	alice.see(`document.querySelector(".peer-line[data-state=online]")?.textContent === "Online · bob"`)
	listed := func(state string) string {
		return fmt.Sprintf(`document.querySelector(".group-link .there[data-state=%s]")`, state)
	}
	alice.see(listed("online"))
	bob.hidden(true)
	alice.again(`/^Away since /.test(document.querySelector(".peer-line[data-state=away]")?.textContent)`)
	alice.again(listed("away"))
	alice.size(360, 740)
	alice.fits()
	alice.scheme("dark")
	alice.picture(picturesDir(t), "presence-direct-dark.png")
	alice.scheme("light")
	alice.size(1180, 760)
	bob.hidden(false)
	alice.again(`document.querySelector(".peer-line[data-state=online]")`)

	// Where one begins, who is there of those one writes with; the list and that ask together.
	alice.click(".rail-link[data-view=home]")
	alice.see(`document.querySelector(".online li[data-user=bob] .there[data-state=online]") && document.querySelector(".online").parentElement.querySelector("h2").textContent === "1 person is here"`)
	alice.see(`((home) => home.scrollWidth <= home.clientWidth)(document.querySelector(".home"))`)
	alice.picture(picturesDir(t), "presence-home.png")
	alice.click(".online li[data-user=bob] a")
	alice.see(`document.querySelector(".peer-line[data-state=online]")`)

	// Who hides.
	bob.click(`.rail-link[href="/me"]`)
	bob.see(`document.querySelector("input[name=presence]")?.disabled === false`)
	bob.click("input[name=presence]")
	bob.click("form[name=profile] button.primary")
	bob.see(shows("form[name=profile] .said", "Saved."))
	bob.script(`document.querySelector("input[name=presence]").scrollIntoView()`)
	bob.picture(picturesDir(t), "presence-hide.png")
	alice.again(`document.querySelector(".peer-line[data-state=offline]")?.textContent === "bob"`)
	alice.again(`!document.querySelector(".group-link .there")`)
	bob.open("town")
	bob.click(`.group-head button[aria-label="Members"]`)
	bob.see(shows(".panel [role=status]", "4 members"))
	alice.open("town")
	alice.click(`.group-head button[aria-label="Members"]`)
	alice.see(dot("alice", "online") + ` && !document.querySelector(".panel li[data-user=bob] .there")`)
	bob.see(`!document.querySelector(".panel .there")`)

	// Gone, and seen last.
	carl := newPerson(t, browser, node, "carl")
	alice.again(dot("carl", "online"))
	carl.do(chromedp.Navigate("about:blank"))
	alice.again(`!` + dot("carl", "online"))
	alice.click(`.panel li[data-user=carl] button`)
	alice.see(`/^Last seen (at|a few)/.test(document.querySelector(".menu [data-there=offline]")?.textContent)`)
}

// hidden has a page believe that its window is hidden, or is shown again.
func (p *person) hidden(now bool) {
	p.t.Helper()
	p.script(`Object.defineProperty(document, "visibilityState", { configurable: true, get: () => %q })`, map[bool]string{true: "hidden", false: "visible"}[now])
	p.script(`document.dispatchEvent(new Event("visibilitychange"))`)
}

// again waits for something that the page asks for every half minute: it is shown anew until it is there.
func (p *person) again(expression string) {
	p.t.Helper()
	const look = `(Date.now() - (window.looked ?? 0) > 1000 && document.dispatchEvent(new Event("visibilitychange", void (window.looked = Date.now()))), false)`
	p.see(fmt.Sprintf(`(%s) || %s`, expression, look))
}
