package e2e

import (
	"testing"

	"github.com/chatd/chatd/client"
)

// TestPagePins: who manages a group pins a message from its menu, everybody finds it in the panel, and who may unpins it there.
func TestPagePins(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	node := devNode(t)
	owner := node.Client("alice")
	must(owner.CreateGroup(ctx, client.GroupDraft{ID: "town", Name: "Town", Members: []string{"bob"}}))(t)
	must(node.Client("bob").Send(ctx, "town", client.Text("the door code is 42")))(t)
	browser := startBrowser(t)
	alice, bob := newPerson(t, browser, node, "alice"), newPerson(t, browser, node, "bob")
	alice.open("town")
	bob.open("town")
	item := `[...document.querySelectorAll(".popover [role=menuitem]")].find((b) => b.textContent === "Pin to the group")`
	bob.click(`.group-head button[aria-label="Pinned messages"]`)
	bob.see(shows(".panel .quiet", "Nothing is pinned. Pin a message from its menu."))

	alice.tool(alice.stands("the door code is 42"), "More actions")
	alice.see(item)
	alice.script(`%s.click()`, item)
	bob.see(`document.querySelector(".panel li[data-pin] .note")?.textContent === "the door code is 42"`)
	bob.see(`!document.querySelector(".panel li[data-pin] button")`)
	bob.see(`[...document.querySelectorAll(".messages *")].some((e) => e.textContent.trim() === "alice pinned a message")`)
	bob.picture(picturesDir(t), "pins.png")

	// What changes is shown anew, and where all may pin, all unpin.
	must(node.Client("bob").Send(ctx, "town", client.Draft{Kind: client.KindEdit, Target: 3, Body: "the door code is 43"}))(t)
	bob.see(`document.querySelector(".panel li[data-pin] .note")?.textContent === "the door code is 43"`)
	all := "members"
	must(owner.UpdateGroup(ctx, "town", client.GroupChange{Pins: &all}))(t)
	bob.click(".panel li[data-pin] button")
	bob.see(shows(".panel .quiet", "Nothing is pinned. Pin a message from its menu."))
	if pins, _, err := owner.Pins(ctx, "town", client.Page{}); err != nil || len(pins) != 0 {
		t.Errorf("got %v, %v", pins, err)
	}
}
